"""Computes the counts, statistics and dataset card of a Wiki-40B build from its ledger.

Defines the columns of Wiki-40B rows.

These are the columns of the released corpus, and optional columns about the source of the text.

Writes the sections of a Wiki-40B dataset card about people and about licences.
"""

import urllib.parse
from typing import Any, NamedTuple

from ..files.builds.ledger import NOT_LINKED, REJECTED, Accounts, Ledger, NothingLeftError
from ..files.builds.manifest import Provenance
from ..files.builds.paper_figures import WIKI40B, figures_for_card
from ..files.formats import formats_in
from ..files.markup import render
from ..files.records import CorpusStats, PackedArticle, SubwordStats
from ..files.text import SPLITS
from ..wikitext.article_markers import add_stats
from ..wikitext.wikis import code_of
from .screening import NEWER_NOTE, as_finding, check_older, dropped_pages, say_newer
from .wikidata import LINKED_BY, LINKED_FROM

RELEASED = ("wikidata_id", "text", "version_id")
"""The features of TFDS wiki40b 1.3.0."""

FULL = (
    *RELEASED,
    "title",
    "url",
    "page_id",
    "revision_date",
    "license",
    "language",
    "wikidata_classes",
    "words",
)
NUMBERS = ("page_id", "words")
TEXTS = {"markers": (), "plain": ("plain_text",), "markdown": ("markdown",)}
"""Value of the setting `text` → columns added at the end, which contain the article in another form."""

COLUMNS = {"released": RELEASED, "full": FULL}

CC_BY_SA_4_SINCE = "2023-06-07"
"""The day on which Wikimedia's terms of use changed from CC BY-SA 3.0 and GFDL to CC BY-SA 4.0."""

LICENSES = ("cc-by-sa-3.0", "cc-by-sa-4.0")
HUMAN = 5  # the class Q5


def columns_of(columns: str, text: str) -> tuple[str, ...]:
    """Returns the names of a row's columns.

    `columns` is "released" (the columns of the released corpus) or "full" (also the optional columns). `text`
    is "plain" or "markdown" to add a column with the article in this form, or "markers" to add none.
    """
    return (*COLUMNS[columns], *TEXTS[text])


class RowSource(NamedTuple):
    """The wiki and language of a corpus. Computes the values of the optional columns of its rows."""

    language: str  # corpus code, "zh-tw"
    dbname: str  # "zhwiki"

    def url(self, title: str, version_id: str) -> str:
        """Returns the URL of a revision.

        CC BY-SA requires that the authors are named. They are in the history of the page, to which the URL
        leads.
        """
        name = urllib.parse.quote(title.replace(" ", "_"), safe="/:,;@!$*()")
        site = f"https://{code_of(self.dbname)}.wikipedia.org"
        return f"{site}/w/index.php?title={name}&oldid={version_id}"

    def values(self, article: PackedArticle) -> tuple[str | int, ...]:
        """Returns the values of an article for the optional columns, in their order in FULL."""
        return (
            article.title,
            self.url(article.title, article.version_id),
            article.page_id,
            article.revised,
            license_of(article.revised),
            self.language,
            " ".join(f"Q{number}" for number in article.classes),
            article.stats.words,
        )


def license_of(revised: str) -> str:
    """Returns the licence of a revision, such as "cc-by-sa-4.0", or "" if the revision has no known date.

    Args:
      revised: when the revision was saved, "2023-05-01T10:00:00Z"; "" if unknown.
    """
    return LICENSES[revised >= CC_BY_SA_4_SINCE] if revised else ""


MALFORMED = "read-dump"  # stage that rejects malformed pages, which "pages" does not count


