"""Stores large byte strings (pieces) between two stages, so that the runner only passes references to them.

The in-process runner keeps two or three copies of all data between stages in memory, and sends each worker
its part as one message. The data of a whole corpus would fill the memory. So on local file systems, which the
workers share, pieces are written to files in a scratch folder of the build. On object stores, where a request
takes as long as the transfer of a megabyte, each large piece becomes an object, and small pieces are
compressed and shuffled by the runner.
"""

import io
import json
import os
import pathlib
import threading
import uuid
from typing import BinaryIO

from apache_beam.io.filesystems import FileSystems

from .line_blocks import pack_block, unpack_block
from .read_files import read_raw
from .stores import is_local, named_in_errors, write_object

SCRATCH = ".scratch"
"""Name of the scratch folder in a build that is running. It is removed when the build is finished."""

OBJECT_BYTES = 1 << 20
"""Compressed pieces of this size or larger are written as objects."""

_REFERENCE = b"@"  # prefix of references to files; compressed pieces never begin with it
_OBJECT = b"*"  # prefix of paths of objects; compressed pieces never begin with it
_lock = threading.Lock()
_files: dict[tuple[str, int], BinaryIO] = {}


class Scratch:
    """Stores byte strings (pieces) until a later stage fetches them.

    Args:
      folder: output folder of the build.
    """

    def __init__(self, folder: str):
        self.is_local = is_local(folder)
        self._folder = FileSystems.join(folder, SCRATCH)

    def put(self, piece: bytes) -> bytes:
        """Stores a byte string and returns a reference to it for `fetch`.

        On an object store, the reference to a small byte string contains the string itself, compressed.
        """
        return self._put_local(piece) if self.is_local else self._put_object(pack_block(piece))

    def put_text(self, text: str) -> bytes:
        """Stores a text, compressed. Returns a reference for `fetch_text`."""
        packed = pack_text(text)
        return self._put_local(packed) if self.is_local else self._put_object(packed)

    def _put_local(self, piece: bytes) -> bytes:
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

    def part(self, packed: bytes, piece: bytes, start: int, end: int) -> bytes:
        """Returns a reference to the bytes from `start` to `end` of a stored byte string, `piece`.

        `packed` is the reference to the whole byte string. If it refers to a file, the bytes are not copied,
        and `piece` is ignored.
        """
        if not packed.startswith(_REFERENCE):
            return self.put(piece[start:end])
        path, offset, _ = json.loads(packed[len(_REFERENCE) :])
        return _refer(path, offset + start, end - start)


def fetch(packed: bytes) -> bytes:
    """Returns the byte string that a reference from `Scratch.put` refers to."""
    stored = _read(packed)
    return stored if packed.startswith(_REFERENCE) else unpack_block(stored)


def fetch_text(packed: bytes) -> str:
    """Returns the text that a reference from `Scratch.put_text` refers to.

    Also unpacks the result of `pack_text`.
    """
    return unpack_block(_read(packed)).decode("utf-8")


def pack_text(text: str) -> bytes:
    """Returns the text, compressed, without storing it."""
    return pack_block(text.encode("utf-8"))


def _read(packed: bytes) -> bytes:
    """Returns the stored bytes that a reference refers to.

    Some references contain the stored bytes themselves; they are returned unchanged.
    """
    if packed.startswith(_OBJECT):
        return read_raw(packed[len(_OBJECT) :].decode())
    if not packed.startswith(_REFERENCE):
        return packed
    path, offset, size = json.loads(packed[len(_REFERENCE) :])
    file = os.open(path, os.O_RDONLY)  # faster than a file object, once for each article
    try:
        return os.pread(file, size, offset)
    finally:
        os.close(file)


def _refer(path: str, offset: int, size: int) -> bytes:
    return _REFERENCE + json.dumps([path, offset, size]).encode()


def _own_file(folder: str) -> BinaryIO:
    """Returns the scratch file of this process in the folder. No other process writes to it."""
    key = folder, os.getpid()
    if key not in _files:
        for closed in [_files.pop(other) for other in list(_files)]:  # files of earlier builds
            closed.close()
        # Parents are not created: a worker that outlives its build must not restore its folder.
        pathlib.Path(folder).mkdir(exist_ok=True)
        own = pathlib.Path(folder, uuid.uuid4().hex)
        _files[key] = own.open("ab")
    return _files[key]
