"""From a folder under construction to a finished build, all or nothing.

A build is written beside its place, moved there, and marked with a file COMPLETED at the very end. A
folder without that file is unfinished: nobody reads it, and the next run replaces it. Object stores have
their own way to the same: see store_builds.
"""

import contextlib
import hashlib
import pathlib
import shutil
import tempfile
import time
from collections.abc import Iterator

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from pipelines.builds.file_lock import locked
from pipelines.builds.store_builds import BusyError, building_in_store
from transforms.builds.finished_builds import COMPLETED, MANIFEST
from transforms.files.open_input import is_there
from transforms.files.scratch import SCRATCH
from transforms.files.stores import StoreError, is_local, refusal_of
from transforms.files.write_files import remove_unfinished

LEFTOVER_SECONDS = 30.0


class TargetError(Exception):
    """The output folder cannot take the build: it is finished, or another process is at work in it."""


def is_completed(target: str) -> bool:
    """Whether the folder holds a finished build. Raises TargetError where a disk or a store does not say."""
    try:
        return is_there(FileSystems.join(target, COMPLETED))
    except Exception as error:
        why = error if is_local(target) else refusal_of(error)
        raise TargetError(f"{target}: {why}") from error


@contextlib.contextmanager
def building(target: str, *, replace: bool = False) -> Iterator[str]:
    """Yields a folder to build in; publishes it as `target` where the block ends without an error.

    Raises TargetError for a finished target, unless it may be replaced.
    """
    if is_completed(target) and not replace:
        raise TargetError(
            f"{target} holds a finished build; take another --output, or --replace to build it anew"
        )
    if is_local(target):
        with _building_beside(pathlib.Path(target).absolute()) as folder:
            yield str(folder)
        _mark_completed(target)
    else:
        with _as_target_errors(target), building_in_store(target) as folder:
            yield folder


@contextlib.contextmanager
def _as_target_errors(target: str) -> Iterator[None]:
    try:
        yield
    except (BusyError, StoreError) as error:
        raise TargetError(str(error)) from error
    except BeamIOError as error:
        raise TargetError(f"{target}: {refusal_of(error)}") from error


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
            remove_unfinished(folder)
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
    with contextlib.ExitStack() as lock:
        try:
            lock.enter_context(locked(folder))
        except BlockingIOError:
            raise TargetError(f"another build is at work: {folder}") from None
        yield


def _delete(target: str) -> None:
    """Removes a build, its mark first: what is half removed must not look finished."""
    mark = FileSystems.join(target, COMPLETED)
    if FileSystems.exists(mark):
        FileSystems.delete([mark])
    if FileSystems.exists(target) or FileSystems.match([f"{target}/**"])[0].metadata_list:
        FileSystems.delete([target])


def _mark_completed(target: str) -> None:
    folder = pathlib.Path(target)
    digest = hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    mark = folder / COMPLETED
    written = folder / f"{COMPLETED}.part"  # the mark would be seen while it is empty
    written.write_bytes(f"{digest}  {MANIFEST}\n".encode())
    written.replace(mark)
