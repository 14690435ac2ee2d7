"""Writes .zip archives for tests."""

import io
import zipfile
from collections.abc import Iterable


def pack_zip(
    files: Iterable[tuple[str, bytes]],
    method: int = zipfile.ZIP_DEFLATED,
    *,
    is_zip64: bool = False,
    folder: str = "cache/",
) -> bytes:
    """An archive of the files (name, content), in their order; a folder before them, if it is named."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        if folder:
            archive.writestr(zipfile.ZipInfo(folder), b"")
        for name, content in files:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            with archive.open(info, "w", force_zip64=is_zip64) as member:
                member.write(content)
    return packed.getvalue()
