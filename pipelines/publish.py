"""From a folder under construction to a finished build, all or nothing.

A build is written beside its place, moved there, and marked with a file COMPLETED at the very end. A
folder without that file is unfinished: nobody reads it, and the next run replaces it. On object stores,
which cannot move folders, a build is written in its place; the mark says the same there.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import tempfile
import time
from collections.abc import Iterator

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from transforms.read_corpus import COMPLETED
from transforms.scratch import SCRATCH

LEFTOVER_SECONDS = 30.0


class TargetError(Exception):
    """The output folder cannot take the build: it is finished, or another process is at work in it."""


def is_completed(target: str) -> bool:
    """Whether the folder holds a finished build."""
    return bool(FileSystems.exists(FileSystems.join(target, COMPLETED)))


@contextlib.contextmanager
def building(target: str, *, replace: bool = False) -> Iterator[str]:
    """Yields a folder to build in; publishes it as `target` where the block ends without an error.

    Raises TargetError for a finished target, unless it may be replaced.
    """
    if is_completed(target) and not replace:
        raise TargetError(
            f"{target} holds a finished build; take another --output, or --replace to build it anew"
        )
    if isinstance(FileSystems.get_filesystem(target), LocalFileSystem):
        with _building_beside(pathlib.Path(target).absolute()) as folder:
            yield str(folder)
    else:
        _delete(target)
        yield target
    _mark_completed(target)


@contextlib.contextmanager
def _building_beside(target: pathlib.Path) -> Iterator[pathlib.Path]:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TargetError(f"{target.parent} cannot be made: {error.strerror}") from None
    prefix = f".{target.name}.building-"
    for leftover in target.parent.glob(f"{prefix}*"):
        _remove_leftover(leftover)
    folder = pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    folder.chmod(0o755)
    with _locked(folder):
        try:
            yield folder
            shutil.rmtree(folder / SCRATCH, ignore_errors=True)
            if target.exists():
                _delete(str(target))
            folder.rename(target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_leftover(folder: pathlib.Path) -> None:
    """A killed build has left it, unless its builder still holds the lock.

    The workers of a killed build write on until they notice that they are alone.
    """
    with _locked(folder):
        end = time.monotonic() + LEFTOVER_SECONDS
        while True:
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                return
            if time.monotonic() > end:
                raise TargetError(f"cannot be removed, a killed build still writes in it: {folder}")
            time.sleep(0.05)


@contextlib.contextmanager
def _locked(folder: pathlib.Path) -> Iterator[None]:
    """Holds a lock that ends with the process, however it ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise TargetError(f"another build is at work: {folder}") from None
    finally:
        os.close(descriptor)


def _delete(target: str) -> None:
    """Removes a build, its mark first: what is half removed must not look finished."""
    mark = FileSystems.join(target, COMPLETED)
    if FileSystems.exists(mark):
        FileSystems.delete([mark])
    if FileSystems.exists(target) or FileSystems.match([f"{target}/**"])[0].metadata_list:
        FileSystems.delete([target])


def _mark_completed(target: str) -> None:
    manifest = FileSystems.join(target, "manifest.json")
    with FileSystems.open(manifest, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    mark = FileSystems.join(target, COMPLETED)
    is_local = isinstance(FileSystems.get_filesystem(target), LocalFileSystem)
    # An object appears whole; a local file would be seen while it is empty.
    written = f"{mark}.part" if is_local else mark
    with FileSystems.create(written, compression_type=CompressionTypes.UNCOMPRESSED) as file:
        file.write(f"{digest}  manifest.json\n".encode())
    if is_local:
        pathlib.Path(written).replace(mark)