def account_for_articles(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of a Wiki-40B build.

    Args:
      ledger: the entries that the stages of the build have written. In addition to the entries of every
        build, it has those listed below.
      provenance: the facts about the build that were known before it ran, such as its settings.

    Raises:
      AccountingError: the counts do not add up.
      NothingLeftError: the dump has no pages.

    Entries of the ledger:
      pages: number of well-formed pages that were read.
      stats: (split, CorpusStats).
      lengths: ((split, length class), number of articles); see ledger.py.
      links: (way, number of pages linked to Wikidata in this way). A way is one of LINKED_BY, such as
        "title". There is no entry if all tables that link pages have the same date as the dump.
      class_unknown: number of articles that are kept although the class of their Wikidata item
        is unknown.
      pinned: (moved, number of articles) for articles that have the same split as in an earlier release.
        `moved` is True if the hash of an article would give another split.
      subwords: one TrainedSubwords, or nothing.
      subword_stats: (split, SubwordStats).
      newer_than: one OlderPages, or nothing.
      people: number of articles about a person; only if the classes of Wikidata items are known.
    """
    stats = _stats(ledger)
    rejected = ledger.rejected
    malformed = sum(n for (stage, _), n in ledger.values(REJECTED) if stage == MALFORMED)
    pages = ledger.number("pages") + malformed
    if not pages:
        raise NothingLeftError(
            ["dump"], "the dump has no pages; is the wiki empty, or is this only a part of a dump?"
        )
    kept = {split: counts["articles"] for split, counts in stats.items()}
    ledger.balance(pages, "pages that were read", kept=kept["total"], rejected=rejected["total"])
    for split in SPLITS:
        ledger.check_files(split, kept[split], "articles", formats_in(provenance.settings))
    pinned = ledger.pairs("pinned")
    sources = provenance.settings.get(LINKED_FROM, [])
    linked = _count_links(ledger) if sources else {}
    subwords = ledger.one("subwords")
    vocabulary = {"sentencepiece": subwords.summary()} if subwords else {}
    lengths = ledger.histograms(kept, SPLITS)
    in_all = {
        split: {**counts, "articles_by_characters": lengths[split]}
        for split, counts in stats.items()
    }
    newer, findings = _newer(ledger, pages)
    beside = WIKI40B.beside_new(provenance, ledger, kept)
    counts = {
        "pages_read": pages,
        "kept": kept,
        "rejected": rejected,
        "class_unknown": ledger.number("class_unknown"),
        "pinned": sum(pinned.values()),
        "pinned_elsewhere": pinned.get(True, 0),
        **({"linked": linked} if linked else {}),
        **({"about_people": ledger.number("people")} if ledger.has("people") else {}),
    }
    return Accounts(
        counts=counts,
        stats=in_all,
        sections=render(
            "wiki40b",
            newer=newer,
            stats=in_all,
            counts=counts,
            settings=provenance.settings,
            sources=sources,
            subwords=vocabulary.get("sentencepiece"),
            paper=figures_for_card(provenance.signature, beside),
            beside=beside,
            since=CC_BY_SA_4_SINCE,
            read=pages,
            unit="pages",
            rejected=rejected,
        ),
        findings={"stats": in_all} | vocabulary | findings,
    )


def _newer(ledger: Ledger, pages: int) -> tuple[str, dict[str, Any]]:
    """Returns the note of the dataset card and the entry of the manifest about pages that are not new.

    A build can be limited to new pages: it drops the pages of an older dump, or pages up to a given page id.
    Returns ("", {}) if the build was not limited in this way.

    Raises NothingLeftError if no page is new.
    """
    if (older := ledger.one("newer_than")) is None:
        return "", {}
    check_older(older)
    dropped = dropped_pages(ledger)
    if dropped == pages:
        raise NothingLeftError((), f"none of the {pages:,} pages is newer than {older}")
    note = f"{say_newer(older, pages, dropped)} {NEWER_NOTE}"
    return note, {"newer_than": as_finding(older, pages, dropped)}


def _stats(ledger: Ledger) -> dict[str, dict[str, int]]:
    """Returns the counts of each split, and their sum under the key "total".

    If the build has a subword vocabulary, the counts include the number of its pieces.
    """
    per_split = ledger.per_split("stats", SPLITS, CorpusStats())
    stats = {split: counts._asdict() for split, counts in per_split.items()}
    stats["total"] = add_stats(per_split.values())._asdict()
    if (subwords := ledger.one("subwords")) and subwords.model:
        in_pieces = ledger.per_split("subword_stats", SPLITS, SubwordStats())
        for split, counts in in_pieces.items():
            counted = {"characters counted in pieces": counts.characters}
            ledger.balance(stats[split]["characters"], f"characters of {split}", **counted)
            stats[split] |= counts._asdict()
        total = SubwordStats(*map(sum, zip(*in_pieces.values(), strict=True)))
        stats["total"] |= total._asdict()
    return stats


def _count_links(ledger: Ledger) -> dict[str, int]:
    """Counts pages by the way in which they were linked to their Wikidata items.

    Returns name of the way → number of pages. The key "not_linked" is for pages that could not be linked.
    """
    counts = ledger.pairs("links")
    by = {name.replace(" ", "_"): counts.get(name, 0) for name in LINKED_BY if name}
    exact = {"same_date": counts[""]} if "" in counts else {}
    return exact | by | {"not_linked": ledger.rejected.get(NOT_LINKED, 0)}
