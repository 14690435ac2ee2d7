"""Reads books, the catalogue and PG-19's list of books, and joins them to one element per book.

Joins files of books with the catalogue and the metadata of PG-19.

Checks files of books before a build starts: they must exist and look complete.
"""

import operator
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

import apache_beam as beam

from ..files import counters, packed_files
from ..files.builds.finished_builds import files_below
from ..files.compression import DECODE_ERRORS, codec_of
from ..files.counters import reject
from ..files.distribution import transform
from ..files.packed_files import ZipError, is_named_tar, is_wanted
from ..files.read_files import InputError, match_inputs, open_raw
from ..files.read_lines import check_end
from ..files.records import Author, Book, BookFile, CatalogEntry, Reason, ReleasedBook
from ..files.stores import is_folder, is_local
from ..files.tar_members import TarError, read_members
from .file_text import choose_file, decode_file
from .read_books import ReadBooks, sizes_of
from .read_catalog import ReadCatalog, read_released_books

STAGE = "choose-file"
BOOKS, CATALOG, RELEASED = "books", "catalog", "released"

_TEXT = "Text"
_FREE = re.compile(r"(?:none|public domain(?: in the (?:usa|united states))?)?\.?", re.IGNORECASE)


class JoinedBooks(NamedTuple):
    """The outputs of JoinCatalog: books and rejected files. Each file becomes a book or is rejected."""

    books: beam.PCollection  # of Book, one for each id
    rejected: beam.PCollection  # of Rejected: unused files of a book, other media


@transform
def JoinCatalog(inputs: Mapping[str, beam.PCollection]) -> JoinedBooks:
    """Joins files of books with the catalogue and PG-19's list of released books, by ebook number.

    {"books": PCollection[BookFile], "catalog": PCollection[CatalogEntry], "released":
    PCollection[ReleasedBook]} → JoinedBooks. The keys "catalog" and "released" are optional.

    If a book has several files, one is chosen (see file_text.py). If it has several
    catalogue entries, `choose_entry` chooses one. If it is listed several times as released,
    `choose_released` chooses one line of the list. Entries and released books without a file are ignored. The
    result does not depend on the order of the elements.
    """
    by_id = beam.WithKeys(operator.attrgetter("book_id"))
    keyed = {tag: elements | f"Key {tag}" >> by_id for tag, elements in inputs.items()}
    joined = (
        keyed
        | "JoinById" >> beam.CoGroupByKey()
        | "JoinBooks"
        >> beam.FlatMap(join_books).with_output_types(Book).with_outputs("rejected", main="books")
    )
    return JoinedBooks(joined.books, joined.rejected)


def join_books(joined: tuple[int, Mapping[str, Iterable[Any]]]) -> Iterator[Any]:
    """Yields the book with a given ebook number, or nothing if there is no file with this number.

    A book that is not a text according to the catalogue, such as a sound recording, is rejected. So are files
    that are not chosen. Rejections are on the output "rejected".

    Args:
      joined: (ebook number, {"books": files, "catalog": entries, "released": released books}), with all
        elements that have this number; from CoGroupByKey.
    """
    book_id, found = joined
    if not (files := list(found[BOOKS])):
        return
    file, others = choose_file(files)
    entry = choose_entry(found.get(CATALOG, ()))
    book = join_book(file, entry, choose_released(found.get(RELEASED, ())))
    for _, detail in others:
        yield reject(book_id, book.title, STAGE, Reason("other-file-of-book", detail))
    if entry is not None and (reason := reason_to_reject(entry)):
        yield reject(book_id, book.title, STAGE, reason)
        return
    counters.count("join-catalog", "books")
    if book.is_in_catalog:
        counters.count("join-catalog", "in-catalog")
    if book.released_year:
        counters.count("join-catalog", "released")
    yield book


def reason_to_reject(entry: CatalogEntry) -> Reason | None:
    """Returns the reason to reject a catalogue entry, or None for a text in the public domain.

    Without information about its rights, a text is not rejected.
    """
    if entry.kind not in ("", _TEXT):
        return Reason("not-text", entry.kind)
    return None if _FREE.fullmatch(entry.rights) else Reason("copyrighted", entry.rights)


