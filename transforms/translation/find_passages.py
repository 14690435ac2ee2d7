"""Finds candidates for a translation benchmark in the dumps of sites and in documents of the user, selects
sentences, and writes them to source.tsv and to Parquet files.
"""

import operator
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.pvalue import AsSingleton, TaggedOutput

from ..files import counters
from ..files.compression import DECODE_ERRORS, check_on_corrupt
from ..files.counters import Screened, ScreenPages, reject
from ..files.distribution import MapOnce, SpreadAll, transform
from ..files.formats import PARQUET
from ..files.markup import read_table
from ..files.read_files import InputError, open_input, read_text
from ..files.records import (
    SPLITS,
    TOPICS,
    OutputFile,
    Page,
    ReadError,
    Reason,
    Rejected,
    SourceSentence,
)
from ..files.text import Shard
from ..files.write_files import mark, write_text
from ..files.write_rows import encode_batch, row_files, write_files
from ..wikipedia.clean_wikitext import ReadTemplates
from ..wikipedia.drop_older_pages import DropOlderPages, OlderDump
from ..wikipedia.mediawiki_xml import Siteinfo
from ..wikipedia.read_dumps import ReadDump
from ..wikipedia.sites import Site, categories_of
from ..wikitext.clean import UncleanableError, WikitextCleaner
from ..wikitext.language import TEMPLATE_NAMESPACE
from ..wikitext.link_marks import clean_with_links
from ..wikitext.templates.definitions import NO_TEMPLATES, WikiTemplates
from . import selection
from .passages import Cell, Paragraph, Quota, articles_of
from .selection import Candidate, Document, Selection, candidates_needed, lowest_of_copies, select
from .sentence_rules import topic_of
from .source_accounts import DROP_DOCUMENTS, NewerDocuments
from .source_table import LICENCE, NAME, columns_of, write_source


@transform
def FindPassages(
    pages: beam.PCollection,
    site: Site,
    namespaces: Mapping[int, Sequence[str]],
    seed: int,
    templates: beam.PCollection,
    licence: str = "",
) -> Screened:
    """Finds a passage in each page. PCollection[Page] → Screened, whose kept elements are Candidates.

    Pages without a passage are rejected.

    Args:
      site: the wiki. Pages are cleaned, and their topics are determined, by its rules.
      namespaces: number → names of the namespace in this wiki, from the head of the dump.
      seed: seed of all random choices. The choices for a page also depend on the wiki and on the page id.
      templates: side input with one WikiTemplates.
      licence: licence of the pages; "" to leave it out.
    """
    find_in = _Find(site, namespaces, seed, licence)
    find = beam.ParDo(find_in, AsSingleton(templates))
    found = pages | find.with_output_types(Candidate).with_outputs("rejected", main="kept")
    return Screened(found.kept, found.rejected)


@dataclass(eq=False, repr=False)
class _Find(beam.DoFn):
    site: Site
    namespaces: Mapping[int, Sequence[str]]
    seed: int
    licence: str

    def setup(self) -> None:
        self.of_wiki: WikiTemplates | None = None

    def process(self, page: Page, of_wiki: WikiTemplates = NO_TEMPLATES) -> Iterable[Any]:
        if of_wiki is not self.of_wiki:  # a new Beam bundle may pass a new object
            self.of_wiki = of_wiki
            self.cleaner = self.site.cleaner(self.namespaces, of_wiki)
        found = candidate_of_page(page, self.site, self.cleaner, self.seed)
        if isinstance(found, Reason):
            yield reject(page.page_id, page.title, FIND, found)
            return
        counters.count(FIND, "candidates")
        yield found._replace(licence=self.licence)


