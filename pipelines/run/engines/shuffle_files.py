"""Stores the data between the steps of a pipeline in files. Beam's in-process runner would keep it in memory.

The runner stores each collection between two steps in its own process, either as it arrives (ListBuffer) or
grouped by key (GroupingBuffer). The classes here write a collection of more than HELD_BYTES to an unnamed
file, which disappears with the process. A collection to be grouped is split into PARTITIONS by a hash of the
key, and large partitions are split again. A partition is grouped when a worker reads it.

So the memory that is needed does not grow with the input, unless the values of a single key do not fit into
memory.
"""

import contextlib
import os
import tempfile
import zlib
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from apache_beam.coders.coder_impl import create_InputStream, create_OutputStream
from apache_beam.portability.api import beam_fn_api_pb2 as fn_api
from apache_beam.runners.portability.fn_api_runner.execution import GroupingBuffer, ListBuffer
from apache_beam.runners.worker.data_plane import InMemoryDataChannel
from apache_beam.transforms.window import GlobalWindows

from corpusmill.transforms.files.stores import named_in_errors

from .beam_patches import MESSAGE_BYTES

HELD_BYTES = 1 << 22
"""Maximum number of bytes of a collection that are kept in memory. The elements are encoded; as Python
objects, they would be up to ten times as large.
"""

PARTITIONS = 256
"""Number of partitions of a grouped collection. One partition per worker is in memory at a time."""

LARGE_PARTITION_BYTES = 1 << 24
"""A partition with more than this number of bytes is split again before it is grouped."""

_EXTENT_BYTES = 1 << 15  # size of the piece of a partition that is written with one call

_folders: list[str] = []  # folders for new files; the last one is used


@contextlib.contextmanager
def shuffle_folder(folder: str) -> Iterator[None]:
    """During the `with` block, creates all files that hold data between two steps in `folder`.

    Args:
      folder: An existing folder; "" for the system's folder for temporary files.
    """
    _folders.append(folder)
    try:
        yield
    finally:
        _folders.remove(folder)


class _File:
    """An unnamed temporary file. Data is appended at its end, and can be read at any position."""

    def __init__(self) -> None:
        self._folder = (_folders[-1] if _folders else "") or tempfile.gettempdir()
        self._size = 0
        with named_in_errors(self._folder):
            self._file = tempfile.TemporaryFile(  # noqa: SIM115 - closed when nobody holds it
                dir=self._folder, buffering=0
            )

    def write(self, data: bytes | bytearray) -> int:
        """Appends data, and returns its position in the file. Raises OSError, with the name of the folder."""
        at, rest = self._size, memoryview(data)
        with named_in_errors(self._folder):
            while rest:
                rest = rest[self._file.write(rest) :]
        self._size += len(data)
        return at

    def read(self, offset: int, size: int) -> bytes:
        data = os.pread(self._file.fileno(), size, offset)
        while len(data) < size:  # one call returns 2 GiB at most
            more = os.pread(self._file.fileno(), size - len(data), offset + len(data))
            if not more:
                raise OSError(
                    f"{self._folder}: a temporary file is shorter than the data written to it"
                )
            data += more
        return data


class _Chunk(NamedTuple):
    """The position, in a file, of a byte string with encoded elements."""

    file: _File
    offset: int
    size: int


class Spool:
    """A sequence of byte strings. New ones are kept in memory.

    When the byte strings in memory have more than HELD_BYTES in total, they are moved to a file.
    """

    def __init__(self, pieces: Sequence[bytes | _Chunk] = ()):
        self._pieces = [*pieces]
        self._first_held = 0  # index; all pieces before it are in a file or come from another spool
        self._held_bytes = 0
        self._file: _File | None = None

    def append(self, piece: bytes) -> None:
        """Appends a byte string. Raises StoreError if the disk is full."""
        self._pieces.append(piece)
        self._held_bytes += len(piece)
        if self._held_bytes > HELD_BYTES:
            self._file = self._file or _File()
            for at in range(self._first_held, len(self._pieces)):
                held = self._pieces[at]
                if isinstance(held, bytes):
                    self._pieces[at] = _Chunk(self._file, self._file.write(held), len(held))
            self._first_held, self._held_bytes = len(self._pieces), 0

    def extend(self, other: "Spool") -> None:
        """Appends the byte strings of another spool, without copying them."""
        self._pieces += other._pieces

    def __len__(self) -> int:
        return len(self._pieces)

    def size(self) -> int:
        """Returns the total number of bytes."""
        return sum(len(one) if isinstance(one, bytes) else one.size for one in self._pieces)

    def __getitem__(self, places: slice) -> "Spool":
        return Spool(self._pieces[places])

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            yield piece.file.read(piece.offset, piece.size) if isinstance(piece, _Chunk) else piece


