"""Where large pieces wait between two stages, so that the runner has to carry only a word about them.

The in-process runner holds all that travels between stages in memory, two or three times over, and sends a
worker its part as one message. Pieces of a corpus would fill it. So they are written to files beside the
build, wherever it is on a local file system, which the workers share; elsewhere, on object stores, they
travel through the runner's own shuffle, compressed.
"""

import json
import os
import pathlib
import threading
import uuid
from typing import BinaryIO

from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from transforms.text.line_blocks import pack_block, unpack_block

SCRATCH = ".scratch"
"""Folder in a build under construction. It is gone when the build is finished."""

_REFERENCE = b"@"  # no compressed piece begins so
_lock = threading.Lock()
_files: dict[tuple[str, int], BinaryIO] = {}


class Scratch:
    """Keeps pieces until a later stage fetches them.

    Args:
      folder: of the build.
    """

    def __init__(self, folder: str):
        is_local = isinstance(FileSystems.get_filesystem(folder), LocalFileSystem)
        self._folder = str(pathlib.Path(folder, SCRATCH)) if is_local else ""

    def put(self, piece: bytes) -> bytes:
        """What has to travel in place of the piece: few bytes where it is written to a file."""
        if not self._folder:
            return pack_block(piece)
        with _lock:
            file = _own_file(self._folder)
            offset = file.tell()
            file.write(piece)
            file.flush()
        return _refer(file.name, offset, len(piece))

    def put_text(self, text: str) -> bytes:
        """The same of a text, compressed: for `fetch_text`."""
        return self.put(pack_block(text.encode("utf-8")))

    def part(self, packed: bytes, piece: bytes, start: int, end: int) -> bytes:
        """What has to travel in place of a part of a piece that was put; in files it stays where it is."""
        if not packed.startswith(_REFERENCE):
            return self.put(piece[start:end])
        path, offset, _ = json.loads(packed[len(_REFERENCE) :])
        return _refer(path, offset + start, end - start)


def fetch(packed: bytes) -> bytes:
    """The piece that was put."""
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
