"""Room on the disks."""

import pathlib
import shutil
from collections.abc import Sequence

from pipelines.engines.errors import BuildError
from transforms.files.list_folders import is_local


def free_bytes(folder: str) -> int | None:
    """Bytes free where a folder is or would be made; None for one that is on no disk of this machine."""
    if not is_local(folder):
        return None
    place = pathlib.Path(folder).absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def check_free_space(folders: Sequence[str], min_free_bytes: int) -> None:
    """Raises BuildError where a folder has less room."""
    for folder in folders:
        free = free_bytes(folder)
        if free is not None and free < min_free_bytes:
            raise BuildError(
                f"{folder}: {free:,} bytes are free, and min_free_bytes asks for {min_free_bytes:,}"
            )