def candidate_of_page(
    page: Page, site: Site, cleaner: WikitextCleaner, seed: int
) -> Candidate | Reason:
    """Returns a passage of a page with the page's metadata, or the reason why there is no passage.

    Args:
      page: the page.
      site: the wiki that contains the page.
      cleaner: converts the wikitext of the page to plain text.
      seed: seed of all random choices. They also depend on the wiki and on the page id.
    """
    try:
        linked = clean_with_links(cleaner, page.text, page.title)
    except UncleanableError as error:
        return Reason(error.reason, str(error))
    found = linked.page
    if not found.sections:
        return Reason("empty-after-cleaning")
    # Such a text has gaps or unverified statements at unknown places.
    unknown = found.unrendered.keys() | found.guessed.keys() | found.unknown.keys()
    if unknown:
        return Reason("unrendered-template", ", ".join(sorted(unknown)))
    sections = zip(found.sections, linked.links, strict=True)
    paragraphs = [
        Paragraph(text, links)
        for section, of_section in sections
        for text, links in zip(section.paragraphs, of_section, strict=True)
    ]
    return selection.with_passage(
        paragraphs,
        seed,
        domain=site.name,
        page_id=page.page_id,
        title=page.title,
        url=site.url_of(page.title),
        topic=topic_of(site.name, page.title, categories_of(page.text)),
        has_image=site.has_image(page.text),
    )


def read_topics(paths: Iterable[str]) -> dict[str, str]:
    """Reads tables with the columns `url` and `topic`. Returns URL of an article → its topic.

    Other columns are ignored, so an edited source.tsv can be used. Raises InputError for a file without these
    columns, for an unknown topic, and for an article with two different topics.
    """
    topics: dict[str, str] = {}
    for path in paths:
        text = read_text(path)
        try:
            for line, row in read_table(text, ("url", "topic")):
                url, topic = row["url"].strip(), row["topic"].strip().casefold()
                if topic not in TOPICS:
                    known = ", ".join(TOPICS)
                    raise ReadError(line, f"unknown topic {topic!r}; expected one of {known}")
                if topics.setdefault(url, topic) != topic:
                    message = f"{url} has the topic {topic}, but an earlier line has {topics[url]}"
                    raise ReadError(line, message)
        except ReadError as error:
            raise InputError(path, str(error)) from None
    return topics


class SourceDump(NamedTuple):
    """The dump of a site, with the settings for reading it."""

    site: Site
    paths: Sequence[str]
    head: Siteinfo
    older: OlderDump | None = None  # an older dump, whose pages are dropped; None to keep all pages
    licence: str = ""  # licence of the pages; "" to leave it out


class Sourced(NamedTuple):
    """The outputs of SourcePassages and SourceDocuments.

    Each page or document that was read becomes a candidate or is rejected.
    """

    pages: beam.PCollection  # of (domain, pages read), one for each dump
    candidates: beam.PCollection  # of Candidate
    rejected: beam.PCollection  # of Rejected; id and stage are prefixed with the domain
    lost: beam.PCollection  # of LostBytes
    newer: beam.PCollection  # of (domain, OlderPages or NewerDocuments), at most one element


@transform
def SourcePassages(
    root: beam.Pipeline, dump: SourceDump, seed: int, stripes: int = 1, on_corrupt: str = "fail"
) -> Sourced:
    """Reads, screens and cleans the pages of a dump, and finds a passage in each. Pipeline → Sourced.

    Args:
      dump: the dump, with the settings for reading it.
      seed: seed of all random choices.
      stripes: number of workers that divide the work on a file which cannot be split, such as a .gz. Each of
        them decompresses the whole file, but processes only its share of the pages.
      on_corrupt: "fail" raises InputError at the first damage; "keep-good" skips and reports damaged parts.
    """
    site, paths, head, older, licence = dump
    # If an older dump is given, every page counts as old or new.
    namespaces = None if older else (*site.namespaces, TEMPLATE_NAMESPACE)
    read = root | "ReadDump" >> ReadDump(paths, stripes, on_corrupt, namespaces)
    own = read.pages | "ReadTemplates" >> ReadTemplates(site.language, head.namespaces, site.dbname)
    newer = read.pages | "DropOlderPages" >> DropOlderPages(older, stripes)
    articles = newer.kept | "ScreenPages" >> ScreenPages(site.reason_to_reject)
    found = articles.kept | "FindPassages" >> FindPassages(
        site, head.namespaces, seed, own.templates, licence
    )
    rejected = tuple(one.rejected for one in (read, newer, articles, found)) | beam.Flatten()
    every = (read.pages, read.rejected) | "Read" >> beam.Flatten()
    return Sourced(
        pages=every
        | "CountPages" >> beam.combiners.Count.Globally()
        | "OfDomain" >> beam.WithKeys(site.name),
        candidates=found.kept,
        rejected=rejected | "NameDomain" >> beam.Map(name_domain, site.name),
        lost=read.lost,
        newer=newer.older | "OlderOfDomain" >> beam.WithKeys(site.name),
    )


