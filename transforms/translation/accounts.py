"""Computes the counts, statistics and dataset card of a build of FLORES-101 source sentences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.files.builds.build_manifest import Description, Provenance
from corpusmill.transforms.files.builds.ledger import (
    REJECTED,
    AccountingError,
    Accounts,
    Ledger,
    NothingLeftError,
    balance,
)
from corpusmill.transforms.files.builds.paper_settings import say_why_not, why_not_paper
from corpusmill.transforms.files.line_stats import count_by_words, histogram
from corpusmill.transforms.files.markdown import make_table
from corpusmill.transforms.files.translation_records import DOMAINS, SPLITS, TOPICS, SourceSentence
from corpusmill.transforms.translation.licences import hub_licenses, list_licences
from corpusmill.transforms.translation.newer import describe_newer
from corpusmill.transforms.translation.quotas import SENTENCES, SPLIT_SENTENCES
from corpusmill.transforms.translation.selection import Selection

_WITH_DOCUMENTS = (
    "Sentences of {sources}, drawn with corpusmill after Goyal et al., TACL 2022 (FLORES-101), section 3.1."
    " The text is by the authors of the pages and documents, under the licences below."
)
CITATION = (
    "@article{goyal-etal-2022-flores,\n"
    "  title = {The Flores-101 Evaluation Benchmark for Low-Resource and Multilingual Machine Translation},\n"
    "  author = {Goyal, Naman and Gao, Cynthia and Chaudhary, Vishrav and Chen, Peng-Jen and Wenzek,"
    " Guillaume and Ju, Da and Krishnan, Sanjana and Ranzato, Marc'Aurelio and Guzm{\\'a}n, Francisco and"
    " Fan, Angela},\n"
    "  journal = {TACL},\n  volume = {10},\n  year = {2022}\n}"
)
DESCRIPTION = Description(
    title="Source sentences of a translation benchmark",
    about=(
        "Sentences of English Wikimedia sites, drawn with corpusmill after Goyal et al., TACL 2022"
        " (FLORES-101), section 3.1. The text is by the authors of the pages: CC BY-SA, of Wikinews CC BY."
    ),
    citation=CITATION,
    license_id="cc-by-sa-4.0",
    splits=SPLITS,
    tags=("wikimedia",),
    tasks=("translation",),
)
_PAPER_SENTENCES = {**SPLIT_SENTENCES, "total": SENTENCES}
_FILES = """\
| file | what |
|---|---|
| `source.tsv` | all sentences in order, the input of a translation project |
| `dev-*.parquet`, `devtest-*.parquet`, `test-*.parquet` | the same sentences by split |
| `rejected/` | pages without a selected passage, and the reasons |

Articles are not divided between splits. `has_image`: the article shows a picture; `has_hyperlink`: the
sentence links to another page. The sentences of `test` are not for release.
"""


def describe_documents(sites: Sequence[str], documents: Sequence[str]) -> Description:
    """Returns the description of a build that was made from Wikimedia sites and the user's documents.

    Args:
      sites: names of the sites, such as "wikinews".
      documents: names of the domains of the user's documents.
    """
    of_sites = [f"English Wikimedia sites ({', '.join(sites)})"] if sites else []
    sources = " and ".join([*of_sites, f"documents ({', '.join(documents)})"])
    return DESCRIPTION._replace(about=_WITH_DOCUMENTS.format(sources=sources))


class DomainAccount(NamedTuple):
    """Counts of the pages or documents of one domain.

    Each page that was read is rejected, not drawn (it has a passage, but is not needed), or a selected
    article. So `pages` is the sum of `rejected`, `not_drawn` and `articles`.
    """

    pages: int  # pages read
    rejected: int  # pages that are not an article, have no passage, or repeat a sentence of another article
    not_drawn: int  # pages with a passage that are not needed; includes copies of other articles
    articles: int  # pages with selected sentences
    sentences: int


def account_for_source(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of a build of source sentences.

    Raises AccountingError if the counts of a domain's pages do not add up, and NothingLeftError if no
    sentence was selected.

    In the ledger, the domain is written before the name of the stage that rejected a page, as in
    "wikinews/find-passages". In addition to the entries of every build, the ledger has:
      pages: (domain, number of pages that were read).
      candidates: (domain, number of pages with a passage).
      selection: one Selection.
      newer_than: (domain, OlderPages or NewerDocuments), only for domains that are limited to newer texts.

    `provenance` has the facts about the build that were known before it ran, such as its settings.
    """
    pages, selection = ledger.pairs("pages"), ledger.one("selection")
    names = sorted(pages, key=lambda name: (DOMAINS.index(name) if name in DOMAINS else 9, name))
    newer, findings = describe_newer(ledger, {name: pages[name] for name in names})
    if not selection.sentences:
        raise NothingLeftError(names, f"found no usable passage in {sum(pages.values()):,} pages")
    domains = {domain: _account_for(domain, ledger, selection) for domain in names}
    stats = _make_stats(selection, domains)
    rejected = ledger.rejected
    kept = {split: stats[split]["sentences"] for split in (*SPLITS, "total")}
    for split in SPLITS:
        ledger.check_files(split, kept[split], "sentences", ["parquet"])
    return Accounts(
        counts={
            "pages_read": sum(pages.values()),
            "kept": kept,
            "rejected": rejected,
            "not_drawn": sum(account.not_drawn for account in domains.values()),
        },
        stats=stats,
        sections=[
            *newer,
            *list_licences(selection.sentences),
            *_make_sections(stats, rejected, why_not_paper(provenance.signature)),
        ],
        findings={"stats": stats} | ({"newer_than": findings} if findings else {}),
        caveats=tuple(f"Fewer than asked for: {shortage}." for shortage in stats["shortages"]),
        license_id=hub_licenses(selection.sentences),
    )