def join_book(
    file: BookFile, entry: CatalogEntry | None, released: ReleasedBook | None = None
) -> Book:
    """Returns the book in a file, with its metadata.

    Title, authors and languages are taken from the catalogue if it has them, otherwise from the header of the
    file.
    """
    known = entry or CatalogEntry(file.book_id, "", "", (), (), (), ())
    header = file.header
    return Book(
        book_id=file.book_id,
        name=file.name,
        encoding=file.encoding,
        title=known.title or header.title,
        authors=known.authors or tuple(map(Author, header.authors)),
        languages=known.languages or header.languages,
        subjects=known.subjects,
        bookshelves=known.bookshelves,
        original_publication=header.original_publication,
        released_year=released.year if released else 0,
        is_in_catalog=entry is not None,
        characters=file.characters,
        packed_text=file.packed_text,
        catalog_imprint=known.imprint,
        catalog_year=known.year,
    )


def choose_entry(entries: Iterable[CatalogEntry]) -> CatalogEntry | None:
    """Returns the catalogue entry that contains the most values; None if `entries` is empty.

    If several entries have equally many values, the one that sorts last is returned. Only RDF has rights,
    an imprint and a year, so these are taken from any entry. Rights that are not free come first.
    """
    ranked = sorted(entries, key=lambda entry: (_facts_in(entry), entry), reverse=True)
    if not ranked:
        return None
    rights = [entry.rights for entry in ranked if entry.rights]
    return ranked[0]._replace(
        rights=min(rights, key=lambda text: bool(_FREE.fullmatch(text)), default=""),
        imprint=next((entry.imprint for entry in ranked if entry.imprint), ""),
        year=next((entry.year for entry in ranked if entry.year), 0),
    )


def choose_released(released: Iterable[ReleasedBook]) -> ReleasedBook | None:
    """Returns the released book with the earliest year; None if `released` is empty.

    If several books have the earliest year, the first one by title and URL is returned.
    """
    return min(released, key=lambda book: (book.year, book.title, book.url), default=None)


def _facts_in(entry: CatalogEntry) -> int:
    """Returns the number of values in a catalogue entry."""
    values = (entry.authors, entry.languages, entry.subjects, entry.bookshelves)
    return sum(map(len, values)) + bool(entry.title) + bool(entry.kind)


class GatheredBooks(NamedTuple):
    """The outputs of GatherBooks: books, rejections, damaged parts of files, and the number of files read."""

    books: beam.PCollection  # of Book
    rejected: beam.PCollection  # of Rejected: files that are not books, and further files of a book
    catalog_rejected: beam.PCollection  # of Rejected: records of the catalogue that cannot be read
    lost: beam.PCollection  # of LostBytes
    files: beam.PCollection  # of int: files that were looked at as books


@transform
def GatherBooks(
    root: beam.Pipeline,
    folder: str,
    books: Sequence[str],
    catalog: Sequence[str],
    metadata: Sequence[str],
    stripes: int,
    on_corrupt: str,
    limit: int = 0,
) -> GatheredBooks:
    """Reads books and joins them with their metadata. Pipeline → GatheredBooks.

    Args:
      folder: folder for temporary texts (see scratch.py).
      books: paths of the files of books, which may be archives.
      catalog: paths of the catalogue's files; may be empty.
      metadata: paths of metadata.csv of the PG-19 release; may be empty.
      stripes: number of workers.
      on_corrupt: "fail" raises an error at damaged input; "keep-good" skips it.
      limit: maximum number of books in total; 0 reads all books. With a limit, one worker reads the files in
        the order of the paths.
    """
    how = stripes, on_corrupt
    read = root | "ReadBooks" >> ReadBooks(books, folder, *how, limit)
    listed = root | "ReadCatalog" >> ReadCatalog(catalog, *how)
    metadata = root | "Metadata" >> beam.Create(metadata)
    released = metadata | "ReadReleasedBooks" >> beam.FlatMap(read_released_books)
    known = {"books": read.books, "catalog": listed.entries, "released": released}
    joined = known | "JoinCatalog" >> JoinCatalog()
    return GatheredBooks(
        books=joined.books,
        rejected=(read.rejected, joined.rejected) | "Rejected" >> beam.Flatten(),
        catalog_rejected=listed.rejected,
        lost=(read.lost, listed.lost) | "Lost" >> beam.Flatten(),
        files=read.files,
    )


