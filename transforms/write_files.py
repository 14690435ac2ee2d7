"""Writing output files on any Beam file system: hashed as they are written."""

import hashlib
import io
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from transforms.records import OutputFile


class HashedFile(io.RawIOBase):
    """A new file that knows the SHA-256 and the size of what was written to it."""

    def __init__(self, path: str):
        super().__init__()
        self._file: BinaryIO = FileSystems.create(
            path, compression_type=CompressionTypes.UNCOMPRESSED
        )
        self._hash = hashlib.sha256()
        self._bytes = 0

    @classmethod
    def in_folder(cls, folder: str, name: str) -> Self:
        """A new file of a build; `name` may have a folder.

        Raises FileNotFoundError where a local `folder` is gone: a worker that outlives its build must
        not bring it back.
        """
        if _is_local(folder) and not pathlib.Path(folder).is_dir():
            raise FileNotFoundError(f"{folder}: the build is over")
        return cls(FileSystems.join(folder, *name.split("/")))

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


def _is_local(folder: str) -> bool:
    return isinstance(FileSystems.get_filesystem(folder), LocalFileSystem)


class ParquetFile:
    """A new Parquet file, zstd-compressed, written a row group at a time."""

    def __init__(self, folder: str, name: str, schema: pa.Schema):
        self._file = HashedFile.in_folder(folder, name)
        self._writer = pq.ParquetWriter(self._file, schema, compression="zstd")
        self.output_file = self._file.output_file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()
        self._file.close()

    def write(self, table: pa.Table) -> None:
        """Writes one row group."""
        self._writer.write_table(table)


def write_parquet(folder: str, name: str, split: str, table: pa.Table) -> OutputFile:
    """Writes a table."""
    with ParquetFile(folder, name, table.schema) as file:
        file.write(table)
    return file.output_file(name, split, "parquet", table.num_rows)


def write_text(folder: str, name: str, text: str, kind: str = "text") -> OutputFile:
    """Writes a small UTF-8 file."""
    with HashedFile.in_folder(folder, name) as file:
        file.write(text.encode("utf-8"))
        return file.output_file(name, "", kind, 0)


def write_texts(folder: str, texts: Mapping[str, str]) -> Iterator[OutputFile]:
    """Writes small files, name → text, one after the other."""
    for name, text in texts.items():
        yield write_text(folder, name, text)
