"""Reads the entries of the catalogue of Project Gutenberg.

Reads the list of the books in the PG-19 release (metadata.csv), and tables of the split of each book.
"""

import contextlib
import io
import itertools
import posixpath
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple, cast

import apache_beam as beam
from apache_beam.pvalue import AsSingleton

from ..files import counters
from ..files.compression import DECODE_ERRORS, decompressed, read_some
from ..files.counters import LostBytes, reject, tell_lost
from ..files.distribution import Spread, transform
from ..files.markup import MalformedTableError
from ..files.packed_files import reason_not_to_read
from ..files.read_files import InputError, open_input, open_raw
from ..files.records import CatalogEntry, Reason, Rejected, ReleasedBook
from ..files.tar_members import Member, TarError, is_named_like, read_members
from ..files.work_units import is_archive
from . import catalog
from .catalog import read_released_lines, read_split_lines

_KEEP = "; --on-corrupt keep-good reads {}"
STAGE = "read-catalog"

_DOCUMENT = "*.rdf"
_IN_ZIP = (_DOCUMENT, "*.tar", "*.tar.*", "*.csv", "*.csv.*")
_ZIP = b"PK\3\4"
_MAX_LINE_BYTES = 1 << 20
_READ_BYTES = 1 << 16
_HEAD_BYTES = 512
_ERRORS = (*DECODE_ERRORS, zipfile.BadZipFile, NotImplementedError)
"""Errors of damaged and truncated files; the last is raised for unsupported compression in a .zip."""


class Catalog(NamedTuple):
    """The outputs of ReadCatalog: entries, rejected records, and damaged parts of files."""

    entries: beam.PCollection  # of CatalogEntry
    rejected: beam.PCollection  # of Rejected: rows and documents that are not valid entries
    lost: beam.PCollection  # of LostBytes


@transform
def ReadCatalog(
    root: beam.Pipeline, paths: Sequence[str], stripes: int = 1, on_corrupt: str = "fail"
) -> Catalog:
    """Reads the catalogue of Project Gutenberg from a table or from RDF documents. PBegin → Catalog.

    The id of a rejected row consists of the file name and the line where the row begins:
    "pg_catalog.csv:4711". The id of a rejected document consists of the archive and the path in it:
    "rdf-files.tar.bz2/cache/epub/84/pg84.rdf".

    Args:
      paths: files on any Beam file system: `pg_catalog.csv`; an RDF document; a .tar or .zip of documents
        (`*.rdf`); or a .zip of such a .tar. All may be compressed. The types are detected from the contents.
      stripes: number of workers that divide the work on an archive. Each of them decompresses a whole .tar,
        but parses only its share of the documents. From a .zip of documents, each worker reads only its
        share.
      on_corrupt: "fail" raises InputError with the file and the line or byte, at the first damage or the
        first malformed row of a table; "keep-good" skips and reports damaged parts. A malformed document in
        an archive is rejected in both cases, because the other documents do not depend on it.

    Raises InputError for a file of another type, and for an archive without a document. Also raises it if all
    rows and documents are invalid.
    """
    read = (
        root
        | "Paths" >> beam.Create([tuple(paths)], reshuffle=False)
        | "SpreadUnits" >> Spread(plan_units, stripes, of=CatalogUnit)
        | "ReadUnits"
        >> beam.FlatMap(read_entries, on_corrupt)
        .with_output_types(CatalogEntry)
        .with_outputs("rejected", "lost", main="entries")
    )
    _ = (
        read.entries
        | "CountEntries" >> beam.combiners.Count.Globally()
        | "CheckEntries"
        >> beam.Map(
            check_entries,
            paths,
            AsSingleton(read.rejected | "FirstRejected" >> beam.combiners.Top.Smallest(1)),
        )
    )
    return Catalog(read.entries, read.rejected, read.lost)


def check_entries(entries: int, paths: Sequence[str], first_rejected: Sequence[Rejected]) -> None:
    """Raises InputError if the catalogue has rejected records but no valid entry.

    Args:
      entries: number of valid entries.
      paths: the catalogue's files, for the message of the error.
      first_rejected: a list of one rejected record, or an empty list if no record was rejected.
    """
    for rejected in first_rejected:
        if not entries:
            message = f"no entry can be read: {rejected.id}: {rejected.detail}"
            raise InputError(", ".join(paths), message)


class CatalogUnit(NamedTuple):
    """A work unit: a whole table, or a share of the documents in an archive.

    A share has every `stripes`-th document, beginning with document number `stripe`, counted from 0.
    """

    path: str
    stripe: int
    stripes: int


class BadDocument(NamedTuple):
    """A document that contains no valid entry of the catalogue, with the error."""

    member: str  # path in the archive; "" for the file itself
    message: str


class DamagedCatalog(NamedTuple):
    """The damage of a catalogue file: the first byte that cannot be read, and the error."""

    member: str  # of a .zip, if the archive or table is inside it; "" for the file itself
    offset: int  # byte of the decompressed text or .tar; in a .zip, the start of the member
    message: str


