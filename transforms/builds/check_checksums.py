"""Files of a build of One Billion Word → whether they have the MD5 sums of a list, and if not, why."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa

from transforms.builds.read_corpus import CorpusFile, read_file
from transforms.files import counters
from transforms.files.open_input import InputError, open_raw
from transforms.files.spread import SpreadAll
from transforms.text.lines.first_difference import Difference, describe_difference, find_difference
from transforms.text.lines.line_blocks import block_of
from transforms.text.lines.line_table import FEATURE, make_table
from transforms.text.news.checksum_reasons import Finding, Status

STAGE = "check-checksums"
READ_BYTES = 1 << 20
MAX_BLOCK_BYTES = 1 << 26  # of a damaged file that has no line feeds


class StoredFile(NamedTuple):
    """A file of a build, and what its manifest says of it."""

    path: str
    sha256: str  # "" where the manifest does not list it


class Comparison(NamedTuple):
    """An artefact that a list and a build have."""

    name: str  # as the list says
    md5: str  # as the list says
    files: tuple[StoredFile, ...]  # one, or the parts of which it is the concatenation, in order
    reference: tuple[str, ...]  # the same artefact of the reference; () where there is none
    twin: str  # Parquet file of the build with the same lines; "" where there is none


class CheckChecksums(beam.PTransform):
    """Pipeline → PCollection[Finding]: each of the comparisons, EQUAL, DIFFERENT or DAMAGED."""

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
    """Reads the artefact once, and once or twice more where it does not fit the list."""
    paths = [file.path for file in asked.files]
    found = _hash(hashlib.md5(usedforsecurity=False), _counted(read_pieces(paths)))
    counters.count(STAGE, "files", len(paths))
    counters.flush()
    if found == asked.md5:
        return Finding(Status.EQUAL, asked.name, found)
    is_whole = all(map(_is_as_written, asked.files))
    remarks = [f"has the MD5 {found}, {asked.md5} in the list"]
    if not is_whole:
        remarks.append("is not what the build has written, by the SHA-256 in its manifest")
    if asked.reference:
        remarks += _compare_with_reference(asked)
    elif not is_whole and asked.twin:
        remarks.append(_compare_with_twin(paths, asked.twin))
    return Finding(Status.DIFFERENT if is_whole else Status.DAMAGED, asked.name, "; ".join(remarks))


def read_pieces(paths: Iterable[str]) -> Iterator[bytes]:
    """The bytes of files, one after the other."""
    for path in paths:
        with open_raw(path) as stream:
            while piece := stream.read(READ_BYTES):
                yield piece


def _counted(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        counters.count(STAGE, "text_bytes", len(piece))
        yield piece


def _hash(digest: "hashlib._Hash", pieces: Iterable[bytes]) -> str:
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _is_as_written(file: StoredFile) -> bool:
    """A file that the manifest does not list is nobody's."""
    return _hash(hashlib.sha256(), read_pieces([file.path])) == file.sha256


def _compare_with_reference(asked: Comparison) -> Iterator[str]:
    digest = hashlib.md5(usedforsecurity=False)

    def hashed() -> Iterator[bytes]:
        for piece in read_pieces(asked.reference):
            digest.update(piece)
            yield piece

    found = find_difference(read_pieces(file.path for file in asked.files), hashed())
    if digest.hexdigest() != asked.md5:
        yield f"the reference itself has another MD5 than the list, {digest.hexdigest()}"
    yield _describe(found, "the reference")


def _compare_with_twin(paths: Iterable[str], twin: str) -> str:
    try:
        found = find_difference(_as_texts(_whole_lines(read_pieces(paths))), _read_twin(twin))
    except InputError as error:
        return f"nor can the Parquet file with the same lines be read: {error}"
    return _describe(found, "the build's own Parquet")


def _describe(found: Difference | None, other: str) -> str:
    if not found:
        return f"equals {other}"
    return f"first difference: {describe_difference(found, 'the build', other)}"


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, cut behind line feeds."""
    begun = bytearray()
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        begun += piece[: end or len(piece)]
        if end or len(begun) > MAX_BLOCK_BYTES:
            yield bytes(begun)
            begun = bytearray(piece[end or len(piece) :])
    if begun:
        yield bytes(begun)


def _as_texts(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Blocks as Parquet has their lines: characters that only Perl knows are replaced."""
    for block in blocks:
        try:
            yield make_table(block).block
        except pa.ArrowInvalid:  # damaged, which is what is looked for
            yield block


def _read_twin(path: str) -> Iterator[bytes]:
    for rows in read_file(CorpusFile(path, "", "", "", ""), [FEATURE]):
        column = rows.table.column(FEATURE).cast(pa.binary())
        yield block_of(column.to_pylist())
