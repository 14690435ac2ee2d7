"""Compares a build of One Billion Word with a list of MD5 checksums.

The list is the one published with the benchmark, or the output of md5sum(1). Lines without a checksum are
skipped, because the published list is a README.
"""

import hashlib
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.builds.check_builds import Fault
from corpusmill.transforms.files.builds.finished_builds import Build, files_below
from corpusmill.transforms.files.read_files import InputError, check_folder, match_inputs, open_raw
from corpusmill.transforms.files.text import describe_difference, find_difference

READ_BYTES = 1 << 20
MD5_DIGITS = 32
_LISTED = re.compile(r"\s*([0-9a-fA-F]{24,})[ \t][ *]?(\S.*)")
_PART = re.compile(r"-\d{5}-of-\d{5}$")
_SHARD = re.compile(r"news\.\w+(\.heldout)?-\d{5}-of-\d{5}")


class Comparison(NamedTuple):
    """The result of comparing a build with a list of checksums."""

    listed: int  # number of files in the list
    equal: int  # number of these files that the build has, with the listed checksum
    faults: list[Fault]  # files that differ, and shards that the build does not have


def compare_with_list(build: Build, md5_list: str, reference: str = "") -> Comparison:
    """Compares the files of a build with the MD5 checksums of a list.

    Files are found by their names; their folders may differ. The list may have other files than the build,
    such as the raw input, but the build must have all shards of the list.

    Args:
      build: the build.
      md5_list: the path of the list.
      reference: folder with the published release or the output of the original scripts. If a file of the
        build differs from the list, the fault has the first line that differs from this folder. "" for none.

    Raises InputError if the list is invalid, or if `reference` is not a folder.
    """
    sums = read_list(md5_list)
    if reference:
        check_folder(reference)
    ours = files_below(build.folder)
    theirs = files_below(reference.rstrip("/")) if reference else []
    equal, faults = 0, []
    for name, md5 in sums.items():
        paths = _find(name, ours)
        found = _md5_of(paths) if paths else ""
        equal += found == md5
        if paths and found != md5:
            faults.append(Fault(name, _describe(paths, found, md5, _find(name, theirs))))
        elif not paths and _SHARD.fullmatch(posixpath.basename(name)):
            faults.append(Fault(name, "is in the list of checksums, but not in the build"))
    if not equal and not faults:
        faults.append(Fault(md5_list, "lists no file of the build"))
    return Comparison(len(sums), equal, faults)


def read_list(path: str) -> dict[str, str]:
    """Reads a list of MD5 checksums. Returns name of a file → its MD5 in lower case.

    Raises InputError if a checksum is invalid, if a file has two, or if the list has none.
    """
    [path] = match_inputs([path])[:1]
    sums: dict[str, str] = {}
    with open_raw(path) as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, 1):
        if match := _LISTED.fullmatch(line):
            md5, name = match[1].lower(), match[2]
            if len(md5) != MD5_DIGITS:
                wrong = f"{len(md5)} hexadecimal digits before {name}; an MD5 checksum has 32"
                raise InputError(path, f"line {number}: {wrong}")
            if sums.setdefault(name, md5) != md5:
                raise InputError(path, f"line {number}: {name} has another checksum above")
    if not sums:
        raise InputError(path, "the list has no MD5 checksum")
    return sums


def _find(name: str, paths: Sequence[str]) -> list[str]:
    """Returns the paths of a file; several if it is stored in parts, such as "name-00000-of-00002"."""
    base = posixpath.basename(name)
    named = {path: posixpath.basename(path) for path in paths}
    return sorted(path for path in paths if base in (named[path], _PART.sub("", named[path])))


def _md5_of(paths: Sequence[str]) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    for path in paths:
        with open_raw(path) as stream:
            while piece := stream.read(READ_BYTES):
                digest.update(piece)
    return digest.hexdigest()


def _describe(paths: Sequence[str], found: str, md5: str, reference: Sequence[str]) -> str:
    told = f"has the MD5 {found}, but {md5} in the list"
    if not reference:
        return told
    if not (difference := find_difference(_read_lines(paths), _read_lines(reference))):
        return f"{told}; equals the reference"
    shown = describe_difference(difference, "the build", "the reference")
    return f"{told}; first difference: {shown}"


def _read_lines(paths: Sequence[str]) -> Iterator[bytes]:
    """Yields the lines of a text that is stored in one or several files."""
    for path in paths:
        with open_raw(path) as stream:
            yield from iter(stream.readline, b"")