Event = CatalogEntry | catalog.BadRow | BadDocument | DamagedCatalog


def plan_units(paths: Sequence[str], stripes: int) -> list[CatalogUnit]:
    """Returns the work units of all files. An archive has `stripes` units, every other file has one."""
    return [
        CatalogUnit(path, stripe, shares)
        for path in paths
        for shares in [stripes if _is_shared(path) else 1]
        for stripe in range(shares)
    ]


def check_tables(paths: Sequence[str]) -> None:
    """Raises InputError for the first damage or malformed row of the tables in `paths`, as a build does.

    Archives are not checked, because they may take minutes to read.
    """
    for path in paths:
        if not _is_shared(path):
            unit = CatalogUnit(path, 0, 1)
            for event in read_unit(unit):
                if isinstance(event, catalog.BadRow | DamagedCatalog):
                    raise _error_of(unit, event)


def read_unit(unit: CatalogUnit) -> Iterator[Event]:
    """Yields the entries of a unit, and its invalid records and damage.

    Raises InputError if the file is not a catalogue.
    """
    try:
        with open_raw(unit.path) as stream:
            if _is_zip(stream):
                yield from _read_zip(stream, unit)
            else:
                yield from _read_content(stream, "", unit)
    except catalog.NotACatalogError as error:
        raise InputError(unit.path, str(error)) from None


def read_entries(
    unit: CatalogUnit, on_corrupt: str
) -> Iterator[CatalogEntry | beam.pvalue.TaggedOutput]:
    """Yields the entries of a unit, and its rejected records and damage on the other outputs."""
    name = posixpath.basename(unit.path)
    entries = 0
    for event in read_unit(unit):
        if isinstance(event, CatalogEntry):
            entries += 1
            yield event
        elif isinstance(event, BadDocument):
            reason = Reason("malformed-rdf", event.message)
            yield reject(_join(name, event.member), "", STAGE, reason)
        elif on_corrupt == "fail":
            raise _error_of(unit, event)
        elif isinstance(event, catalog.BadRow):
            reason = Reason("malformed-row", event.message)
            yield reject(f"{name}:{event.line}", "", STAGE, reason)
        elif unit.stripe == 0 or _is_document(event.member):  # other damage is found by all stripes
            place, at = _join(name, event.member), event.offset
            yield tell_lost(STAGE, LostBytes(place, at, at, event.message, unit="rows"))
    counters.count(STAGE, "entries", entries)


def _error_of(unit: CatalogUnit, event: catalog.BadRow | DamagedCatalog) -> InputError:
    if isinstance(event, catalog.BadRow):
        return InputError(
            unit.path, f"line {event.line}: {event.message}{_KEEP.format('the other rows')}"
        )
    message = f"{event.message}{_KEEP.format('only the undamaged part')}"
    return InputError(_join(unit.path, event.member), message, event.offset)


def _join(*names: str) -> str:
    return "/".join(filter(None, names))


def _is_shared(path: str) -> bool:
    with open_raw(path) as stream:
        return _is_zip(stream) or is_archive(stream)


def _is_zip(stream: BinaryIO) -> bool:
    head = stream.read(len(_ZIP))
    stream.seek(0)
    return head == _ZIP


def _read_zip(stream: BinaryIO, unit: CatalogUnit) -> Iterator[Event]:
    """Yields the documents of a .zip, and those in archives inside it. Also yields the rows of its tables."""
    try:
        archive = zipfile.ZipFile(stream)
    except _ERRORS as error:
        yield DamagedCatalog("", 0, f"damaged or truncated: {error}")
        return
    with archive:
        wanted = [info for info in archive.infolist() if is_named_like(info.filename, _IN_ZIP)]
        if not wanted:
            raise catalog.NotACatalogError(f"the archive has no file {' or '.join(_IN_ZIP)}")
        for index, info in enumerate(wanted):
            if _is_document(info.filename) and index % unit.stripes != unit.stripe:
                continue
            try:
                with archive.open(info) as content:
                    stream = cast(BinaryIO, content)
                    if _is_document(info.filename):
                        yield _read_document(decompressed(stream), info.filename)
                    else:
                        yield from _read_content(stream, info.filename, unit)
            except _ERRORS as error:
                message = f"damaged or truncated: {error}"
                yield DamagedCatalog(info.filename, info.header_offset, message)


def _read_content(stream: BinaryIO, member: str, unit: CatalogUnit) -> Iterator[Event]:
    """Decompresses a file, and yields the documents of an archive, a single document, or the rows of a table.

    `member` is the name of the file in a .zip; "" for an input file itself.
    """
    if is_archive(stream):
        yield from _read_tar(decompressed(stream), member, unit)
        return
    if not _is_xml(stream):
        yield from _read_table(decompressed(stream), member, unit)
        return
    try:
        event = _read_document(decompressed(stream), member)
    except _ERRORS as error:
        yield DamagedCatalog(member, 0, f"damaged or truncated: {error}")
        return
    if isinstance(event, BadDocument) and not member:
        raise catalog.NotACatalogError(event.message)
    yield event


