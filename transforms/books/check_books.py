"""Checks files of books before a build starts: they must exist and look complete."""

import glob
import posixpath
from collections.abc import Sequence
from typing import BinaryIO

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.books.file_text import decode_file
from corpusmill.transforms.books.read_books import sizes_of
from corpusmill.transforms.files import bz2_blocks, packed_files, zip_members
from corpusmill.transforms.files.compression import DECODE_ERRORS, codec_of
from corpusmill.transforms.files.open_input import InputError, match_inputs, open_raw
from corpusmill.transforms.files.packed_files import is_named_tar, is_wanted
from corpusmill.transforms.files.stores import is_local, refusal_of
from corpusmill.transforms.files.tar_members import TarError, read_members
from corpusmill.transforms.files.zip_members import ZipError

LOOKED_INTO = 1000
"""The maximum number of files that are opened. The largest are checked first, as archives are large."""

_TAIL_BYTES = 1 << 12
_ARCHIVE_SUFFIXES = (".zip", ".gz", ".bz2", ".xz")


def match_books(patterns: Sequence[str]) -> list[str]:
    """Returns the files that match at least one of the patterns, sorted by name, without repetitions.

    A pattern can also be a folder. It matches all files below it that have the suffix of a text or archive.
    Raises InputError for a pattern without a match.
    """
    paths: set[str] = set()
    for pattern in patterns:
        paths.update(_files_below(pattern) if _is_folder(pattern) else match_inputs([pattern]))
    return sorted(paths)


def _is_folder(pattern: str) -> bool:
    """Returns True if a pattern is the path of a folder.

    On an object store, a path counts as a folder if there are objects below it.
    """
    if is_local(pattern):
        return posixpath.isdir(pattern)
    return bool(_match_below(pattern, 1))


def _files_below(folder: str) -> list[str]:
    found = _match_below(folder)
    folders = set(filter(posixpath.isdir, found)) if is_local(folder) else set()
    books = [path for path in found if is_wanted(path) and path not in folders]
    if not books:
        raise InputError(folder, "the folder contains no book files (*.txt, *.zip)")
    return books


def _match_below(folder: str, limit: int | None = None) -> list[str]:
    below = FileSystems.join(glob.escape(folder.rstrip("/")), "**")
    try:
        (match,) = FileSystems.match([below], [limit])
    except BeamIOError as error:
        if is_local(folder):
            raise
        raise InputError(folder, refusal_of(error)) from error
    return [metadata.path for metadata in match.metadata_list]


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
        if whole and codec:
            _check_end(path, stream, codec, file_bytes)
        try:
            head = packed_files.head_of(stream)
        except DECODE_ERRORS as error:
            if whole:
                raise InputError(path, f"cannot be decompressed: {error}", 0) from None
            return False
        stream.seek(0)
        is_tar = packed_files.is_tar(head)
        if is_tar or zip_members.is_zip(head):
            return bool(codec) or _check_archive(
                path, stream, file_bytes if is_tar else None, whole
            )
    return bool(getattr(decode_file(head), "text", ""))


def _check_end(path: str, stream: BinaryIO, codec: str, file_bytes: int) -> None:
    is_cut = False
    if codec == "bz2":
        is_cut = not bz2_blocks.ends_whole(stream, file_bytes)
    elif codec == "xz":
        stream.seek(max(file_bytes - _TAIL_BYTES, 0))
        is_cut = not stream.read(_TAIL_BYTES).rstrip(b"\0").endswith(b"YZ")
    stream.seek(0)
    if is_cut:
        problem = f"the file ends inside its {codec} data: it is truncated or still being written"
        raise InputError(path, problem, file_bytes)


def _check_archive(path: str, stream: BinaryIO, tar_bytes: int | None, whole: bool) -> bool:
    """Returns True if an uncompressed archive contains a file that may be a text.

    Args:
      tar_bytes: size of a .tar in bytes; None for a .zip.
      whole: True to raise InputError if the archive is damaged or truncated.
    """
    has_wanted = False
    try:
        is_zip = tar_bytes is None
        members = zip_members.list_zip(stream) if is_zip else read_members(stream, tar_bytes)
        for member in members:
            has_wanted |= is_wanted(member.name)
    except (TarError, ZipError) as error:
        if whole:
            raise InputError(path, error.message, error.offset) from None
    return has_wanted