class FileListBuffer(ListBuffer):
    """Beam's ListBuffer, with the change that it moves elements to a file in batches of HELD_BYTES."""

    def __init__(self, coder_impl: Any):
        super().__init__(coder_impl)
        self._inputs = Spool()

    def copy(self) -> "FileListBuffer":
        """Returns a copy (see ListBuffer)."""
        new = FileListBuffer(self._coder_impl)
        new._inputs.extend(self._inputs)
        return new

    def partition(self, n: int) -> Any:
        """Returns, for each of `n` workers, its share of the encoded elements (see ListBuffer).

        If all elements together have at most HELD_BYTES, they are dealt one by one, because one of the
        messages in which they arrived may have most of them. Otherwise, messages are dealt, as Beam does.
        """
        if n == 1 or self.cleared or self._inputs.size() > HELD_BYTES:
            return super().partition(n)
        shares = [bytearray() for _ in range(n)]
        dealt = 0
        for message in self._inputs:
            for _, element in _elements_of(message, self._coder_impl):
                shares[dealt % n] += element
                dealt += 1
        return [[bytes(share)] for share in shares]

    def clear(self) -> None:
        """Removes all elements (see ListBuffer)."""
        super().clear()
        self._inputs = Spool()


class FileDataChannel(InMemoryDataChannel):
    """Beam's channel to a worker in the same process, with the change that it moves elements to a file."""

    def __init__(self, inverse: InMemoryDataChannel | None = None, **settings: Any):
        super().__init__(inverse or FileDataChannel(self, **settings), **settings)
        self._inputs = _ElementSpool()

    def input_elements(self, instruction_id: str, *_: Any, **__: Any) -> Iterator[Any]:
        """Yields the elements of an instruction (see DataChannel)."""
        received, self._inputs = self._inputs, _ElementSpool()
        for element in received:
            if element.instruction_id != instruction_id:
                self._inputs.append(element)
            elif isinstance(element, fn_api.Elements.Data):
                if element.data or element.is_last:
                    yield element
            elif not element.is_last:
                yield element


class _ElementSpool:
    """A sequence of Beam messages with elements, most of which are in a file (see Spool)."""

    def __init__(self) -> None:
        self._spool = Spool()

    def append(self, element: Any) -> None:
        kind = b"d" if isinstance(element, fn_api.Elements.Data) else b"t"
        self._spool.append(kind + element.SerializeToString())

    def __iter__(self) -> Iterator[Any]:
        for piece in self._spool:
            of_kind = fn_api.Elements.Data if piece[:1] == b"d" else fn_api.Elements.Timers
            yield of_kind.FromString(piece[1:])


