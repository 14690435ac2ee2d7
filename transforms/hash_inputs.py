"""Paths → the size and the SHA-256 of the files, so that a manifest can say what was read."""

import hashlib
import posixpath
from collections.abc import Mapping, Sequence

import apache_beam as beam

from transforms.open_input import open_raw
from transforms.records import InputFile

READ_BYTES = 1 << 20


class HashInputs(beam.PTransform):
    """Pipeline → PCollection[InputFile]. Takes {role: paths}."""

    def __init__(self, paths: Mapping[str, Sequence[str]]):
        super().__init__()
        self.paths = sorted((role, path) for role, of_role in paths.items() for path in of_role)

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return root | beam.Create(self.paths) | beam.Reshuffle() | beam.MapTuple(hash_input)


def hash_input(role: str, path: str) -> InputFile:
    """Reads the file once."""
    digest = hashlib.sha256()
    size = 0
    with open_raw(path) as stream:
        while data := stream.read(READ_BYTES):
            digest.update(data)
            size += len(data)
    return InputFile(role, posixpath.basename(path), size, digest.hexdigest())
