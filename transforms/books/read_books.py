"""Reads and decodes books from files of Project Gutenberg, including archives."""

import collections
import itertools
import pathlib
import posixpath
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, NamedTuple

import apache_beam as beam

from ..files import counters, packed_files, tar_members
from ..files.compression import DECODE_ERRORS, codec_of
from ..files.counters import LostBytes, tell_lost
from ..files.distribution import Spread, transform
from ..files.read_files import InputError, file_bytes_of, open_raw
from ..files.records import BookFile, Reason, Rejected
from ..files.scratch import Scratch
from ..files.tar_members import Member, TarError
from ..files.text import fingerprint
from ..files.work_units import shares_of
from .file_text import decode_file, number_in_name, parse_header

STAGE = "read-books"
UNIT_BYTES = 1 << 23
"""Target size of a work unit in stored bytes of an archive: some tens of books."""

_DETAIL_CHARACTERS = 100
_SIZING_THREADS = 32  # requests to object stores run in parallel


class ReadBookFiles(NamedTuple):
    """The outputs of ReadBooks: decoded files, rejected files, damaged parts, and the number of files
    read.
    """

    books: beam.PCollection  # of BookFile; a book may come in several files
    rejected: beam.PCollection  # of Rejected
    lost: beam.PCollection  # of LostBytes
    files: beam.PCollection  # of int: files read, including rejected ones


@transform
def ReadBooks(
    root: beam.Pipeline,
    paths: Sequence[str],
    folder: str,
    stripes: int = 1,
    on_corrupt: str = "fail",
    limit: int = 0,
) -> ReadBookFiles:
    """Reads books from text files and archives. PBegin → ReadBookFiles.

    Files are divided into work units, which are distributed over the workers.

    File types are detected from the first bytes: text, .gz, .bz2, .xz, .zip, .tar, and combinations of these.
    Files in archives are read only if their names may be those of texts (see packed_files.is_wanted); others
    are counted under "skipped". Input files are read regardless of their names.

    All workers can read parts of the same .zip or uncompressed .tar. A compressed .tar, alone or inside a
    .zip, can only be read from its start. If n workers share it, each of them decompresses the whole archive,
    but decodes only every n-th file. Nothing is unpacked to disk. A .zip inside another archive is held in
    memory.

    Files are rejected if they are not text ("html-page", "empty-file", "binary-file"), have no ebook number
    in their header or name ("no-ebook-number"), or cannot be read ("too-large", "encrypted",
    "unsupported-compression", "too-deep", "link", "not-a-file"). The id of a rejected file consists of the
    archive and the path in it: "txt-files.tar.zip/cache/epub/84/pg84.txt". If input files have the same name,
    the id begins with their parent folders.

    Args:
      paths: files on any Beam file system.
      folder: folder for temporary texts (see scratch.py).
      stripes: number of workers. `shares_of` computes how many of them share a compressed .tar.
      on_corrupt: "fail" raises InputError at the first damage; the error names the byte and the path of the
        file, including the archives that contain it. "keep-good" skips and reports damaged parts; if the
        directory of a .zip is missing, the whole .zip is lost.
      limit: maximum number of books in total; 0 reads all books. With a limit, one worker reads the files in
        the order of the paths.
    """
    listed = root | "Paths" >> beam.Create([tuple(paths)], reshuffle=False)
    how = Scratch(folder), on_corrupt
    if limit:
        first = listed | "ReadFirst" >> _reading(_read_first, *how, limit)
        return ReadBookFiles(first.books, first.rejected, first.lost, first.files)
    planned = (
        listed
        | "SpreadFiles" >> Spread(share_out, stripes, of=BookSource)
        | "PlanUnits"
        >> beam.FlatMap(plan_book_units, on_corrupt)
        .with_output_types(BookUnit)
        .with_outputs("lost", main="units")
    )
    read = (
        planned.units
        | "SpreadUnits" >> Spread(lambda unit: [unit], of=BookUnit)
        | "ReadUnits" >> _reading(read_book_unit, *how)
    )
    lost = (planned.lost, read.lost) | "Lost" >> beam.Flatten()
    return ReadBookFiles(read.books, read.rejected, lost, read.files)


