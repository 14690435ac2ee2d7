"""Compares the files of a One Billion Word build with a list of MD5 checksums.

A file that the original scripts write, such as a shard, is called an artefact. A build may store an artefact
in several files.
"""

import functools
import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.builds.finished_builds import CorpusFile, read_file
from corpusmill.transforms.files.first_difference import (
    Difference,
    describe_difference,
    find_difference,
)
from corpusmill.transforms.files.hash_inputs import hash_input
from corpusmill.transforms.files.line_table import FEATURE, make_table
from corpusmill.transforms.files.open_input import InputError, open_raw
from corpusmill.transforms.files.spread import SpreadAll
from corpusmill.transforms.news.checksum_findings import Finding, Status

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
            | "CheckArtefact" >> beam.Map(check_artefact).with_output_types(Finding)
        )


def check_artefact(asked: Comparison) -> Finding:
    """Compares the MD5 of an artefact in a build with that in the checksum list.

    If they differ and there is a reference, the artefact is also compared with it, line by line, and the
    finding describes the first line that differs. The reference is the same artefact in the published
    release, or in the output of the original scripts.
    """
    paths = [file.path for file in asked.files]
    digest = hashlib.md5(usedforsecurity=False)
    for path in paths:
        with open_raw(path) as stream:
            while piece := stream.read(READ_BYTES):
                digest.update(piece)
                counters.count(STAGE, "text_bytes", len(piece))
    found = digest.hexdigest()
    counters.count(STAGE, "files", len(paths))
    counters.flush()
    if found == asked.md5:
        return Finding(Status.EQUAL, asked.name, found)
    # A file that the manifest does not list has no known SHA-256, so it counts as damaged.
    is_whole = all(hash_input("", path).sha256 == sha256 for path, sha256 in asked.files)
    remarks = [f"has the MD5 {found}, but {asked.md5} in the list"]
    if not is_whole:
        remarks.append("is not what the build wrote, according to the SHA-256 in its manifest")
    if asked.reference:
        difference = find_difference(_read_lines(paths), _read_lines(asked.reference))
        remarks.append(_describe(difference, "the reference"))
    elif not is_whole and asked.twin:
        remarks.append(_compare_with_twin(paths, asked.twin))
    return Finding(Status.DIFFERENT if is_whole else Status.DAMAGED, asked.name, "; ".join(remarks))


def _compare_with_twin(paths: Iterable[str], twin: str) -> str:
    try:
        found = find_difference(map(_as_text, _read_lines(paths)), _read_twin(twin))
    except InputError as error:
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
        with open_raw(path) as stream:
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