class FileGroupingBuffer(GroupingBuffer):
    """Beam's GroupingBuffer, with the change that it writes its elements to a file.

    It does so when the elements have more than HELD_BYTES in total.
    """

    def __init__(self, *coders_and_windowing: Any, level: int = 0):
        """Makes an empty buffer.

        Args:
          coders_and_windowing: The arguments of GroupingBuffer.
          level: 0 for a whole collection, 1 for a buffer that groups a single large partition.
        """
        super().__init__(*coders_and_windowing)
        self._arguments = coders_and_windowing
        self._level = level
        self._bytes = 0
        self._file: _File | None = None
        self._extents: list[array[int]] = []  # of each partition: offset, size, offset, size …
        self._counts: list[int] = []  # number of elements of each partition
        self._open: list[bytearray] = []  # unwritten part of each partition

    def append(self, elements_data: bytes) -> None:
        """Adds encoded elements (see GroupingBuffer)."""
        if self._file:
            self._deal(elements_data)
            return
        super().append(elements_data)
        self._bytes += len(elements_data)
        if self._bytes > HELD_BYTES:
            self._begin_file()

    def extend(self, input_buffer: Any) -> None:
        """Adds the elements of another buffer (see GroupingBuffer). Both buffers must be in memory.

        The runner never calls this for larger buffers. Raises NotImplementedError if a buffer uses a file.
        """
        if self._file or getattr(input_buffer, "_file", None):
            raise NotImplementedError(
                "cannot add the elements of another buffer: both buffers must be in memory"
            )
        super().extend(input_buffer)

    def partition(self, n: int) -> Any:
        """Returns, for each of `n` workers, an iterable of encoded groups (see GroupingBuffer)."""
        if not self._file:
            return super().partition(n)
        for partition, open_extent in enumerate(self._open):
            if open_extent:
                self._write_extent(partition)
        sizes = map(self._size_of, range(PARTITIONS))
        shares = _share_evenly(_loads([*sizes], self._counts), n)
        return [_Groups(self, partitions) for partitions in shares]

    def _size_of(self, partition: int) -> int:
        return sum(self._extents[partition][1::2])

    def groups_of(self, partition: int) -> Iterator[bytes]:
        """Yields the groups of a partition, encoded as byte strings of about MESSAGE_BYTES."""
        assert self._file
        extents, size = self._extents[partition], self._size_of(partition)
        pieces = map(self._file.read, extents[::2], extents[1::2])
        if size > LARGE_PARTITION_BYTES and not self._level:
            finer = FileGroupingBuffer(*self._arguments, level=1)
            finer._begin_file()
            for piece in pieces:
                finer.append(piece)
            (groups,) = finer.partition(1)
            yield from groups
            return
        grouped = GroupingBuffer(*self._arguments)
        for piece in pieces:
            grouped.append(piece)
        yield from self._messages(grouped._table, size)

    def _messages(self, table: dict[bytes, list[Any]], size: int) -> Iterator[bytes]:
        elements = sum(map(len, table.values()))
        in_message = elements * MESSAGE_BYTES // max(size, 1)
        while table:
            message = GroupingBuffer(*self._arguments)
            elements = 0
            while table and elements <= in_message:
                key, values = table.popitem()
                message._table[key] = values
                elements += len(values)
            ((encoded,),) = message.partition(1)
            yield encoded

    def _begin_file(self) -> None:
        self._file = _File()
        self._extents = [array("q") for _ in range(PARTITIONS)]
        self._open = [bytearray() for _ in range(PARTITIONS)]
        self._counts = [0] * PARTITIONS
        key_coder, coder = self._key_coder.get_impl(), self._pre_grouped_coder.get_impl()
        is_global = self._windowing.is_default()
        for encoded_key, values in self._table.items():
            key, out = key_coder.decode(encoded_key), create_OutputStream()
            for value in values:
                windowed = (
                    GlobalWindows.windowed_value((key, value))
                    if is_global
                    else value.with_value((key, value.value))
                )
                coder.encode_to_stream(windowed, out, True)
            self._put(encoded_key, out.get(), len(values))
        self._table.clear()

    def _deal(self, elements_data: bytes) -> None:
        key_coder, coder = self._key_coder.get_impl(), self._pre_grouped_coder.get_impl()
        for windowed, element in _elements_of(elements_data, coder):
            key, _ = windowed.value
            self._put(key_coder.encode(key), element)

    def _put(self, encoded_key: bytes, elements: bytes, count: int = 1) -> None:
        assert self._file
        partition = zlib.crc32(encoded_key) // PARTITIONS**self._level % PARTITIONS
        self._counts[partition] += count
        open_extent = self._open[partition]
        open_extent += elements
        if len(open_extent) >= _EXTENT_BYTES:
            self._write_extent(partition)

    def _write_extent(self, partition: int) -> None:
        assert self._file
        written = self._open[partition]
        self._extents[partition].extend((self._file.write(written), len(written)))
        self._open[partition] = bytearray()


def _elements_of(message: bytes, coder: Any) -> Iterator[tuple[Any, bytes]]:
    """Yields each element of a message, decoded and as it is encoded in the message."""
    stream = create_InputStream(message)
    size = start = stream.size()
    while start:
        element = coder.decode_from_stream(stream, True)
        rest = stream.size()
        yield element, message[size - start : size - rest]
        start = rest


def _loads(sizes: Sequence[int], counts: Sequence[int]) -> list[float]:
    """Returns the estimated work of each partition, from its bytes and its number of elements.

    Both count half. The time of most steps grows with the bytes, but an element can also be a reference to
    work, such as a part of a dump.
    """
    all_bytes, all_elements = sum(sizes), sum(counts)
    return [
        size / all_bytes + count / all_elements for size, count in zip(sizes, counts, strict=True)
    ]


def _share_evenly(loads: Sequence[float], n: int) -> list[list[int]]:
    """Divides partitions among `n` workers, so that all get about the same load.

    Returns the numbers of the partitions of each worker, ascending.
    """
    shares: list[list[int]] = [[] for _ in range(n)]
    given = [0.0] * n
    for number in sorted(range(len(loads)), key=lambda one: (-loads[one], one)):
        worker = given.index(min(given))
        shares[worker].append(number)
        given[worker] += loads[number]
    return [sorted(share) for share in shares]


class _Groups:
    """An iterable of the encoded groups of several partitions, which can be read repeatedly.

    Only one partition at a time is read and grouped.
    """

    def __init__(self, buffer: FileGroupingBuffer, partitions: Sequence[int]):
        self._buffer = buffer
        self._partitions = partitions

    def __iter__(self) -> Iterator[bytes]:
        for partition in self._partitions:
            yield from self._buffer.groups_of(partition)
