"""Writes output files on any Beam file system.

Files are hashed while they are written, and become visible only when they are complete.
"""

import contextlib
import hashlib
import io
import os
import pathlib
import tempfile
import types
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.files.stores import is_local, named_in_errors, write_object

NO_MARKS: Mapping[str, str] = types.MappingProxyType({})
_UNFINISHED = ".part"


class HashedFile(io.RawIOBase):
    """A new file. Computes the SHA-256 and the size of its content while it is written.

    The file becomes visible when it is closed, or when a `with` block ends without an error. Otherwise it
    never exists under its name. So two workers may safely write the same file, for example if a runner
    falsely assumed that one of them was lost.

    Raises StoreError if the disk is full or fails.
    """

    def __init__(self, path: str):
        super().__init__()
        self._path = path
        self._is_local = is_local(path)
        self._waiting = _waiting_file(path) if self._is_local else _temporary_file()
        with named_in_errors(self._waiting):
            self._file: BinaryIO = self._waiting.open("wb")
        self._hash = hashlib.sha256()
        self._bytes = 0

    @classmethod
    def in_folder(cls, folder: str, name: str) -> Self:
        """Creates a new file of a build; `name` may contain folders.

        Raises FileNotFoundError if a local `folder` was removed, so that a worker that outlives its build
        does not create the folder again.
        """
        if is_local(folder):
            _make_folders(folder, name)
        return cls(FileSystems.join(folder, *name.split("/")))

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._hash.update(data)
        self._bytes += len(data)
        with named_in_errors(self._waiting):
            self._file.write(data)
        return len(data)

    def tell(self) -> int:
        return self._bytes

    def close(self) -> None:
        if not self.closed:
            super().close()
            try:
                with named_in_errors(self._waiting):
                    self._file.close()
                self._put_in_place()
            finally:
                self._waiting.unlink(missing_ok=True)

    def discard(self) -> None:
        """Closes the file and removes it, so that it never becomes visible."""
        if not self.closed:
            super().close()
            with contextlib.suppress(OSError):  # a full disk was already reported
                self._file.close()
            self._waiting.unlink(missing_ok=True)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind:
            self.discard()
        else:
            self.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.discard()

    def _put_in_place(self) -> None:
        if self._is_local:
            self._waiting.replace(self._path)
            return
        with self._waiting.open("rb") as content:
            write_object(self._path, content, self._bytes)

    def output_file(self, name: str, split: str, kind: str, records: int) -> OutputFile:
        """Returns the description of the written file for the manifest.

        Args:
          name: name of the file in the build.
          split: the split to which it belongs; "" for none.
          kind: its format, such as "parquet".
          records: number of its records.
        """
        return OutputFile(name, split, kind, records, self._bytes, self._hash.hexdigest())


def _waiting_file(path: str) -> pathlib.Path:
    """Returns the temporary path under which a file is written before it is renamed to `path`.

    The temporary file is in the same folder.
    """
    place = pathlib.Path(path)
    return place.with_name(f".{place.name}.{uuid.uuid4().hex}{_UNFINISHED}")


def _temporary_file() -> pathlib.Path:
    descriptor, name = tempfile.mkstemp(prefix="corpusmill-")
    os.close(descriptor)
    return pathlib.Path(name)


def _make_folders(folder: str, name: str) -> None:
    """Creates the subfolders that are part of `name`, but not `folder` itself."""
    below = pathlib.Path(folder)
    if not below.is_dir():
        raise FileNotFoundError(f"{folder} no longer exists: the build has already ended")
    for part in name.split("/")[:-1]:
        below /= part
        below.mkdir(exist_ok=True)


def remove_unfinished(folder: pathlib.Path) -> None:
    """Removes the unfinished files that killed workers have left below a folder."""
    for path in folder.rglob(f".*{_UNFINISHED}"):
        path.unlink(missing_ok=True)


class ParquetFile:
    """A new Parquet file of a build, compressed with zstd and written one row group at a time.

    Args:
      folder: output folder of the build.
      name: name of the file; may contain folders.
      schema: schema of the rows.
      encoding: further arguments of ParquetWriter.
    """

    def __init__(self, folder: str, name: str, schema: pa.Schema, **encoding: Any):
        self._file = HashedFile.in_folder(folder, name)
        self._writer = pq.ParquetWriter(self._file, schema, compression="zstd", **encoding)
        self.output_file = self._file.output_file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._writer.close()
        finally:
            self._file.__exit__(kind)

    def write(self, table: pa.Table) -> None:
        """Writes one row group."""
        self._writer.write_table(table)


def mark(schema: pa.Schema, marks: Mapping[str, str]) -> pa.Schema:
    """Returns a copy of a schema with `marks` as its key-value metadata.

    The prefix "corpusmill." is added to each key.
    """
    if not marks:
        return schema
    return schema.with_metadata({f"corpusmill.{name}": text for name, text in marks.items()})


def table_of(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """Converts rows to a table. The values of a row must be in the order of the schema."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)


def write_parquet(folder: str, name: str, split: str, table: pa.Table) -> OutputFile:
    """Writes a table to a Parquet file of a build. `split` is the split of the file in the manifest."""
    with ParquetFile(folder, name, table.schema) as file:
        file.write(table)
    return file.output_file(name, split, "parquet", table.num_rows)


def write_text(
    folder: str, name: str, text: str, kind: str = "text", records: int = 0
) -> OutputFile:
    """Writes a small UTF-8 file of a build.

    `kind` and `records` are the format of the file and its number of records, as listed in the manifest.
    """
    with HashedFile.in_folder(folder, name) as file:
        file.write(text.encode("utf-8"))
        return file.output_file(name, "", kind, records)
