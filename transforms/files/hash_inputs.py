"""Computes the size and the SHA-256 of input files for the manifest."""

import hashlib
import posixpath
from collections.abc import Mapping, Sequence

import apache_beam as beam
from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.open_input import InputError, file_bytes_of, open_raw
from corpusmill.transforms.files.records import InputFile
from corpusmill.transforms.files.spread import SpreadAll
from corpusmill.transforms.files.stores import is_local, refusal_of

READ_BYTES = 1 << 20


class HashInputs(beam.PTransform):
    """Computes the SHA-256 of input files. Pipeline → PCollection[InputFile].

    Raises InputError if the size of a file, or the checksum of an object in a store, has changed since the
    pipeline was constructed. In this case, the content that the build read may differ from the content that
    was hashed for the manifest.

    Args:
      paths: role of an input, such as "dump" → paths of its files.
      sums: path → expected SHA-256, from the SHA256SUMS file in its folder. A different hash raises
        InputError.
    """

    def __init__(self, paths: Mapping[str, Sequence[str]], sums: Mapping[str, str] | None = None):
        super().__init__()
        sums = sums or {}
        self.files = sorted(
            (role, path, file_bytes_of(path), checksum_of(path), sums.get(path, ""))
            for role, of_role in paths.items()
            for path in of_role
        )

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root | "SpreadFiles" >> SpreadAll(self.files) | "Hash" >> beam.MapTuple(hash_unchanged)
        )


def checksum_of(path: str) -> str:
    """Returns the checksum that an object store has stored for an object; "" for a local file."""
    if is_local(path):
        return ""
    try:
        return str(FileSystems.checksum(path))
    except BeamIOError as error:
        raise InputError(path, refusal_of(error)) from error


def hash_unchanged(
    role: str, path: str, file_bytes: int, checksum: str = "", sha256: str = ""
) -> InputFile:
    """Computes the hash of a file, and checks that the file has not changed.

    Raises InputError if its size, checksum or SHA-256 differs from that in the arguments. If `sha256` is "",
    it is not compared. `role` is the role of the file in the build, such as "dump".
    """
    file = hash_input(role, path)
    if file.bytes != file_bytes:
        message = f"the file is changing: it had {file_bytes} bytes, and now {file.bytes}"
        raise InputError(path, message, file.bytes)
    if checksum_of(path) != checksum:
        raise InputError(path, "the file is changing: it was written while it was read")
    if sha256 and sha256 != file.sha256:
        raise InputError(
            path, f"its SHA-256 is {file.sha256}, but SHA256SUMS beside it lists {sha256}"
        )
    return file


def hash_input(role: str, path: str) -> InputFile:
    """Reads a file once, and returns its size and SHA-256.

    `role` is the role of the file in the build, such as "dump".
    """
    digest = hashlib.sha256()
    size = 0
    with open_raw(path) as stream:
        while data := stream.read(READ_BYTES):
            digest.update(data)
            size += len(data)
    return InputFile(role, posixpath.basename(path), size, digest.hexdigest())
