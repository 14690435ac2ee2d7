"""Passes collections from one stage of a build to the next in files, which all workers write and read.

Elements can be any picklable values, such as counts or books. They are packed into blocks; each bundle writes
its blocks to separate files. When a stage ends, a list of its files is written, and only listed files are
read. So the files of killed workers, and duplicate files of bundles that ran twice, are ignored.
"""

import base64
import contextlib
import io
import json
import pickle
import struct
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import apache_beam as beam
import zstandard
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from .distribution import MapOnce, Spread, SpreadAll, transform
from .read_files import InputError, open_raw
from .write_files import HashedFile, write_text

LIST = "written.json"
"""Name of the list of files of a finished stage."""

BLOCK_BYTES = 1 << 20  # bytes of pickled elements in a block; a single element may be larger
PART_BYTES = 1 << 21  # bytes of packed blocks that a worker reads at a time
FILE_BYTES = 1 << 28  # limited, because an unfinished file is stored on the disk of its worker
SPREAD_BYTES, SPREAD_ELEMENTS = 1 << 22, 1 << 16

_LEVEL = 1
_HEAD = struct.Struct(">QQ")  # size of the packed block in bytes, number of its elements


class StagePart(NamedTuple):
    """A part of a stage file: some of its blocks, which are read together."""

    name: str  # name of the file in the folder of the stage
    start: int
    end: int
    elements: int


class StageFile(NamedTuple):
    """A file that one bundle has written, with the parts in which it is read."""

    field: str
    parts: tuple[StagePart, ...]


class StageField(NamedTuple):
    """The type and the files of one collection of a finished stage."""

    element_type: Any
    parts: tuple[StagePart, ...]


@transform
def WriteStage(collections: Mapping[str, beam.PCollection], folder: str) -> beam.PCollection:
    """Writes collections to files, and a list of these files.

    The input is {name: PCollection}.

    Args:
      folder: folder of the stage. It must exist and be on a file system that all workers share.
    """
    types = {name: pack_type(one.element_type) for name, one in collections.items()}
    written = [
        collection | f"Write {name}" >> beam.ParDo(_WriteElements(folder, name))
        for name, collection in collections.items()
    ]
    files = written | "Files" >> beam.Flatten()
    root = next(iter(collections.values())).pipeline
    return root | "WriteList" >> MapOnce(write_list, folder, types, AsList(files))


@transform
def ReadStage(root: beam.Pipeline, folder: str, field: StageField) -> beam.PCollection:
    """Reads one collection of a finished stage. Pipeline → PCollection with the original element type.

    Raises InputError for damaged or missing files.
    """
    parts = root | "SpreadParts" >> SpreadAll(field.parts, of=StagePart)
    if _are_few(field.parts):
        # Even a small element may cause much work, for example a reference to a block of lines.
        return parts | "ReadParts" >> Spread(read_part, folder, of=field.element_type)
    return parts | "ReadParts" >> beam.FlatMap(read_part, folder).with_output_types(
        field.element_type
    )


class StageOutcome:
    """The collections of a finished stage, as attributes.

    A collection is read when its attribute is first accessed.
    """

    def __init__(self, root: beam.Pipeline, name: str, folder: str):
        """Reads the list of the stage's files from its folder. Raises InputError if the list is missing.

        `name` is the name of the stage, for the labels of Beam transforms.
        """
        self._root = root
        self._name = name
        self._folder = folder
        self._fields = read_list(folder)
        self._collections: dict[str, beam.PCollection] = {}

    def __getattr__(self, field: str) -> beam.PCollection:
        if field.startswith("_") or field not in self._fields:
            raise AttributeError(f"the finished stage has no field {field}")
        if field not in self._collections:
            read = ReadStage(self._folder, self._fields[field])
            self._collections[field] = self._root | f"Read {self._name} {field}" >> read
        return self._collections[field]


def write_list(folder: str, types: Mapping[str, Any], files: Iterable[StageFile]) -> str:
    """Writes the list of a stage: each collection (field) with its type and the parts of its files.

    Returns the path of the list.

    Args:
      folder: folder of the stage.
      types: name of the collection → type of its elements, as returned by `pack_type`.
      files: the files that the bundles have written.
    """
    parts: dict[str, list[StagePart]] = {field: [] for field in types}
    for file in files:
        parts[file.field] += file.parts
    fields = {field: {"type": types[field], "parts": sorted(parts[field])} for field in types}
    write_text(folder, LIST, json.dumps(fields))
    return str(FileSystems.join(folder, LIST))


