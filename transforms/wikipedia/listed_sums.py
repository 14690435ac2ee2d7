"""Reads the file SHA256SUMS that is in the folder of a Content File Export."""

import posixpath
from collections.abc import Iterable

from corpusmill.transforms.files.open_input import InputError, is_there, open_raw
from corpusmill.transforms.wikipedia.dump_folder import UnusableDumpError
from corpusmill.transforms.wikipedia.export_folder import SUMS, parse_name, parse_sums


def read_sums(path: str) -> dict[str, str]:
    """Reads a list of checksums. Returns file name → SHA-256.

    Raises UnusableDumpError if the list is damaged.
    """
    with open_raw(path) as stream:
        return parse_sums(stream.read())


def sums_beside(paths: Iterable[str]) -> dict[str, str]:
    """Reads the checksum lists in the folders of export files. Returns path → SHA-256 of all listed files.

    Paths that are not export files are ignored. Raises InputError for a damaged list.
    """
    folders = dict.fromkeys(posixpath.dirname(path) for path in paths if parse_name(path))
    found: dict[str, str] = {}
    for folder in folders:
        path = posixpath.join(folder, SUMS)
        try:
            sums = read_sums(path) if is_there(path) else {}
        except UnusableDumpError as error:
            raise InputError(path, str(error)) from None
        found |= {posixpath.join(folder, name): digest for name, digest in sums.items()}
    return found