def name_domain(rejected: Rejected, domain: str) -> Rejected:
    """Returns the rejection with the domain as prefix of its id and of its stage.

    Examples are the id "wikinews:4711" and the stage "wikinews/find-passages".
    """
    return rejected._replace(id=f"{domain}:{rejected.id}", stage=f"{domain}/{rejected.stage}")


def flatten(sourced: Sequence[Sourced]) -> Sourced:
    """Merges the outputs of SourcePassages for all dumps into one."""
    columns = zip(Sourced._fields, zip(*sourced, strict=True), strict=True)
    return Sourced(*(parts | f"All {name}" >> beam.Flatten() for name, parts in columns))


READ, FIND = "read-documents", "find-passages"  # names of stages
_BOM = b"\xef\xbb\xbf"

Place = tuple[str, int, str]
"""The position of a document: (name of the file, number of the line, path of the file)."""


class DocumentFiles(NamedTuple):
    """The files that contain the documents of a domain."""

    domain: str  # "news"
    paths: Sequence[str]
    newer_than: str = ""  # documents of this day or earlier are dropped; "" to keep all


@transform
def SourceDocuments(
    root: beam.Pipeline, files: DocumentFiles, seed: int, on_corrupt: str = "fail"
) -> Sourced:
    """Reads and checks documents, and finds a passage in each. Pipeline → Sourced.

    Each file is read by one worker. Only ids, positions and passages of documents are shuffled.

    Args:
      seed: seed of all random choices.
      on_corrupt: "fail" raises InputError at a malformed line or a repeated id; "keep-good" rejects malformed
        lines, and all documents with the same id except the first.
    """
    check_on_corrupt(on_corrupt)
    domain, paths, newer_than = files
    read = (
        root
        | "SpreadFiles" >> SpreadAll(paths, of=str)
        | "ReadDocuments"
        >> beam.FlatMap(read_documents, on_corrupt).with_outputs("rejected", main="documents")
    )
    found = read.documents | "FindPassages" >> beam.FlatMap(
        find_passage, domain, seed, newer_than
    ).with_outputs("rejected", "days", main="candidates")
    place_of = beam.MapTuple(lambda place, document: (document.id, place))
    places = read.documents | "Places" >> place_of.with_output_types(tuple[str, Place])
    once = (
        {"places": places, "candidates": found.candidates}
        | "JoinIds" >> beam.CoGroupByKey()
        | "TakeFirst"
        >> beam.FlatMap(take_first, on_corrupt).with_outputs("rejected", main="candidates")
    )
    rejected = (read.rejected, found.rejected, once.rejected) | "Rejected" >> beam.Flatten()
    documents = (read.documents, read.rejected) | "Read" >> beam.Flatten()
    days = found.days | "Days" >> beam.CombineGlobally(first_and_last)
    return Sourced(
        pages=documents
        | "CountDocuments" >> beam.combiners.Count.Globally()
        | "OfDomain" >> beam.WithKeys(domain),
        candidates=once.candidates,
        rejected=rejected | "NameDomain" >> beam.Map(name_domain, domain),
        lost=root | "NoneLost" >> beam.Create([]),
        newer=root | "Describe" >> MapOnce(describe, domain, newer_than, AsSingleton(days)),
    )


def read_documents(path: str, on_corrupt: str) -> Iterator[Any]:
    """Yields (position, Document) for each valid line of a file.

    Other lines are rejected or raise InputError, depending on `on_corrupt`.
    """
    name = posixpath.basename(path)
    with open_input(path) as stream:
        for number, line in _read_lines(path, stream):
            try:
                if len(line) > selection.MAX_LINE_BYTES:
                    raise ValueError(f"the line has more than {selection.MAX_LINE_BYTES:,} bytes")
                yield (name, number, path), selection.parse_document(line)
                counters.count(READ, "documents")
            except ValueError as error:
                if on_corrupt == "fail":
                    raise InputError(path, f"line {number}: {error}") from None
                reason = Reason("malformed-document", str(error))
                yield reject(f"{name}, line {number}", "", READ, reason)


