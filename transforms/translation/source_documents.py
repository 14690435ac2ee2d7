"""Finds candidates for a translation benchmark in the user's documents (JSON Lines files)."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsSingleton, TaggedOutput

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.compression import DECODE_ERRORS, check_on_corrupt
from corpusmill.transforms.files.open_input import InputError, open_input
from corpusmill.transforms.files.records import Reason, Rejected
from corpusmill.transforms.files.spread import SpreadAll
from corpusmill.transforms.translation.documents import (
    MAX_LINE_BYTES,
    Document,
    find_candidate,
    parse_document,
)
from corpusmill.transforms.translation.newer import DROP_DOCUMENTS, NewerDocuments
from corpusmill.transforms.translation.selection import Candidate
from corpusmill.transforms.translation.source_passages import Sourced, name_domain

READ, DROP, FIND = "read-documents", DROP_DOCUMENTS, "find-passages"  # names of stages
_BOM = b"\xef\xbb\xbf"

Place = tuple[str, int, str]
"""The position of a document: (name of the file, number of the line, path of the file)."""


class DocumentFiles(NamedTuple):
    """The files that contain the documents of a domain."""

    domain: str  # "news"
    paths: Sequence[str]
    newer_than: str = ""  # documents of this day or earlier are dropped; "" to keep all


class SourceDocuments(beam.PTransform):
    """Reads and checks documents, and finds a passage in each. Pipeline → Sourced.

    Each file is read by one worker. Only ids, positions and passages of documents are shuffled.

    Args:
      seed: seed of all random choices.
      on_corrupt: "fail" raises InputError at a malformed line or a repeated id; "keep-good" rejects malformed
        lines, and all documents with the same id except the first.
    """

    def __init__(self, files: DocumentFiles, seed: int, on_corrupt: str = "fail"):
        super().__init__()
        check_on_corrupt(on_corrupt)
        self.files = files
        self.seed = seed
        self.on_corrupt = on_corrupt

    def expand(self, root: beam.Pipeline) -> Sourced:
        domain, paths, newer_than = self.files
        read = (
            root
            | "SpreadFiles" >> SpreadAll(paths, of=str)
            | "ReadDocuments"
            >> beam.FlatMap(read_documents, self.on_corrupt).with_outputs(
                "rejected", main="documents"
            )
        )
        found = read.documents | "FindPassages" >> beam.FlatMap(
            find_passage, domain, self.seed, newer_than
        ).with_outputs("rejected", "days", main="candidates")
        places = read.documents | "Places" >> beam.Map(id_and_place)
        once = (
            {"places": places, "candidates": found.candidates}
            | "JoinIds" >> beam.CoGroupByKey()
            | "TakeFirst"
            >> beam.FlatMap(take_first, self.on_corrupt).with_outputs("rejected", main="candidates")
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
            newer=root
            | "Once" >> beam.Create([domain])
            | "Describe" >> beam.Map(describe, newer_than, AsSingleton(days)),
        )


def read_documents(path: str, on_corrupt: str) -> Iterator[Any]:
    """Yields (position, Document) for each valid line of a file.

    Other lines are rejected or raise InputError, depending on `on_corrupt`.
    """
    name = posixpath.basename(path)
    with open_input(path) as stream:
        for number, line in _read_lines(path, stream):
            try:
                if len(line) > MAX_LINE_BYTES:
                    raise ValueError(f"the line has more than {MAX_LINE_BYTES:,} bytes")
                yield (name, number, path), parse_document(line)
                counters.count(READ, "documents")
            except ValueError as error:
                if on_corrupt == "fail":
                    raise InputError(path, f"line {number}: {error}") from None
                counters.count(READ, "malformed-document")
                one = Rejected(f"{name}, line {number}", "", READ, "malformed-document", str(error))
                yield TaggedOutput("rejected", one)


def _read_lines(path: str, stream: Any) -> Iterator[tuple[int, bytes]]:
    """Yields (number, line) for each line that is not empty.

    Of a line that is longer than MAX_LINE_BYTES, only the first MAX_LINE_BYTES + 2 bytes are yielded.
    """
    number, is_rest = 1, False
    while True:
        try:
            line = stream.readline(MAX_LINE_BYTES + 2)
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
        yield _reject(document, DROP, Reason("older-document", document.date))
        return
    yield TaggedOutput("days", (document.date, document.date))
    found = find_candidate(document, domain, seed)
    if isinstance(found, Reason):
        yield _reject(document, FIND, found)
        return
    counters.count(FIND, "candidates")
    yield document.id, (place, found)


def _reject(document: Document, stage: str, reason: Reason) -> TaggedOutput:
    counters.count(stage, reason.slug)
    rejected = Rejected(document.id, document.title, stage, reason.slug, reason.detail)
    return TaggedOutput("rejected", rejected)


def id_and_place(placed: tuple[Place, Document]) -> tuple[str, Place]:
    """Returns (id of the document, position of the document)."""
    place, document = placed
    return document.id, place


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
            yield _reject_repeated(candidate, place, first)


def _reject_repeated(candidate: Candidate, place: Place, first: Place) -> TaggedOutput:
    counters.count(READ, "repeated-id")
    detail = f"{place[0]}, line {place[1]}; the first is in {first[0]}, line {first[1]}"
    rejected = Rejected(str(candidate.page_id), candidate.title, READ, "repeated-id", detail)
    return TaggedOutput("rejected", rejected)


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
