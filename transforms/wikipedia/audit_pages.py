"""Audits a sample of pages: compares the text of each page with the output of another wikitext parser.

The sample depends only on the ids of pages. For a page that is not in the sample, only a hash is computed.

Writes the report of an audit to a folder of the build.

Lists the templates that could not be expanded in the file `unrendered-templates.tsv`.

The most frequent template is first. Only templates in the running text of articles are counted.

Writes `learned-headings.tsv`, a list of the headings of sections without prose, such as "References".

These headings were learned from the articles of the dump. Sections with these headings are dropped from the
corpus. The most frequent heading is first.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import zstandard
from apache_beam.transforms.combiners import TopCombineFn

from ..files import counters
from ..files.distribution import transform
from ..files.markup import to_line
from ..files.records import Article, OutputFile, Page, Rejected
from ..files.text import fingerprint
from ..files.write_files import write_text
from ..wikitext.audit import audit_report
from ..wikitext.audit.holes import NOTHING, AuditedPage, Comparison
from ..wikitext.sections import LearnedHeading
from .clean_wikitext import CallEndedError, CallTimeoutError, TimedCalls, Unrendered

STAGE = "audit-pages"
EMPTY = "empty-after-cleaning"  # the reason of the cleaner for a page without text
MAX_CHARACTERS = 1_000_000  # maximum characters of wikitext; longer pages are not audited
MAX_SECONDS = 60.0  # time limit for one page; most pages take a tenth of a second
_DUMP_BYTES = 20_000  # upper bound of the mean article size in dump files, compressed or not
_SPARE = 4  # number of candidate pages for each requested page
_HASHES = 1 << 63  # number of different hashes; Beam's integers are signed 64-bit
_HIDDEN = (-2, 6, 14)  # namespaces of media, files and categories
_CANONICAL = ("file", "image", "media", "category")


@transform
def AuditPages(
    of_wiki: Mapping[str, beam.PCollection],
    size: int,
    dump_bytes: int,
    namespaces: Mapping[int, Sequence[str]],
) -> beam.PCollection:
    """Audits a sample of pages.

    {"pages": PCollection[Page], "articles": PCollection[Article], "rejected": PCollection[Rejected]} →
    PCollection[AuditedPage]. Of the pages that the cleaner rejected, only those of which no text remained are
    audited, to find the lost text. The others are reported with the reason for the rejection.

    Args:
      size: number of pages in the sample. The pages whose ids have the smallest fingerprints are selected.
      dump_bytes: total size of the dump files. The number of pages is estimated from it. Most pages are
        skipped early, because their hashes are above a bound that depends on the estimate. If the pages of a
        dump are very long, there are fewer than estimated, and the sample may be smaller than `size`.
      namespaces: number → name in this wiki.
    """
    wanted = _SPARE * size * _DUMP_BYTES / max(dump_bytes, 1)
    bound = int(_HASHES * min(wanted, 1.0))
    drawn = {
        name: records | f"Draw {name}" >> beam.FlatMap(draw, bound)
        for name, records in of_wiki.items()
    }
    smallest = (
        drawn["pages"]
        | "Hashes" >> beam.MapTuple(hash_of)
        | "Smallest" >> beam.CombineGlobally(TopCombineFn(size, reverse=True))
        | "Last" >> beam.Map(lambda hashes: max(hashes, default=-1))
    )
    names = (name for number in _HIDDEN for name in namespaces.get(number, ()))
    hidden = frozenset(name.casefold() for name in (*_CANONICAL, *names))
    audit = beam.ParDo(_Audit(hidden), beam.pvalue.AsSingleton(smallest))
    return drawn | "Join" >> beam.CoGroupByKey() | "Audit" >> audit


def hash_of(page_id: int, _: object = None) -> int:
    """Returns the hash of a page id, which determines whether the page is in the sample."""
    return fingerprint(f"audit:{page_id}") >> 1


def draw(
    record: Page | Article | Rejected, bound: int
) -> Iterable[tuple[int, tuple[str, bytes | str]]]:
    """Yields the page of a record if it may be in the sample, that is, if the hash of its id is below
    `bound`.

    The result is (page id, (title, packed text)), or (page id, (title, reason)) for a rejected page. The text
    of a Page is wikitext; that of an Article is the cleaned text.
    """
    if isinstance(record, Rejected):
        if hash_of(int(record.id)) < bound:
            yield int(record.id), (record.title, record.reason)
    elif hash_of(record.page_id) < bound:
        packed = zstandard.ZstdCompressor(level=1).compress(record.text.encode("utf-8"))
        yield record.page_id, (record.title, packed)


@dataclass(eq=False)
class _Audit(beam.DoFn):
    hidden_namespaces: frozenset[str]

    def setup(self) -> None:
        self.calls = TimedCalls(audit_report.audit_page, MAX_SECONDS)

    def teardown(self) -> None:
        self.calls.close()

    def process(
        self,
        joined: tuple[int, Mapping[str, Iterable[tuple[str, Any]]]],
        largest_hash: int,
    ) -> Iterable[AuditedPage]:
        page_id, found = joined
        if hash_of(page_id) > largest_hash:
            return
        for title, packed in found["pages"]:
            wikitext = _unpack(packed)
            texts = [_unpack(one) for _, one in found["articles"]]
            if reasons := [reason for _, reason in found["rejected"] if reason != EMPTY]:
                counters.count(STAGE, reasons[0])
                yield AuditedPage(page_id, title, reasons[0], NOTHING)
                continue
            text = texts[0] if texts else ""
            task = audit_report.AuditTask(wikitext, text, self.hidden_namespaces)
            reason, comparison = self._compare(task)
            counters.count(STAGE, reason or "audited")
            yield AuditedPage(page_id, title, reason, comparison)

    def _compare(self, task: audit_report.AuditTask) -> tuple[str, Comparison]:
        if len(task.wikitext) > MAX_CHARACTERS:
            return "too-long", NOTHING
        try:
            return "", self.calls.call(task)
        except CallTimeoutError:
            return "too-slow", NOTHING
        except CallEndedError:
            return "parser-ended", NOTHING


def _unpack(packed: bytes) -> str:
    return zstandard.ZstdDecompressor().decompress(packed).decode("utf-8")


SUMMARY = "audit/summary.json"
FINDINGS = "audit/findings.tsv"
TEMPLATES = "audit/templates.tsv"
PAGE = "audit/findings.html"


@transform
def WriteAudit(pages: beam.PCollection, folder: str, language: str) -> beam.PCollection:
    """Writes the report of an audit: counts, tables and a readable page.

    PCollection[AuditedPage] → PCollection[OutputFile]. One worker holds the findings of all pages, a few
    kilobytes each.
    """
    return (
        pages.pipeline
        | "Once" >> beam.Create([folder], reshuffle=False)
        | "WriteReport"
        >> beam.FlatMap(write_report, language, beam.pvalue.AsList(pages)).with_output_types(
            OutputFile
        )
    )


def write_report(folder: str, language: str, pages: Iterable[AuditedPage]) -> Iterator[OutputFile]:
    """Writes the files of the report, and yields their descriptions."""
    report = audit_report.AuditReport(pages)
    summary = json.dumps(report.summary(), ensure_ascii=False, indent=2) + "\n"
    yield write_text(folder, SUMMARY, summary, "json")
    tables = (
        (FINDINGS, audit_report.COLUMNS, report.rows()),
        (TEMPLATES, audit_report.TEMPLATE_COLUMNS, report.template_rows()),
    )
    for name, columns, rows in tables:
        lines = [to_line(row) for row in rows]
        yield write_text(folder, name, to_line(columns) + "".join(lines), "tsv", len(lines))
    yield write_text(folder, PAGE, report.html(language), "html")


UNRENDERED_FILE = "unrendered-templates.tsv"
MAX_LISTED = 10_000
HEADER = "uses\tarticles\ttemplate\tleft\tfor example in\n"

# (normalised name of a template, what is in the text in its place)
Key = tuple[str, str]
# (number of uses, number of articles, the title that sorts first by code point)
Tally = tuple[int, int, str]


@transform
def TallyUnrendered(unrendered: beam.PCollection) -> beam.PCollection:
    """Counts the templates that could not be expanded. PCollection[Unrendered] → PCollection[(Key, Tally)].

    A Key is (name of the template, what is in the text in its place: "a hole", "a guess" or "no sentence"). A
    Tally is (number of uses, number of articles, title of an example). Each Key occurs once.
    """
    return (
        unrendered
        | "KeyByName" >> beam.Map(tally_of).with_output_types(tuple[Key, Tally])
        | "AddUp" >> beam.CombinePerKey(add_tallies).with_output_types(tuple[Key, Tally])
    )


@transform
def ListUnrendered(tallies: beam.PCollection, folder: str) -> beam.PCollection:
    """Writes `unrendered-templates.tsv`, a list of the most frequent templates that could not be expanded.

    PCollection[(Key, Tally)] → PCollection[OutputFile]. The list shows which templates should be added to the
    tables of the language.
    """
    return (
        tallies
        | "MostFrequent" >> beam.CombineGlobally(TopCombineFn(MAX_LISTED, key=rank))
        | "WriteList" >> beam.Map(write_unrendered, folder)
    )


def tally_of(unrendered: Unrendered) -> tuple[Key, Tally]:
    """Returns ((name of a template, what is in its place), (uses in one article, 1, title of the article)).

    In place of the template, the text has "a hole" or "a guess", or "no sentence" because the sentence was
    dropped.
    """
    return (unrendered.name, unrendered.left), (unrendered.uses, 1, unrendered.title)


def add_tallies(tallies: Iterable[Tally]) -> Tally:
    """Adds up the counts of a template in several articles. The example title is the one that sorts first."""
    all_uses, all_articles, titles = zip(*tallies, strict=True)
    return sum(all_uses), sum(all_articles), min(titles)


def rank(named: tuple[Key, Tally]) -> tuple[int, int, Key]:
    """Returns the sort key of a template: its number of uses, then its number of articles, then its name.

    `named` is (key of the template, its counts).
    """
    key, (uses, articles, _) = named
    return uses, articles, key


def write_unrendered(most_frequent: Sequence[tuple[Key, Tally]], folder: str) -> OutputFile:
    """Writes `unrendered-templates.tsv` to a folder, with a row for each template.

    Templates of equal frequency are sorted by name.
    """
    rows = sorted((-uses, -articles, *key, title) for key, (uses, articles, title) in most_frequent)
    lines = (to_line((-uses, -articles, *cells)) for uses, articles, *cells in rows)
    written = write_text(folder, UNRENDERED_FILE, HEADER + "".join(lines), kind="tsv")
    return written._replace(records=len(rows))


HEADINGS_FILE = "learned-headings.tsv"
HEADING_COLUMNS = (
    *("heading", "dropped", "sections", "without prose", "with notes", "with sources"),
    *("with links", "with lists", "with templates", "for example in"),
)


def write_headings(headings: Sequence[LearnedHeading], folder: str) -> OutputFile:
    """Writes `learned-headings.tsv` to a folder, with a row for each heading, in the given order."""
    text = "".join(map(to_line, [HEADING_COLUMNS, *map(_cells, headings)]))
    return write_text(folder, HEADINGS_FILE, text, "tsv", len(headings))


def _cells(heading: LearnedHeading) -> tuple[object, ...]:
    counts = heading.counts
    where = "at level 1 and 2" if heading.is_top_only else "at every level"
    kinds = (counts.notes, counts.sources, counts.links, counts.lists, counts.templates)
    share = f"{counts.without_prose:.1%}"
    return heading.name, where, counts.sections, share, *kinds, counts.page