def _reading(read: Callable[..., Iterator[Any]], *how: Any) -> beam.PTransform:
    reading = beam.FlatMap(read, *how).with_output_types(BookFile)
    return reading.with_outputs("rejected", "lost", "files", main="books")


class BookSource(NamedTuple):
    """An input file, and the number of workers that may share it."""

    path: str
    name: str  # name in the output
    stored_bytes: int
    stripes: int


class StoredFile(NamedTuple):
    """A file at a known position in an archive, or a whole input file."""

    name: str  # after the names of its archives
    start: int  # byte offset in the input file
    stored_bytes: int
    zipped: zipfile.ZipInfo | None = None  # its entry, if it is in a .zip
    reason: Reason | None = None  # reason why it is not read


Listed = StoredFile | packed_files.PassedOver | packed_files.PackedDamage
"""A file in an archive: to read, to skip, or the damage of the archive."""


class BookUnit(NamedTuple):
    """A work unit: files that are read together, or a share of an archive that several workers read.

    In a shared archive, a unit has every `stripes`-th file, beginning with file number `stripe`.
    """

    source: BookSource
    files: tuple[StoredFile, ...]
    # stored bytes, to report progress; those of all units add up to the size of the source
    counted_bytes: int
    stripe: int = 0
    stripes: int = 1


def sizes_of(paths: Sequence[str]) -> list[int]:
    """Returns the stored sizes of files in bytes. Raises InputError if a file is missing."""
    with ThreadPoolExecutor(_SIZING_THREADS) as pool:
        return list(pool.map(file_bytes_of, paths))


def share_out(paths: Sequence[str], stripes: int) -> list[BookSource]:
    """Returns a BookSource for each input file: its name, and the number of workers that share it.

    A larger file gets more of the `stripes` workers.
    """
    sizes = sizes_of(paths)
    names = short_names(paths)
    shares = shares_of(sizes, stripes)
    return [BookSource(*source) for source in zip(paths, names, sizes, shares, strict=True)]


def short_names(paths: Sequence[str]) -> list[str]:
    """Returns the names of files without their folders.

    If files have equal names, as many parent folders are kept as are needed to make the names different.
    """
    parts = {path: pathlib.PurePosixPath(path).parts for path in paths}
    tails = {
        path: ["/".join(own[-depth:]) for depth in range(1, len(own) + 1)]
        for path, own in parts.items()
    }
    times = collections.Counter(itertools.chain.from_iterable(tails.values()))
    return [
        next((tail for tail in tails[path] if times[tail] == 1), tails[path][-1]) for path in paths
    ]


def plan_units(
    source: BookSource,
) -> Iterator[BookUnit | packed_files.PassedOver | packed_files.PackedDamage]:
    """Yields the work units of an input file.

    For an archive, also yields the files in it that are skipped, and the damage in its directory.
    """
    with open_raw(source.path) as stream:
        try:
            head = packed_files.head_of(stream)
        except DECODE_ERRORS:
            head = b""  # the reader of the file reports this error with its position
        is_compressed, is_tar = bool(codec_of(stream)), packed_files.is_tar(head)
        if is_tar and not is_compressed:
            yield from _plan_archive(source, _list_tar(source, stream))
        elif packed_files.is_zip(head) and not (is_tar or is_compressed):
            yield from _plan_archive(source, _list_zip(source, stream))
        else:
            itself = StoredFile(source.name, 0, source.stored_bytes)
            yield from _stripes_of(source, itself, source.stripes if is_tar else 1)


