"""Writes .tar archives for tests, in each of the formats that tar programs write."""

import io
import tarfile
from collections.abc import Iterable

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)


def pack_tar(
    files: Iterable[tuple[str, bytes]],
    tar_format: int = tarfile.GNU_FORMAT,
    folder: str = "training-monolingual",
) -> bytes:
    """An archive of the files (name, content), in their order; a folder before them, if it is named."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tar_format) as archive:
        if folder:
            first = tarfile.TarInfo(folder)
            first.type = tarfile.DIRTYPE
            archive.addfile(first)
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def pack_links(
    files: Iterable[tuple[str, bytes]], links: Iterable[tuple[str, bytes, str]]
) -> bytes:
    """An archive of the files, and the links (name, type, target)."""
    packed = pack_tar(files).rstrip(b"\0")
    packed += bytes(-len(packed) % 512)
    for name, kind, target in links:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        packed += info.tobuf(tarfile.GNU_FORMAT)
    return packed + bytes(1024)