def _read_lines(path: str, stream: Any) -> Iterator[tuple[int, bytes]]:
    """Yields (number, line) for each line that is not empty.

    Of a line that is longer than MAX_LINE_BYTES, only the first MAX_LINE_BYTES + 2 bytes are yielded.
    """
    number, is_rest = 1, False
    while True:
        try:
            line = stream.readline(selection.MAX_LINE_BYTES + 2)
        except DECODE_ERRORS as error:
            raise InputError(path, f"line {number}: damaged or truncated: {error}") from None
        if not line:
            return
        content = line.removeprefix(_BOM if number == 1 else b"").rstrip(b"\r\n")
        if content.strip() and not is_rest:
            yield number, content
        is_rest = not line.endswith(b"\n")
        number += not is_rest


def find_passage(
    placed: tuple[Place, Document], domain: str, seed: int, newer_than: str
) -> Iterator[Any]:
    """Finds a passage in a document. Yields (id, (position, Candidate)).

    If the document is too old or has no passage, yields a rejection on the output "rejected" instead. The
    date of a document that is not too old is yielded on the output "days".

    Args:
      placed: (position of the document, document).
      domain: domain of the document, such as "news".
      seed: seed of all random choices.
      newer_than: documents of this day or earlier are too old; "" to keep all.
    """
    place, document = placed
    if document.date <= newer_than:
        reason = Reason("older-document", document.date)
        yield reject(document.id, document.title, DROP_DOCUMENTS, reason)
        return
    yield TaggedOutput("days", (document.date, document.date))
    found = selection.find_candidate(document, domain, seed)
    if isinstance(found, Reason):
        yield reject(document.id, document.title, FIND, found)
        return
    counters.count(FIND, "candidates")
    yield document.id, (place, found)


def take_first(found: tuple[str, dict[str, Iterable[Any]]], on_corrupt: str) -> Iterator[Any]:
    """Yields the Candidate of the first document with a given id, if that document has a passage.

    Further documents with this id are rejected or raise InputError, depending on `on_corrupt`. `found` is
    (id, {"places": positions of the documents, "candidates": their candidates}), as produced by CoGroupByKey.
    """
    name, parts = found
    first, *others = sorted(parts["places"])
    if others and on_corrupt == "fail":
        _, line, path = others[0]
        raise InputError(
            path, f"line {line}: the id {name!r} is already used in {first[0]}, line {first[1]}"
        )
    for place, candidate in sorted(parts["candidates"]):
        if place == first:
            yield candidate
        else:
            detail = f"{place[0]}, line {place[1]}; the first is in {first[0]}, line {first[1]}"
            yield reject(candidate.page_id, candidate.title, READ, Reason("repeated-id", detail))


