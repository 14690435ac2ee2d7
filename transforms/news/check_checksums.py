"""Compares the files of a One Billion Word build with a list of MD5 checksums.

A file that the original scripts write, such as a shard, is called an artefact. A build may store an artefact
in several files.

Matches a list of MD5 checksums with the files of a One Billion Word build, to plan their comparison.

A file that the original scripts write, such as a shard, is called an artefact.
"""

import functools
import hashlib
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.io.filesystems import FileSystems

from ..files import counters, read_files
from ..files.builds.check_builds import UNLISTED
from ..files.builds.finished_builds import Build, CorpusFile, path_below, read_file
from ..files.distribution import SpreadAll
from ..files.line_blocks import FEATURE, make_table
from ..files.text import Difference, describe_difference, find_difference
from . import artefacts

STAGE = "check-checksums"
READ_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 24  # limit for damaged files without line feeds


class StoredFile(NamedTuple):
    """A file of a build, with the SHA-256 that the manifest of the build lists for it."""

    path: str
    sha256: str  # "" if the manifest does not list the file


class Comparison(NamedTuple):
    """A file of the original scripts (an artefact) that is both in the checksum list and in the build."""

    name: str  # in the list
    md5: str  # in the list
    files: tuple[StoredFile, ...]  # one file, or the parts to concatenate, in order
    reference: tuple[str, ...]  # paths of the artefact in the reference folder; () if missing
    twin: str  # Parquet file of the build with the same lines; "" if none


class CheckChecksums(beam.PTransform):
    """Compares the artefacts of a build with a list of MD5 checksums. Pipeline → PCollection[Finding].

    There is one finding per artefact. Its status is EQUAL, DIFFERENT or DAMAGED.
    """

    def __init__(self, comparisons: Iterable[Comparison]):
        super().__init__()
        self.comparisons = list(comparisons)

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "SpreadArtefacts" >> SpreadAll(self.comparisons)
            | "CheckArtefact" >> beam.Map(check_artefact).with_output_types(artefacts.Finding)
        )


def check_artefact(asked: Comparison) -> artefacts.Finding:
    """Compares the MD5 of an artefact in a build with that in the checksum list.

    If they differ and there is a reference, the artefact is also compared with it, line by line, and the
    finding describes the first line that differs. The reference is the same artefact in the published
    release, or in the output of the original scripts.
    """
    paths = [file.path for file in asked.files]
    digest = hashlib.md5(usedforsecurity=False)
    for path in paths:
        with read_files.open_raw(path) as stream:
            while piece := stream.read(READ_BYTES):
                digest.update(piece)
                counters.count(STAGE, "text_bytes", len(piece))
    found = digest.hexdigest()
    counters.count(STAGE, "files", len(paths))
    counters.flush()
    if found == asked.md5:
        return artefacts.Finding(artefacts.Status.EQUAL, asked.name, found)
    # A file that the manifest does not list has no known SHA-256, so it counts as damaged.
    is_whole = all(read_files.hash_input("", path).sha256 == sha256 for path, sha256 in asked.files)
    remarks = [f"has the MD5 {found}, but {asked.md5} in the list"]
    if not is_whole:
        remarks.append("is not what the build wrote, according to the SHA-256 in its manifest")
    if asked.reference:
        difference = find_difference(_read_lines(paths), _read_lines(asked.reference))
        remarks.append(_describe(difference, "the reference"))
    elif not is_whole and asked.twin:
        remarks.append(_compare_with_twin(paths, asked.twin))
    return artefacts.Finding(
        artefacts.Status.DIFFERENT if is_whole else artefacts.Status.DAMAGED,
        asked.name,
        "; ".join(remarks),
    )


def _compare_with_twin(paths: Iterable[str], twin: str) -> str:
    try:
        found = find_difference(map(_as_text, _read_lines(paths)), _read_twin(twin))
    except read_files.InputError as error:
        return f"the Parquet file with the same lines cannot be read either: {error}"
    return _describe(found, "the build's own Parquet")


def _describe(found: Difference | None, other: str) -> str:
    if not found:
        return f"equals {other}"
    return f"first difference: {describe_difference(found, 'the build', other)}"


def _read_lines(paths: Iterable[str]) -> Iterator[bytes]:
    """Yields the lines of a text that is stored in one or several files.

    Lines longer than MAX_LINE_BYTES are split; they occur only in damaged files.
    """
    begun = b""
    for path in paths:
        with read_files.open_raw(path) as stream:
            for piece in iter(functools.partial(stream.readline, MAX_LINE_BYTES), b""):
                begun += piece
                if begun.endswith(b"\n") or len(begun) >= MAX_LINE_BYTES:
                    yield begun
                    begun = b""
    if begun:
        yield begun


def _as_text(line: bytes) -> bytes:
    """Converts a line of a text file to the form that it has in the Parquet file of the build.

    In the Parquet file, characters that are valid UTF-8 only for Perl are replaced.
    """
    if line.isascii():
        return line
    try:
        return make_table(line).block
    except pa.ArrowInvalid:  # a damaged line; the comparison reports it
        return line


def _read_twin(path: str) -> Iterator[bytes]:
    for rows in read_file(CorpusFile(path, "", "", "", ""), [FEATURE]):
        for line in rows.table.column(FEATURE).to_pylist():
            yield f"{line}\n".encode()


