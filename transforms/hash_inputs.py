"""Paths → the size and the SHA-256 of the files, so that a manifest can say what was read."""

import hashlib
import posixpath
from collections.abc import Mapping, Sequence

import apache_beam as beam

from transforms.open_input import InputError, open_raw
from transforms.read_dumps import file_bytes_of
from transforms.records import InputFile

READ_BYTES = 1 << 20


class HashInputs(beam.PTransform):
    """Pipeline → PCollection[InputFile]. Takes {role: paths}.

    Raises InputError for a file that is not as long any more as when the pipeline was made: what was read
    of it would not be what the manifest says.
    """

    def __init__(self, paths: Mapping[str, Sequence[str]]):
        super().__init__()
        self.files = sorted(
            (role, path, file_bytes_of(path)) for role, of_role in paths.items() for path in of_role
        )

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return root | beam.Create(self.files) | beam.Reshuffle() | beam.MapTuple(hash_unchanged)


def hash_unchanged(role: str, path: str, file_bytes: int) -> InputFile:
    """As `hash_input`. Raises InputError for a file that has not so many bytes."""
    file = hash_input(role, path)
    if file.bytes != file_bytes:
        message = f"the file is changing: it had {file_bytes} bytes, and now {file.bytes}"
        raise InputError(path, message, file.bytes)
    return file


def hash_input(role: str, path: str) -> InputFile:
    """Reads the file once."""
    digest = hashlib.sha256()
    size = 0
    with open_raw(path) as stream:
        while data := stream.read(READ_BYTES):
            digest.update(data)
            size += len(data)
    return InputFile(role, posixpath.basename(path), size, digest.hexdigest())