def pack_type(element_type: Any) -> str:
    """Returns an element type in a form for JSON: pickled like the elements."""
    return base64.b64encode(pickle.dumps(element_type)).decode()


def read_list(folder: str) -> dict[str, StageField]:
    """Reads the list of a stage. Returns name of a collection → its type and the parts of its files.

    Raises InputError if the stage is not finished.
    """
    path = FileSystems.join(folder, LIST)
    with _errors_named(path), open_raw(path) as stream:
        return {
            field: StageField(
                pickle.loads(base64.b64decode(one["type"])),
                tuple(StagePart(*part) for part in one["parts"]),
            )
            for field, one in json.loads(stream.read()).items()
        }


def read_part(part: StagePart, folder: str) -> Iterator[Any]:
    """Yields the elements in a part of a stage file.

    Raises InputError if the file is damaged or incomplete.
    """
    path = FileSystems.join(folder, part.name)
    elements = 0
    with _errors_named(path), open_raw(path) as stream:
        stream.seek(part.start)
        while stream.tell() < part.end:
            packed_bytes, in_block = _HEAD.unpack(_read_exactly(stream, _HEAD.size))
            if packed_bytes > part.end - stream.tell():
                raise EOFError(
                    f"a block of {packed_bytes} bytes extends beyond byte {part.end},"
                    " the end of the part of the file that contains the block"
                )
            block = zstandard.ZstdDecompressor().decompress(_read_exactly(stream, packed_bytes))
            unpickler = pickle.Unpickler(io.BytesIO(block))
            for _ in range(in_block):
                yield unpickler.load()
            elements += in_block
    if elements != part.elements:
        raise InputError(path, f"damaged: expected {part.elements} elements, found {elements}")


class _WriteElements(beam.DoFn):
    """Writes the elements of each bundle to separate files."""

    def __init__(self, folder: str, field: str):
        self._folder = folder
        self._field = field

    def start_bundle(self) -> None:
        self._file: HashedFile | None = None
        self._parts: list[StagePart] = []
        self._begin_part(0)
        self._begin_block()

    def process(self, element: Any) -> None:
        self._pickler.dump(element)
        self._in_block += 1
        if self._block.tell() >= BLOCK_BYTES:
            self._write_block()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._in_block:
            self._write_block()
        self._end_file()
        if self._parts:
            written = StageFile(self._field, tuple(self._parts))
            yield GlobalWindows.windowed_value_at_end_of_window(written)

    def _begin_block(self) -> None:
        self._block = io.BytesIO()
        # One pickler per block: it writes each class name only once.
        self._pickler = pickle.Pickler(self._block, pickle.HIGHEST_PROTOCOL)
        self._in_block = 0

    def _begin_part(self, start: int) -> None:
        self._start = self._end = start
        self._in_part = 0

    def _write_block(self) -> None:
        if self._file is None:
            self._name = f"{self._field}-{uuid.uuid4().hex}"
            self._file = HashedFile.in_folder(self._folder, self._name)
        compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        packed = compressor.compress(self._block.getbuffer())
        self._file.write(_HEAD.pack(len(packed), self._in_block))
        self._file.write(packed)
        self._end += _HEAD.size + len(packed)
        self._in_part += self._in_block
        self._begin_block()
        if self._end >= FILE_BYTES:
            self._end_file()
        elif self._end - self._start >= PART_BYTES:
            self._end_part()

    def _end_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            self._end_part()
            self._begin_part(0)

    def _end_part(self) -> None:
        if self._in_part:
            self._parts.append(StagePart(self._name, self._start, self._end, self._in_part))
        self._begin_part(self._end)


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError(f"expected {size} bytes, found {len(data)}")
    return data


@contextlib.contextmanager
def _errors_named(path: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # damaged pickled data may raise any error
        message = f"the files of an earlier stage of the build are damaged or missing: {error}"
        raise InputError(path, message) from None


def _are_few(parts: Iterable[StagePart]) -> bool:
    """Returns True if there are so few elements that redistributing them over the workers is cheap."""
    sizes = [(part.end - part.start, part.elements) for part in parts]
    return (
        sum(size for size, _ in sizes) <= SPREAD_BYTES
        and sum(elements for _, elements in sizes) <= SPREAD_ELEMENTS
    )
