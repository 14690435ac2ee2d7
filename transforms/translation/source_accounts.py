"""Describes the older texts that were excluded from each domain of a benchmark.

The descriptions are for the dataset card and the manifest of the benchmark.

Lists the licences of texts, and maps them to the ids of licences on the Hugging Face hub.

Computes the counts, statistics and dataset card of a build of FLORES-101 source sentences.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..files.builds.ledger import REJECTED, AccountingError, Accounts, Ledger, NothingLeftError
from ..files.builds.manifest import Description, Provenance
from ..files.builds.paper_figures import FLORES101
from ..files.formats import PARQUET, file_pattern, formats_in
from ..files.line_blocks import count_by_words, histogram
from ..files.markup import render
from ..files.records import DOMAINS, SPLITS, TOPICS, SourceSentence
from ..wikipedia import screening
from .passages import SENTENCES, SPLIT_SENTENCES
from .selection import Selection

DROP_DOCUMENTS = "drop-older-documents"  # stage that drops documents that are not new


class NewerDocuments(NamedTuple):
    """The dates of the first and the last document of a domain, after older documents were dropped."""

    newer_than: str  # documents of this day or earlier are dropped; "" if none are dropped
    first_day: str  # "2026-05-04"; "" if no document is left
    last_day: str


def describe_newer(
    ledger: Ledger, read: Mapping[str, int]
) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Describes the older texts that were excluded from each domain.

    Returns the lines for the dataset card, and domain → its entry in the manifest. Both are empty if no
    domain is limited to newer texts.

    Args:
      ledger: the ledger of the build. It has an entry (domain, OlderPages or NewerDocuments) under
        "newer_than" for each domain that is limited to newer texts.
      read: domain → number of pages or documents read.

    Raises:
      NothingLeftError: the dump given as older is not older than the dump from which the build is made.
    """
    known = ledger.pairs("newer_than")
    lines, findings, note = [], {}, []
    for domain in (name for name in read if name in known):
        newer = known[domain]
        if isinstance(newer, screening.OlderPages):
            screening.check_older(newer)
            dropped = screening.dropped_pages(ledger, f"{domain}/")
            said = screening.say_newer(newer, read[domain], dropped)
            note = ["", screening.NEWER_NOTE]
            findings[domain] = screening.as_finding(newer, read[domain], dropped)
        else:
            stage = f"{domain}/{DROP_DOCUMENTS}"
            dropped = sum(count for (its, _), count in ledger.values(REJECTED) if its == stage)
            said = _say_documents(newer, read[domain], dropped)
            findings[domain] = newer._asdict()
        lines.append(f"- {domain}: {said}")
    return [*lines, *note], findings


def _say_documents(newer: NewerDocuments, read: int, dropped: int) -> str:
    days = f"of {newer.first_day} to {newer.last_day}" if newer.first_day else "none"
    if not newer.newer_than:
        return f"Documents {days}."
    later = f"{read - dropped:,} of {read:,} documents read are later"
    return f"All documents are later than {newer.newer_than}: {later}, {days}."


SITES = {site: "CC BY" if site == "wikinews" else "CC BY-SA 4.0" for site in DOMAINS}
"""Site → licence of its pages. Wikinews changed from CC BY 2.5 to 4.0; dumps do not show which applies."""

OTHER = "other"
_HUB = frozenset(
    f"cc-by{kind}"
    for kind in (
        *("-2.0", "-2.5", "-3.0", "-4.0", "-sa-3.0", "-sa-4.0", "-nd-4.0", "-nc-2.0", "-nc-3.0"),
        *("-nc-4.0", "-nc-nd-3.0", "-nc-nd-4.0", "-nc-sa-2.0", "-nc-sa-3.0", "-nc-sa-4.0"),
    )
)
_ADDRESS = re.compile(
    r"https?://creativecommons\.org/(licenses|publicdomain)/([a-z-]+)/([0-9.]+).*"
)
_CC0 = re.compile(r"cc-?(?:0|zero)(?:-1\.0)?")


def hub_license(licence: str) -> str:
    """Returns the id of a licence on the Hugging Face hub: "cc-by-sa-4.0" for "CC BY-SA 4.0".

    Returns "other" if the hub has no id for the licence.
    """
    name = licence.strip().casefold()
    if address := _ADDRESS.fullmatch(name):
        kind = "" if address[2] == "zero" else f"-{address[2]}"
        name = f"cc{kind}-{address[3]}" if kind else "cc0-1.0"
    name = re.sub(r"[\s_-]+", "-", name)
    if _CC0.fullmatch(name):
        return "cc0-1.0"
    if name == "cc-by":
        return "cc"  # the id of all Creative Commons licences, because the version is unknown
    return name if name in _HUB else OTHER