def _list_tar(source: BookSource, stream: BinaryIO) -> Iterator[Listed]:
    try:
        for member in tar_members.read_members(stream, source.stored_bytes):
            name = packed_files.name_inside(source.name, member.name)
            if not packed_files.is_wanted(member.name):
                yield packed_files.PassedOver(name)
            elif not isinstance(member, Member):
                yield StoredFile(name, 0, 0, reason=packed_files.reason_not_to_read(member))
            elif member.start + member.bytes <= source.stored_bytes:  # else an error follows
                yield StoredFile(name, member.start, member.bytes)
    except TarError as error:
        yield packed_files.PackedDamage(
            source.name, error.offset, source.stored_bytes, error.message
        )


def _list_zip(source: BookSource, stream: BinaryIO) -> Iterator[Listed]:
    try:
        members = packed_files.list_zip(stream)
    except packed_files.ZipError as error:
        yield packed_files.PackedDamage(source.name, 0, source.stored_bytes, error.message)
        return
    for member in sorted(members, key=lambda member: member.header_offset):
        name = packed_files.name_inside(source.name, member.filename)
        if packed_files.is_wanted(member.filename):
            yield StoredFile(name, member.header_offset, member.compress_size, member)
        else:
            yield packed_files.PassedOver(name)


def _plan_archive(
    source: BookSource,
    listed: Iterable[Listed],
) -> Iterator[BookUnit | packed_files.PassedOver | packed_files.PackedDamage]:
    """Yields the files of an archive in work units of about UNIT_BYTES stored bytes.

    A .tar inside the archive is divided into several units, which different workers can read. Skipped files
    and damage are yielded unchanged.

    Args:
      listed: the files in the archive, those to skip, and the damage of the archive.
    """
    uncounted = source.stored_bytes
    together: list[StoredFile] = []
    size = 0
    for file in listed:
        if not isinstance(file, StoredFile):
            yield file
            continue
        if packed_files.is_named_tar(file.name if file.zipped is None else file.zipped.filename):
            (stripes,) = shares_of([file.stored_bytes], source.stripes)
            yield from _stripes_of(source, file, stripes)
            uncounted -= file.stored_bytes
            continue
        together.append(file)
        size += file.stored_bytes
        if size >= UNIT_BYTES:
            yield BookUnit(source, tuple(together), size)
            uncounted -= size
            together, size = [], 0
    yield BookUnit(source, tuple(together), uncounted)