LOOKED_INTO = 1000
"""The maximum number of files that are opened. The largest are checked first, as archives are large."""

_ARCHIVE_SUFFIXES = (".zip", ".gz", ".bz2", ".xz")


def match_books(patterns: Sequence[str]) -> list[str]:
    """Returns the files that match at least one of the patterns, sorted by name, without repetitions.

    A pattern can also be a folder. It matches all files below it that have the suffix of a text or archive.
    Raises InputError for a pattern without a match.
    """
    paths: set[str] = set()
    for pattern in patterns:
        paths.update(_files_below(pattern) if is_folder(pattern) else match_inputs([pattern]))
    return sorted(paths)


def _files_below(folder: str) -> list[str]:
    found = files_below(folder.rstrip("/"))
    folders = set(filter(posixpath.isdir, found)) if is_local(folder) else set()
    books = [path for path in found if is_wanted(path) and path not in folders]
    if not books:
        raise InputError(folder, "the folder contains no book files (*.txt, *.zip)")
    return books


def check_books(paths: Sequence[str], whole: bool = True) -> None:
    """Checks the input files of a build of books.

    Raises InputError if a file is missing, if an archive is empty, or if no file can be a book. If `whole` is
    True, also raises it if an archive is truncated. Only the beginnings and ends of files are read, so the
    contents of compressed archives are not checked. A truncated .gz file is not detected, because the format
    has no end mark.
    """
    sizes = sizes_of(paths)
    for path, size in zip(paths, sizes, strict=True):
        if not size and (path.endswith(_ARCHIVE_SUFFIXES) or is_named_tar(path)):
            raise InputError(path, "the file is empty")
    largest = sorted(zip(sizes, paths, strict=True), reverse=True)
    has_book = [_check_file(path, size, whole) for size, path in largest[:LOOKED_INTO]]
    if not any(has_book) and len(paths) <= LOOKED_INTO:
        raise InputError(
            ", ".join(paths[:5]),
            "none of these files is a text, or an archive that contains texts, so none can be a book",
        )


def _check_file(path: str, file_bytes: int, whole: bool) -> bool:
    """Returns True if a file may be a book or contain one.

    If `whole` is True, raises InputError for a damaged or truncated file.
    """
    with open_raw(path) as stream:
        codec = codec_of(stream)
        if whole:
            check_end(path, stream, codec, file_bytes)
            stream.seek(0)
        try:
            head = packed_files.head_of(stream)
        except DECODE_ERRORS as error:
            if whole:
                raise InputError(path, f"cannot be decompressed: {error}", 0) from None
            return False
        stream.seek(0)
        is_tar = packed_files.is_tar(head)
        if is_tar or packed_files.is_zip(head):
            return bool(codec) or _check_archive(
                path, stream, file_bytes if is_tar else None, whole
            )
    return bool(getattr(decode_file(head), "text", ""))


def _check_archive(path: str, stream: BinaryIO, tar_bytes: int | None, whole: bool) -> bool:
    """Returns True if an uncompressed archive contains a file that may be a text.

    Args:
      tar_bytes: size of a .tar in bytes; None for a .zip.
      whole: True to raise InputError if the archive is damaged or truncated.
    """
    has_wanted = False
    try:
        if tar_bytes is None:
            names = (one.filename for one in packed_files.list_zip(stream))
        else:
            names = (one.name for one in read_members(stream, tar_bytes))
        for name in names:
            has_wanted |= is_wanted(name)
    except (TarError, ZipError) as error:
        if whole:
            raise InputError(path, error.message, error.offset) from None
    return has_wanted
