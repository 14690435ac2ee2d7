"""A file system that is no disk, for the tests of what reads folders."""

import io
from collections.abc import Iterator
from typing import Any

from apache_beam.io.filesystem import CompressionTypes, FileMetadata, FileSystem


class ObjectStore(FileSystem):
    """store://…: names of objects → bytes, and no folders. Set `objects` by monkeypatch."""

    objects: dict[str, bytes] = {}  # noqa: RUF012

    @classmethod
    def scheme(cls) -> str:
        return "store"

    def join(self, basepath: str, *paths: str) -> str:
        return "/".join([basepath.rstrip("/"), *paths])

    def has_dirs(self) -> bool:
        return False

    def _list(self, dir_or_prefix: str) -> Iterator[FileMetadata]:
        for name, content in self.objects.items():
            if name.startswith(dir_or_prefix):
                yield FileMetadata(name, len(content), 0.0)

    def exists(self, path: str) -> bool:
        return path in self.objects

    def metadata(self, path: str) -> FileMetadata:
        return FileMetadata(path, len(self.objects[path]), 0.0)

    def open(
        self, path: str, mime_type: str = "", compression_type: str = CompressionTypes.AUTO
    ) -> Any:
        return io.BytesIO(self.objects[path])

    def _unsupported(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    split = mkdirs = create = copy = rename = size = last_updated = checksum = delete = _unsupported