def hub_licenses(sentences: Sequence[SourceSentence]) -> str | list[str]:
    """Returns the ids of the sentences' licences on the Hugging Face hub.

    Returns a sorted list if there are several ids, a string if there is one, or "" if there is none.
    """
    found = sorted({hub_license(one.licence) for one in sentences if one.licence})
    return found[0] if len(found) == 1 else found or ""


def count_licences(sentences: Sequence[SourceSentence]) -> list[tuple[str, int]]:
    """Returns (licence, number of its sentences), the most frequent first; [] if no licence is known.

    Signs with a meaning in Markdown are escaped.
    """
    counts = Counter(one.licence for one in sentences)
    rows = sorted(counts.items(), key=lambda one: (-one[1], one[0])) if any(counts) else []
    return [(re.sub(r"([\\|<>`*_\[\]])", r"\\\1", licence), count) for licence, count in rows]


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


def describe_documents(sites: Sequence[str], documents: Sequence[str]) -> Description:
    """Returns the description of a build that was made from Wikimedia sites and the user's documents.

    Args:
      sites: names of the sites, such as "wikinews".
      documents: names of the domains of the user's documents.
    """
    of_sites = [f"English Wikimedia sites ({', '.join(sites)})"] if sites else []
    sources = " and ".join([*of_sites, f"documents ({', '.join(documents)})"])
    return DESCRIPTION._replace(about=_WITH_DOCUMENTS.format(sources=sources))


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
        ledger.check_files(
            split, kept[split], "sentences", formats_in(provenance.settings, PARQUET)
        )
    return Accounts(
        counts={
            "pages_read": sum(pages.values()),
            "kept": kept,
            "rejected": rejected,
            "not_drawn": sum(account["not_drawn"] for account in domains.values()),
        },
        stats=stats,
        sections=render(
            "flores101",
            newer=newer,
            files=", ".join(
                f"`{file_pattern(one, provenance.corpus, split)}`"
                for one in formats_in(provenance.settings, PARQUET)
                for split in SPLITS
            ),
            licences=count_licences(selection.sentences),
            stats=stats,
            paper={**SPLIT_SENTENCES, "total": SENTENCES},
            beside=FLORES101.beside_new(provenance, ledger, kept),
            rejected=rejected,
        ),
        findings={"stats": stats} | ({"newer_than": findings} if findings else {}),
        caveats=tuple(f"Fewer than asked for: {shortage}." for shortage in stats["shortages"]),
        license_id=hub_licenses(selection.sentences),
    )


def _account_for(domain: str, ledger: Ledger, selection: Selection) -> dict[str, int]:
    """Returns the counts of the pages or documents of one domain: name of the count → count.

    Each page that was read is rejected, not drawn (it has a passage, but is not needed), or a selected
    article. So `pages` is the sum of `rejected`, `not_drawn` and `articles`. Copies of other articles are
    counted as not drawn, and pages that repeat a sentence of another article as rejected.
    """
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
    ledger.balance(pages, f"pages of {domain} that were read", **parts)
    return {"pages": pages, **parts, "sentences": len(taken)}


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


def _make_stats(selection: Selection, domains: Mapping[str, dict[str, int]]) -> dict[str, Any]:
    """Returns the statistics of a build: counts per split and domain, and other figures.

    The other figures are those that table 3 of Goyal et al. 2022 gives for FLORES-101.

    Args:
      selection: the selected sentences.
      domains: domain → the counts of its pages or documents.
    """
    sentences = selection.sentences
    topics = Counter(one.topic for one in sentences)
    words = [len(one.text.split()) for one in sentences]
    return {
        **{split: measure([one for one in sentences if one.split == split]) for split in SPLITS},
        "total": measure(sentences),
        "domains": dict(domains),
        "topics": {topic: topics[topic] for topic in (*TOPICS, *sorted(topics.keys() - TOPICS))},
        "articles_by_sentences": {str(length): n for length, n in selection.lengths.items()},
        "sentences_by_words": histogram(count_by_words(words)),
        "shortages": list(map(str, selection.shortages)),
    }
