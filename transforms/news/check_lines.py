"""Checks files of lines before a build starts: they must be text and look complete. Samples their lines."""

import contextlib
import itertools
from collections.abc import Iterator, Sequence

from ..files.compression import DECODE_ERRORS, codec_of, decompressed, is_binary, kind_of, read_some
from ..files.read_files import InputError, file_bytes_of, open_raw
from ..files.read_lines import MEMBERS, check_end, find_files, read_head, text_stream
from ..files.tar_members import is_tar

KEEP = "; --on-corrupt keep-good builds from the files that are text"
_SAMPLED_FILES = 8
_SAMPLED_BYTES = 1 << 15  # bytes sampled from each file


def check_lines(
    paths: Sequence[str], *, whole: bool = True, members: Sequence[str] = MEMBERS
) -> None:
    """Checks input files of lines, and raises InputError if they cannot be used.

    Files of a known kind other than text, such as PDF, cannot be used, nor can archives without a wanted
    file. An error is also raised if all files together have no line. Only the beginnings and ends of files
    are read, so the contents of compressed archives are not checked. A truncated .gz file is not detected,
    because the format has no end mark.

    Args:
      whole: True to raise an error, too, for truncated files, for files that seem to be binary, and for
        archives with a link instead of a wanted file.
      members: patterns that the names of the wanted files in an archive must match.
    """
    has_text = [_check_file(path, whole, members) for path in paths]
    if not any(has_text):
        raise InputError(", ".join(paths), "the files contain no lines")


def _check_file(path: str, whole: bool, members: Sequence[str]) -> bool:
    """Checks a file, and returns True if it is not empty. Raises InputError if it cannot be used.

    Args:
      whole: as in `check_lines`.
      members: patterns that the names of the wanted files in an archive must match.
    """
    if not (file_bytes := file_bytes_of(path)):
        return False
    with open_raw(path) as stream:
        codec = codec_of(stream)
        head = read_head(path, stream)
        if kind := kind_of(head):
            raise InputError(path, f"the file is {kind}", 0)
        if whole and is_binary(head) and not is_tar(head):
            raise InputError(
                path, f"the file seems to be binary data, not text: {head[:16]!r}{KEEP}", 0
            )
        if whole:
            check_end(path, stream, codec, file_bytes)
    files = find_files(path, members, must_be_whole=whole)
    return bool(head) and any(file.stored_bytes for file in files)


def sample_lines(
    paths: Sequence[str], members: Sequence[str] = MEMBERS
) -> Iterator[tuple[str, list[str]]]:
    """Yields (path, first lines) of a few files, which are evenly spread over the list.

    For a file in an archive, the path of the archive is yielded. Compressed archives are skipped. Damage is
    ignored, because it is reported later, when the files are read.

    Args:
      paths: the files of lines, which may be archives.
      members: patterns that the names of the wanted files in an archive must match.
    """
    step = -(-len(paths) // _SAMPLED_FILES) or 1
    for file in itertools.chain(*(find_files(path, members) for path in paths[::step])):
        with open_raw(file.path) as stream, contextlib.suppress(*DECODE_ERRORS):
            head = read_some(decompressed(text_stream(stream, file)), _SAMPLED_BYTES)
            if not is_tar(head):
                yield file.path, head.decode("utf-8", "ignore").split("\n")