def first_and_last(days: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Combines pairs (first day, last day) into one: (earliest first day, latest last day).

    Returns ("", "") if there are no pairs.
    """
    spans = [span for span in days if span[0]]
    return min((one for one, _ in spans), default=""), max((one for _, one in spans), default="")


def describe(domain: str, newer_than: str, days: tuple[str, str]) -> tuple[str, NewerDocuments]:
    """Returns (domain, NewerDocuments of the domain) for the manifest.

    NewerDocuments are the date limit `newer_than`, and the first and last date of the documents, `days`.
    """
    return domain, NewerDocuments(newer_than, *days)


CORPUS = "flores101"


class Selected(NamedTuple):
    """The outputs of SelectSentences: the selection, counts of candidates, and the rejected copies."""

    selection: beam.PCollection  # of one Selection
    candidates: beam.PCollection  # of (domain, number of candidates)
    rejected: beam.PCollection  # of Rejected: candidates that repeat another


@transform
def SelectSentences(
    candidates: beam.PCollection, quotas: Mapping[Cell, Quota], topics: Mapping[str, str]
) -> Selected:
    """Selects the sentences of a translation benchmark. PCollection[Candidate] → Selected.

    Each candidate has a rank, which is a hash. For each domain, a worker holds only the candidates with the
    lowest ranks, without copies. Their number is a few times the number of articles in the benchmark. Only
    these candidates are shuffled.

    Args:
      quotas: (domain, split) → number of articles and sentences.
      topics: URL → manually corrected topic.
    """
    by_domain = candidates | "KeyByDomain" >> beam.WithKeys(operator.attrgetter("domain"))
    # the largest number of candidates of one domain that can affect the selection
    most = max(candidates_needed(articles_of(quotas, domain)) for domain, _ in quotas)
    drawn = by_domain | "LowestRanks" >> beam.CombinePerKey(LowestOfCopies(most))
    selection = (
        drawn
        | "Together" >> beam.combiners.ToList()  # one list, even if nothing was drawn
        | "Select" >> beam.Map(select_from, quotas, topics)
    )
    return Selected(
        selection,
        by_domain | "Count" >> beam.combiners.Count.PerKey(),
        selection | "Duplicates" >> beam.FlatMap(duplicates_of),
    )


class LowestOfCopies(beam.CombineFn):
    """Selects the candidates of a domain that have the lowest ranks.

    Of several copies of an article, only the one with the lowest rank is selected, see `lowest_of_copies`.

    Args:
      most: maximum number of selected candidates.
    """

    def __init__(self, most: int):
        self.most = most

    def create_accumulator(self) -> list[Candidate]:
        return []

    def add_input(self, accumulator: list[Candidate], candidate: Candidate) -> list[Candidate]:
        accumulator.append(candidate)
        # Reduced when the list has doubled, so that sorting is rare.
        return accumulator if len(accumulator) < 2 * self.most else self.compact(accumulator)

    def merge_accumulators(self, accumulators: Iterable[list[Candidate]]) -> list[Candidate]:
        merged: list[Candidate] = []
        for accumulator in accumulators:
            merged = self.compact(merged + accumulator)
        return merged

    def compact(self, accumulator: list[Candidate]) -> list[Candidate]:
        return lowest_of_copies(accumulator, self.most)

    extract_output = compact


def select_from(
    drawn: Iterable[tuple[str, Iterable[Candidate]]],
    quotas: Mapping[Cell, Quota],
    topics: Mapping[str, str],
) -> Selection:
    """Selects the sentences from the candidates of all domains.

    Args:
      drawn: (domain, its candidates) for each domain.
      quotas: (domain, split) → number of articles and sentences.
      topics: URL → topic that replaces the topic of the candidate with this URL.
    """
    candidates = (candidate for _, of_domain in drawn for candidate in of_domain)
    return select(
        (one._replace(topic=topics.get(one.url, one.topic)) for one in candidates), quotas
    )


def duplicates_of(selection: Selection) -> Iterator[Rejected]:
    """Yields the rejections of the candidates that repeat the text of another candidate.

    The field `stage` of each Rejected has the domain of the candidate as its prefix, such as "wikinews/".
    """
    for one in selection.duplicates:
        domain = one.id.partition(":")[0]
        counters.count(one.stage, one.reason)
        yield one._replace(stage=f"{domain}/{one.stage}")


SCHEMA = pa.schema(
    [
        (name, pa.bool_() if name.startswith("has_") else pa.string())
        for name in SourceSentence._fields
        if name != LICENCE
    ]
)


def write_sentences(
    selection: Selection, folder: str, marks: Mapping[str, str], formats: Sequence[str] = (PARQUET,)
) -> Iterator[OutputFile]:
    """Writes source.tsv for translators, and a file for each split in each format.

    Args:
      selection: the selected sentences.
      folder: output folder of the build.
      marks: key-value metadata of each Parquet file.
      formats: the formats to write.
    """
    sentences = selection.sentences
    names = columns_of(SCHEMA.names, sentences)
    schema = SCHEMA if LICENCE not in names else SCHEMA.append(pa.field(LICENCE, pa.string()))
    yield write_text(folder, NAME, write_source(sentences), "table")
    for split in SPLITS:
        rows = [one[: len(names)] for one in sentences if one.split == split]
        targets = row_files(formats, CORPUS, Shard(split, 0, 1))
        batch = encode_batch(schema, rows, formats)
        yield from write_files(folder, targets, mark(schema, marks), [batch])
