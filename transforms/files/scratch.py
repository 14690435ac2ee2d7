"""Stores large pieces between two stages, so that the runner carries only references to them.

The in-process runner holds all that travels between stages in memory, two or three times over, and sends a
worker its part as one message. Pieces of a corpus would fill it. So they are written to files beside the
build, wherever it is on a local file system, which the workers share. On object stores, where a request
takes as long as a megabyte, large pieces become an object each, and small ones travel through the
runner's own shuffle, compressed.
"""

import io
import json
import os
import pathlib
import threading
import uuid
from typing import BinaryIO

from apache_beam.io.filesystems import FileSystems

from transforms.files.open_input import open_raw
from transforms.files.stores import is_local, named_in_errors, write_object
from transforms.text.lines.line_blocks import pack_block, unpack_block

SCRATCH = ".scratch"
"""Folder in a build under construction. It is gone when the build is finished."""

OBJECT_BYTES = 1 << 20
"""A compressed piece of so many bytes is worth an object."""

_REFERENCE = b"@"  # no compressed piece begins so
_OBJECT = b"*"  # nor so; what follows is the path of a compressed piece
_lock = threading.Lock()
_files: dict[tuple[str, int], BinaryIO] = {}


class Scratch:
    """Keeps pieces until a later stage fetches them.

    Args:
      folder: of the build.
    """

    def __init__(self, folder: str):
        self._is_local = is_local(folder)
        self._folder = FileSystems.join(folder, SCRATCH)

    def put(self, piece: bytes) -> bytes:
        """Stores a piece, and returns the reference that travels in its place: few bytes if it is written
        to a file.
        """
        if not self._is_local:
            return self._put_object(pack_block(piece))
        with _lock, named_in_errors(self._folder):
            file = _own_file(self._folder)
            offset = file.tell()
            file.write(piece)
            file.flush()
        return _refer(file.name, offset, len(piece))

    def _put_object(self, packed: bytes) -> bytes:
        if len(packed) < OBJECT_BYTES:
            return packed
        path = f"{self._folder}/{uuid.uuid4().hex}"
        write_object(path, io.BytesIO(packed), len(packed))
        return _OBJECT + path.encode()

    def put_text(self, text: str) -> bytes:
        """The same of a text, compressed: for `fetch_text`."""
        return self.put(pack_block(text.encode("utf-8")))

    def part(self, packed: bytes, piece: bytes, start: int, end: int) -> bytes:
        """Returns the reference for a part of a stored piece; in files the part stays where it is."""
        if not packed.startswith(_REFERENCE):
            return self.put(piece[start:end])
        path, offset, _ = json.loads(packed[len(_REFERENCE) :])
        return _refer(path, offset + start, end - start)


def fetch(packed: bytes) -> bytes:
    """The piece that was put."""
    if packed.startswith(_OBJECT):
        with open_raw(packed[len(_OBJECT) :].decode()) as stream:
            return unpack_block(stream.read())
    if not packed.startswith(_REFERENCE):
        return unpack_block(packed)
    path, offset, size = json.loads(packed[len(_REFERENCE) :])
    with pathlib.Path(path).open("rb") as file:
        file.seek(offset)
        return file.read(size)


def fetch_text(packed: bytes) -> str:
    """The text that was put."""
    return unpack_block(fetch(packed)).decode("utf-8")


def _refer(path: str, offset: int, size: int) -> bytes:
    return _REFERENCE + json.dumps([path, offset, size]).encode()


def _own_file(folder: str) -> BinaryIO:
    """The file that this process writes to in the folder; no other process does."""
    key = folder, os.getpid()
    if key not in _files:
        for closed in [_files.pop(other) for other in list(_files)]:  # of builds that are over
            closed.close()
        # Not with its parents: a worker that outlives its build must not bring that back.
        pathlib.Path(folder).mkdir(exist_ok=True)
        own = pathlib.Path(folder, uuid.uuid4().hex)
        _files[key] = own.open("ab")
    return _files[key]