def _is_xml(stream: BinaryIO) -> bool:
    """Returns True if the decompressed content of a file begins like XML.

    Then moves the stream back to its start.
    """
    try:
        head = read_some(decompressed(stream), _HEAD_BYTES)
    except DECODE_ERRORS:
        head = b""  # the reader of the file reports this error with its position
    stream.seek(0)
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def _read_tar(archive: BinaryIO, member: str, unit: CatalogUnit) -> Iterator[Event]:
    documents = 0
    try:
        for found in read_members(archive):
            if not _is_document(found.name):
                continue
            if documents % unit.stripes == unit.stripe:
                name = _join(member, found.name)
                if isinstance(found, Member):
                    yield _read_document(found.content, name)
                else:
                    yield BadDocument(name, " ".join(reason_not_to_read(found)))
            documents += 1
    except TarError as error:
        message = f"{error.message} (bytes of the archive, decompressed)"
        yield DamagedCatalog(member, error.offset, message)
    else:
        if not documents:
            raise catalog.NotACatalogError(f"the archive has no file {_DOCUMENT}")


def _is_document(name: str) -> bool:
    return is_named_like(name, (_DOCUMENT,))


def _read_document(content: BinaryIO, member: str) -> CatalogEntry | BadDocument:
    parts: list[bytes] = []
    size = 0
    while size <= catalog.MAX_RDF_BYTES and (data := read_some(content, _READ_BYTES)):
        parts.append(data)
        size += len(data)
    if size > catalog.MAX_RDF_BYTES:
        return BadDocument(member, f"more than {catalog.MAX_RDF_BYTES:,} bytes")
    try:
        return catalog.parse_catalog_rdf(b"".join(parts))
    except catalog.MalformedRdfError as error:
        return BadDocument(member, str(error))


def _read_table(
    content: BinaryIO, member: str, unit: CatalogUnit
) -> Iterator[CatalogEntry | catalog.BadRow | DamagedCatalog]:
    if unit.stripe:
        return
    try:
        yield from catalog.read_catalog_lines(_read_lines(content))
    except _CutError as error:
        yield DamagedCatalog(member, error.offset, error.message)


class _CutError(Exception):
    """Raised if a table cannot be read to its end.

    Contains the number of bytes of the decompressed text that could be read, and the cause.
    """

    def __init__(self, line: int, offset: int, message: str):
        super().__init__(line, offset, message)
        self.offset = offset
        self.message = f"line {line}: {message} (bytes of the text)"


def _read_lines(content: BinaryIO) -> Iterator[bytes]:
    """Yields lines with their line feeds. Raises _CutError for a damaged, cut or very long line."""
    lines = io.BufferedReader(cast(io.RawIOBase, content), _READ_BYTES)
    offset = 0
    for number in itertools.count(1):
        try:
            line = lines.readline(_MAX_LINE_BYTES)
        except _ERRORS as error:
            raise _CutError(number, offset, f"damaged or truncated: {error}") from error
        if line and not line.endswith(b"\n"):
            problem = "the line has no line feed: the file is truncated, or not a table"
            raise _CutError(number, offset, problem)
        if not line:
            return
        yield line
        offset += len(line)


READ_RELEASED = "read-released-books"


def read_released_books(path: str) -> Iterator[ReleasedBook]:
    """Yields the books listed in one metadata.csv. Raises InputError for an invalid line."""
    books = 0
    with _open_table(path) as lines:
        for book in read_released_lines(lines):
            books += 1
            yield book
    counters.count(READ_RELEASED, "books", books)


def read_split_table(path: str) -> Mapping[int, str]:
    """Reads a table of splits (see catalog.py). Returns ebook number → split.

    Raises InputError if the table is invalid.
    """
    with _open_table(path) as lines:
        return read_split_lines(lines)


@contextlib.contextmanager
def _open_table(path: str) -> Iterator[Iterable[bytes]]:
    """Opens a table as lines, for a `with` block.

    If the block raises an error about the format of the table, it is replaced by an InputError with the path.
    """
    with open_input(path) as content:
        try:
            yield bounded_lines(content)
        except DECODE_ERRORS as error:
            is_told = isinstance(error, MalformedTableError)
            raise InputError(
                path, f"{'' if is_told else 'damaged or truncated: '}{error}"
            ) from error


def bounded_lines(content: BinaryIO) -> Iterator[bytes]:
    """Yields the lines of a file. Raises MalformedTableError for one of more than _MAX_LINE_BYTES bytes."""
    for number in itertools.count(1):
        line = content.readline(_MAX_LINE_BYTES + 1)
        if len(line) > _MAX_LINE_BYTES:
            raise MalformedTableError(f"line {number}: longer than {_MAX_LINE_BYTES:,} bytes")
        if not line:
            return
        yield line