def _stripes_of(source: BookSource, file: StoredFile, stripes: int) -> Iterator[BookUnit]:
    ends = [file.stored_bytes * stripe // stripes for stripe in range(stripes + 1)]
    for stripe, (start, end) in enumerate(itertools.pairwise(ends)):
        yield BookUnit(source, (file,), end - start, stripe, stripes)


def plan_book_units(source: BookSource, on_corrupt: str) -> Iterator[Any]:
    """Yields the work units of an input file, and damage on the output "lost". Counts skipped files."""
    for event in plan_units(source):
        if isinstance(event, packed_files.PassedOver):
            counters.count(STAGE, "skipped")
        elif isinstance(event, packed_files.PackedDamage):
            yield lose(source, event, on_corrupt)
        else:
            yield event
    counters.flush()


def read_book_unit(
    unit: BookUnit, scratch: Scratch, on_corrupt: str, limit: int = 0
) -> Iterator[Any]:
    """Yields the books of a unit, at most `limit` if it is not 0.

    Rejected files are on the output "rejected", damage on "lost", and the number of files on "files".
    """
    files = books = 0
    for event in read_unit(unit):
        if isinstance(event, packed_files.PassedOver):
            counters.count(STAGE, "skipped")
            continue
        if isinstance(event, packed_files.PackedDamage):
            yield lose(unit.source, event, on_corrupt)
            continue
        files += 1
        book = read_book(event, scratch)
        if isinstance(book, BookFile):
            counters.count(STAGE, "books")
            books += 1
            yield book
        else:
            counters.count(STAGE, book.reason)
            yield beam.pvalue.TaggedOutput("rejected", book)
        if limit and books == limit:
            break
    yield beam.pvalue.TaggedOutput("files", files)
    counters.flush()


def _read_first(
    paths: Sequence[str], scratch: Scratch, on_corrupt: str, limit: int
) -> Iterator[Any]:
    """Reads the files one after another on one worker, until `limit` books are found."""
    left = limit
    for source in share_out(paths, 1):
        for unit in plan_book_units(source, on_corrupt):
            if not isinstance(unit, BookUnit):
                yield unit
                continue
            for found in read_book_unit(unit, scratch, on_corrupt, left):
                left -= isinstance(found, BookFile)
                yield found
            if not left:
                return


def read_unit(unit: BookUnit) -> Iterator[packed_files.PackedEvent]:
    """Yields the files of a unit with their contents, the files that are not read, and the damage found.

    Also counts the bytes read, to report progress.
    """
    progress = _Progress(unit)
    before = 0  # bytes of the finished files
    with open_raw(unit.source.path) as stream:
        for file in unit.files:
            for event in _read_stored(stream, file, packed_files.Share(unit.stripe, unit.stripes)):
                if isinstance(event, packed_files.PackedFile):
                    counters.count(STAGE, "text_bytes", len(event.content))
                in_file = min(max(stream.tell() - file.start, 0), file.stored_bytes)
                progress.advance_to(before + in_file)
                yield event
            before += file.stored_bytes
            progress.advance_to(before)
    progress.advance_to(progress.all)


def _read_stored(
    stream: BinaryIO, file: StoredFile, share: packed_files.Share
) -> Iterator[packed_files.PackedEvent]:
    if file.reason:
        yield packed_files.UnreadFile(file.name, file.reason)
    elif file.zipped:
        yield from packed_files.read_zip_member(stream, file.zipped, file.name, share)
    else:
        stored = tar_members.window_of(stream, file.start, file.stored_bytes)
        yield from packed_files.read_packed(stored, file.name, share)


class _Progress:
    """Counts the stored bytes of a unit as its files are read.

    If several units share an archive, each of them counts only a part of its bytes.
    """

    def __init__(self, unit: BookUnit):
        self.all = max(sum(file.stored_bytes for file in unit.files), 1)
        self._due = unit.counted_bytes
        self._counted = 0

    def advance_to(self, read: int) -> None:
        """Counts the bytes up to `read` of the bytes of all files, if they are not counted yet."""
        amount = self._due * read // self.all
        if amount > self._counted:
            counters.count(STAGE, "dump_bytes", amount - self._counted)
            self._counted = amount


def read_book(
    file: packed_files.PackedFile | packed_files.UnreadFile, scratch: Scratch
) -> BookFile | Rejected:
    """Decodes a file. Returns its book, or a rejection if it is not a book.

    The text of the book is stored in scratch, and the book has a reference to it.
    """
    if isinstance(file, packed_files.UnreadFile):
        return _reject(file.name, file.reason)
    decoded = decode_file(file.content)
    if isinstance(decoded, Reason):
        return _reject(file.name, decoded)
    header = parse_header(decoded.text)
    number = header.number or number_in_name(file.name)
    if not number:
        beginning = " ".join(decoded.text[:_DETAIL_CHARACTERS].split())
        return _reject(file.name, Reason("no-ebook-number", beginning), header.title)
    return BookFile(
        book_id=number,
        name=file.name,
        encoding=decoded.encoding,
        header=header,
        characters=len(decoded.text),
        packed_text=scratch.put_text(decoded.text),
        digest=fingerprint(decoded.text),
    )


def _reject(name: str, reason: Reason, title: str = "") -> Rejected:
    return Rejected(name, title, STAGE, reason.slug, reason.detail)


def lose(
    source: BookSource, damage: packed_files.PackedDamage, on_corrupt: str
) -> beam.pvalue.TaggedOutput:
    """Returns an element for the output "lost" that reports damage of a file, if `on_corrupt` is "keep-good".

    If `on_corrupt` is "fail", raises InputError instead.
    """
    if on_corrupt == "fail":
        path = posixpath.join(source.path, damage.name.removeprefix(source.name).lstrip("/"))
        raise InputError(path.rstrip("/"), damage.message, damage.start)
    return tell_lost(STAGE, LostBytes(*damage))
