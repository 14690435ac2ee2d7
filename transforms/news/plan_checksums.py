"""Matches a list of MD5 checksums with the files of a One Billion Word build, to plan their comparison.

A file that the original scripts write, such as a shard, is called an artefact.
"""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.builds.check_files import UNLISTED
from corpusmill.transforms.files.builds.finished_builds import Build, path_below
from corpusmill.transforms.files.list_folders import check_folder, list_files, list_subfolders
from corpusmill.transforms.files.open_input import InputError, match_inputs, open_raw
from corpusmill.transforms.news.artefact_names import (
    CHECKPOINTS,
    SHARDS,
    Kind,
    kind_of,
    parquet_twin,
    part_of,
)
from corpusmill.transforms.news.check_checksums import Comparison, StoredFile
from corpusmill.transforms.news.checksum_findings import Finding, Status
from corpusmill.transforms.news.checksum_list import ListedSum, MalformedListError, read_checksums
from corpusmill.transforms.news.find_artefacts import ArtefactError, ArtefactFinder

# Details of findings about files that are not in the list.
OF_BUILD = "of the build"
COMPARABLE = "a shard or a part of a checkpoint"
STRANGER = "nor in the manifest"


class Plan(NamedTuple):
    """The artefacts to compare, and the findings that are known without reading files."""

    comparisons: Sequence[Comparison]
    known: Sequence[Finding]
    bytes: int  # total size of the files of the build to read


def read_list(path: str) -> list[ListedSum]:
    """Reads a list of MD5 checksums. `path` may be a pattern that matches one file.

    Raises InputError if the list is invalid, or if the pattern does not match exactly one file.
    """
    found = match_inputs([path])
    if len(found) > 1:
        raise InputError(
            path, f"{len(found)} files match this pattern; give the path of one list of checksums"
        )
    with open_raw(found[0]) as file:
        text = file.read().decode("utf-8", "replace")
    try:
        return read_checksums(text)
    except MalformedListError as error:
        raise InputError(found[0], str(error)) from None


def plan_comparisons(build: Build, listed: Iterable[ListedSum], reference: str = "") -> Plan:
    """Plans which artefacts to compare: finds each file of a checksum list among the files of a build.

    Args:
      build: the build to compare with the list.
      listed: the names and MD5 checksums of the artefacts.
      reference: folder with the published release or the output of the original scripts; "" if there is none.

    Raises InputError if `reference` is not a folder, or if it contains an artefact twice.
    """
    sizes = list_below(build.folder)
    finder = ArtefactFinder(sizes)
    if reference:
        check_folder(reference)
    references = ArtefactFinder(list_below(reference) if reference else ())
    hashes = {file["name"]: file["sha256"] for file in build.manifest["outputs"]}
    comparisons: list[Comparison] = []
    known: list[Finding] = []
    named: set[str] = set()
    for one in listed:
        try:
            names = finder.find(one.name)
        except ArtefactError as error:
            known.append(Finding(Status.MISSING, one.name, str(error)))
            continue
        if not names:
            known.append(_explain_absence(one.name, build))
            continue
        named.update(names)
        twin = parquet_twin(names[0])
        comparisons.append(
            Comparison(
                one.name,
                one.md5,
                tuple(StoredFile(path_below(build.folder, of), hashes.get(of, "")) for of in names),
                _find_reference(references, reference, one.name),
                path_below(build.folder, twin) if twin in sizes else "",
            )
        )
    known += [_describe_unnamed(name, hashes) for name in sorted(set(sizes) - named)]
    return Plan(comparisons, known, sum(sizes[name] for name in named))


def _find_reference(finder: ArtefactFinder, folder: str, name: str) -> tuple[str, ...]:
    """Returns the paths of the reference files that make up the artefact `name`; () if there are none.

    `finder` knows the files of the reference folder, `folder`.
    """
    try:
        return tuple(path_below(folder, found) for found in finder.find(name))
    except ArtefactError as error:
        raise InputError(folder, f"{name}: {error}") from None


def list_below(folder: str, inside: str = "") -> dict[str, int]:
    """Returns name → size in bytes of all files below a folder. Names are relative to `folder`.

    If `inside` is given, only this subfolder is listed.
    """
    here = path_below(folder, inside)
    start = f"{inside}/" if inside else ""
    files = list_files(here)
    sizes = {f"{start}{name}": size for name, size in files.items()}
    has_folders = FileSystems.get_filesystem(folder).has_dirs()
    for name in list_subfolders(here):
        if has_folders or name not in files:
            below = list_below(folder, f"{start}{name}")
            if below:  # some file systems also list folders as files
                sizes.pop(f"{start}{name}", None)
            sizes |= below
    return sizes


def _explain_absence(name: str, build: Build) -> Finding:
    kind = kind_of(name)
    if kind in SHARDS:
        return Finding(Status.MISSING, name, "is not in the build")
    if kind in CHECKPOINTS and _keeps(build, posixpath.basename(name)):
        return Finding(
            Status.MISSING, name, "is not in the build, although the build has kept checkpoints"
        )
    if kind in CHECKPOINTS:
        why = "the build was made without checkpoints; --checkpoints keeps them"
    elif kind == Kind.OTHER:
        why = "not an artefact of a build"
    else:
        why = f"{kind}, which is not a part of a build"
    return Finding(Status.NOT_COMPARED, name, why)


def _keeps(build: Build, base: str) -> bool:
    parts = (part_of(posixpath.basename(file["name"])) for file in build.manifest["outputs"])
    return any(part and part[0] == base for part in parts)


def _describe_unnamed(name: str, hashes: Mapping[str, str]) -> Finding:
    part = part_of(name)
    if {kind_of(name), kind_of(part[0] if part else "")} & {*SHARDS, *CHECKPOINTS}:
        detail = COMPARABLE
    elif name in hashes or name in UNLISTED:
        detail = OF_BUILD
    else:
        detail = STRANGER
    return Finding(Status.NOT_IN_LIST, name, detail)
