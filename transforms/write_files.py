"""Writing output files on any Beam file system: hashed as they are written."""

import hashlib
import io
from collections.abc import Iterable
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from transforms.records import OutputFile

ROWS_PER_GROUP = 1024


class HashedFile(io.RawIOBase):
    """A new file that knows the SHA-256 and the size of what was written to it."""

    def __init__(self, path: str):
        super().__init__()
        self._file: BinaryIO = FileSystems.create(
            path, compression_type=CompressionTypes.UNCOMPRESSED
        )
        self._hash = hashlib.sha256()
        self._bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._hash.update(data)
        self._bytes += len(data)
        self._file.write(data)
        return len(data)

    def tell(self) -> int:
        return self._bytes

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()

    def output_file(self, name: str, split: str, kind: str, records: int) -> OutputFile:
        """What was written, under the name it has in the build."""
        return OutputFile(name, split, kind, records, self._bytes, self._hash.hexdigest())


def write_parquet(folder: str, name: str, split: str, table: pa.Table) -> OutputFile:
    """Writes a table, zstd-compressed."""
    with HashedFile(FileSystems.join(folder, name)) as file:
        with pq.ParquetWriter(file, table.schema, compression="zstd") as writer:
            writer.write_table(table, row_group_size=ROWS_PER_GROUP)
        return file.output_file(name, split, "parquet", table.num_rows)


def write_frames(folder: str, name: str, split: str, frames: Iterable[bytes]) -> OutputFile:
    """Writes framed TFRecord records."""
    records = 0
    with HashedFile(FileSystems.join(folder, name)) as file:
        for frame in frames:
            file.write(frame)
            records += 1
        return file.output_file(name, split, "tfrecord", records)


def write_text(folder: str, name: str, text: str, kind: str = "text") -> OutputFile:
    """Writes a small UTF-8 file."""
    with HashedFile(FileSystems.join(folder, name)) as file:
        file.write(text.encode("utf-8"))
        return file.output_file(name, "", kind, 0)