# Details of findings about files that are not in the list.
OF_BUILD = "of the build"
COMPARABLE = "a shard or a part of a checkpoint"
STRANGER = "nor in the manifest"


class Plan(NamedTuple):
    """The artefacts to compare, and the findings that are known without reading files."""

    comparisons: Sequence[Comparison]
    known: Sequence[artefacts.Finding]
    bytes: int  # total size of the files of the build to read


def read_list(path: str) -> list[artefacts.ListedSum]:
    """Reads a list of MD5 checksums. `path` may be a pattern that matches one file.

    Raises InputError if the list is invalid, or if the pattern does not match exactly one file.
    """
    found = read_files.match_inputs([path])
    if len(found) > 1:
        raise read_files.InputError(
            path, f"{len(found)} files match this pattern; give the path of one list of checksums"
        )
    with read_files.open_raw(found[0]) as file:
        text = file.read().decode("utf-8", "replace")
    try:
        return artefacts.read_checksums(text)
    except artefacts.MalformedListError as error:
        raise read_files.InputError(found[0], str(error)) from None


def plan_comparisons(
    build: Build, listed: Iterable[artefacts.ListedSum], reference: str = ""
) -> Plan:
    """Plans which artefacts to compare: finds each file of a checksum list among the files of a build.

    Args:
      build: the build to compare with the list.
      listed: the names and MD5 checksums of the artefacts.
      reference: folder with the published release or the output of the original scripts; "" if there is none.

    Raises InputError if `reference` is not a folder, or if it contains an artefact twice.
    """
    sizes = list_below(build.folder)
    finder = artefacts.ArtefactFinder(sizes)
    if reference:
        read_files.check_folder(reference)
    references = artefacts.ArtefactFinder(list_below(reference) if reference else ())
    hashes = {file["name"]: file["sha256"] for file in build.manifest["outputs"]}
    comparisons: list[Comparison] = []
    known: list[artefacts.Finding] = []
    named: set[str] = set()
    for one in listed:
        try:
            names = finder.find(one.name)
        except artefacts.ArtefactError as error:
            known.append(artefacts.Finding(artefacts.Status.MISSING, one.name, str(error)))
            continue
        if not names:
            known.append(_explain_absence(one.name, build))
            continue
        named.update(names)
        twin = artefacts.parquet_twin(names[0])
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


def _find_reference(finder: artefacts.ArtefactFinder, folder: str, name: str) -> tuple[str, ...]:
    """Returns the paths of the reference files that make up the artefact `name`; () if there are none.

    `finder` knows the files of the reference folder, `folder`.
    """
    try:
        return tuple(path_below(folder, found) for found in finder.find(name))
    except artefacts.ArtefactError as error:
        raise read_files.InputError(folder, f"{name}: {error}") from None


def list_below(folder: str, inside: str = "") -> dict[str, int]:
    """Returns name → size in bytes of all files below a folder. Names are relative to `folder`.

    If `inside` is given, only this subfolder is listed.
    """
    here = path_below(folder, inside)
    start = f"{inside}/" if inside else ""
    files = read_files.list_files(here)
    sizes = {f"{start}{name}": size for name, size in files.items()}
    has_folders = FileSystems.get_filesystem(folder).has_dirs()
    for name in read_files.list_subfolders(here):
        if has_folders or name not in files:
            below = list_below(folder, f"{start}{name}")
            if below:  # some file systems also list folders as files
                sizes.pop(f"{start}{name}", None)
            sizes |= below
    return sizes


def _explain_absence(name: str, build: Build) -> artefacts.Finding:
    kind = artefacts.kind_of(name)
    if kind in artefacts.SHARDS:
        return artefacts.Finding(artefacts.Status.MISSING, name, "is not in the build")
    if kind in artefacts.CHECKPOINTS and _keeps(build, posixpath.basename(name)):
        return artefacts.Finding(
            artefacts.Status.MISSING,
            name,
            "is not in the build, although the build has kept checkpoints",
        )
    if kind in artefacts.CHECKPOINTS:
        why = "the build was made without checkpoints; --checkpoints keeps them"
    elif kind == artefacts.Kind.OTHER:
        why = "not an artefact of a build"
    else:
        why = f"{kind}, which is not a part of a build"
    return artefacts.Finding(artefacts.Status.NOT_COMPARED, name, why)


def _keeps(build: Build, base: str) -> bool:
    parts = (
        artefacts.part_of(posixpath.basename(file["name"])) for file in build.manifest["outputs"]
    )
    return any(part and part[0] == base for part in parts)


def _describe_unnamed(name: str, hashes: Mapping[str, str]) -> artefacts.Finding:
    part = artefacts.part_of(name)
    if {artefacts.kind_of(name), artefacts.kind_of(part[0] if part else "")} & {
        *artefacts.SHARDS,
        *artefacts.CHECKPOINTS,
    }:
        detail = COMPARABLE
    elif name in hashes or name in UNLISTED:
        detail = OF_BUILD
    else:
        detail = STRANGER
    return artefacts.Finding(artefacts.Status.NOT_IN_LIST, name, detail)