def _account_for(domain: str, ledger: Ledger, selection: Selection) -> DomainAccount:
    pages, candidates = ledger.pairs("pages")[domain], ledger.pairs("candidates").get(domain, 0)
    rejections = ledger.values(REJECTED)
    rejected = sum(count for (stage, _), count in rejections if stage.startswith(f"{domain}/"))
    taken = [one for one in selection.sentences if one.domain == domain]
    articles = len({one.article for one in taken})
    duplicates = sum(one.id.startswith(f"{domain}:") for one in selection.duplicates)
    not_drawn = candidates - duplicates - articles
    if not_drawn < 0:
        raise AccountingError(
            f"{domain}: the counts do not add up: {-not_drawn} more articles than pages with a passage"
        )
    parts = {"rejected": rejected, "not_drawn": not_drawn, "articles": articles}
    balance(pages, f"pages of {domain} that were read", **parts)
    return DomainAccount(pages, **parts, sentences=len(taken))


def measure(sentences: Sequence[SourceSentence]) -> dict[str, int]:
    """Returns the numbers of sentences, articles, words and characters: name of the count → count.

    Words are separated by white space; characters are code points. The sentences with an image in their
    article and the sentences with a hyperlink are also counted.
    """
    return {
        "sentences": len(sentences),
        "articles": len({one.article for one in sentences}),
        "words": sum(len(one.text.split()) for one in sentences),
        "characters": sum(len(one.text) for one in sentences),
        "with_image": sum(one.has_image for one in sentences),
        "with_hyperlink": sum(one.has_hyperlink for one in sentences),
    }


def _make_stats(selection: Selection, domains: Mapping[str, DomainAccount]) -> dict[str, Any]:
    """Returns the statistics of a build: counts per split and domain, and other figures.

    The other figures are those that table 3 of Goyal et al. 2022 gives for FLORES-101.

    Args:
      selection: the selected sentences.
      domains: domain → the counts of its pages or documents.
    """
    sentences = selection.sentences
    topics = Counter(one.topic for one in sentences)
    return {
        **{split: measure([one for one in sentences if one.split == split]) for split in SPLITS},
        "total": measure(sentences),
        "domains": {domain: account._asdict() for domain, account in domains.items()},
        "topics": {topic: topics[topic] for topic in (*TOPICS, *sorted(topics.keys() - TOPICS))},
        "articles_by_sentences": {
            str(length): articles for length, articles in selection.lengths.items()
        },
        "sentences_by_words": histogram(
            count_by_words([len(one.text.split()) for one in sentences])
        ),
        "shortages": [str(shortage) for shortage in selection.shortages],
    }


def _make_sections(
    stats: Mapping[str, Any], rejected: Mapping[str, int], why_not: str
) -> list[str]:
    return [
        *make_table(
            ["split", *(name.replace("_", " ") for name in stats["total"]), "paper: sentences"],
            (
                [split, *stats[split].values(), "–" if why_not else _PAPER_SENTENCES[split]]
                for split in (*SPLITS, "total")
            ),
        ),
        *say_why_not(why_not),
        "",
        _FILES,
        "## Pages",
        "",
        *make_table(["domain", *_names(stats)], _accounts(stats["domains"])),
        "",
        "rejected + not drawn + articles = pages. Rejected pages by reason:",
        "",
        *make_table(["reason", "pages"], rejected.items()),
        "",
        "## Topics",
        "",
        *make_table(["topic", "sentences"], stats["topics"].items()),
    ]


def _names(stats: Mapping[str, Any]) -> Sequence[str]:
    first = next(iter(stats["domains"].values()))
    return [name.replace("_", " ") for name in first]


def _accounts(domains: Mapping[str, Mapping[str, int]]) -> Iterator[list[str | int]]:
    for domain, account in domains.items():
        yield [domain, *account.values()]
    columns = zip(*(account.values() for account in domains.values()), strict=True)
    yield ["total", *map(sum, columns)]
