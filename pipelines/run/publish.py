"""Publishes a folder as a finished build, completely or not at all.

A build is written beside its target, moved there, and marked with a file COMPLETED at the very end. A folder
without that file is unfinished: readers refuse it, and the next run replaces it. Builds on object stores are
published by store_builds.
"""

import contextlib
import os
import pathlib
import shutil
from collections.abc import Iterator

from apache_beam.io.filesystem import BeamIOError
from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run.store_builds import BusyError, building_in_store
from corpusmill.transforms.files.builds.finished_builds import COMPLETED, MANIFEST, mark_of
from corpusmill.transforms.files.clean_up import remove_busy
from corpusmill.transforms.files.disk_sync import sync
from corpusmill.transforms.files.file_lock import locked
from corpusmill.transforms.files.open_input import is_there
from corpusmill.transforms.files.safe_files import make_beside, remove_if_there, write_whole
from corpusmill.transforms.files.scratch import SCRATCH
from corpusmill.transforms.files.stores import StoreError, is_local, refusal_of, remove_below
from corpusmill.transforms.files.write_files import remove_unfinished

LEFTOVER_SECONDS = 30.0


class TargetError(Exception):
    """The output folder cannot be written, because it contains a finished build or another
    process uses it.
    """


class FinishedError(TargetError):
    """The output folder contains a finished build."""


def is_completed(target: str) -> bool:
    """Returns True if a folder contains a finished build. Raises TargetError if the disk or store cannot be
    read.
    """
    try:
        return is_there(FileSystems.join(target, COMPLETED))
    except Exception as error:
        why = error if is_local(target) else refusal_of(error)
        raise TargetError(f"{target}: {why}") from error


def check_target(target: str, *, replace: bool = False) -> None:
    """Checks whether a build can be published as `target`.

    Raises FinishedError if `target` contains a finished build and `replace` is False. On a disk, raises
    TargetError if `target` contains files that no build wrote.
    """
    if is_completed(target) and not replace:
        raise FinishedError(
            f"{target} contains a finished build; use another --output, or --replace to build it again"
        )
    if is_local(target):
        _check_unfinished(pathlib.Path(target))


@contextlib.contextmanager
def building(target: str, *, replace: bool = False) -> Iterator[str]:
    """Yields a temporary folder to build in, and publishes it as `target` at the end of the `with` block.

    Nothing is published if the block raises an error.

    Raises the errors of `check_target`, and TargetError if another build uses `target`.
    """
    check_target(target, replace=replace)
    if is_local(target):
        with _building_beside(pathlib.Path(target).absolute()) as folder:
            yield str(folder)
        _mark_completed(target)
    else:
        with _as_target_errors(target), building_in_store(target) as folder:
            yield folder


def _check_unfinished(target: pathlib.Path) -> None:
    """Raises TargetError if the target has files but no manifest.

    Such files do not come from a killed build, so they must not be replaced.
    """
    if target.is_dir() and any(target.iterdir()) and not (target / MANIFEST).exists():
        raise TargetError(
            f"{target} has files that no build wrote; move them, or use another --output"
        )


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
        raise TargetError(f"{target.parent} cannot be created: {error.strerror}") from None
    prefix = f".{target.name}.building-"
    for leftover in target.parent.glob(f"{prefix}*"):
        _remove_leftover(leftover)
    folder = make_beside(target.parent, prefix)
    with lock_of_build(folder):
        try:
            yield folder
            shutil.rmtree(folder / SCRATCH, ignore_errors=True)
            remove_unfinished(folder)
            if target.exists():
                remove_build(str(target))
            folder.rename(target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_leftover(folder: pathlib.Path) -> None:
    """Removes the temporary folder that a killed build has left.

    Raises TargetError if the build is still running, or if its workers do not stop writing.
    """
    with lock_of_build(folder):
        if not remove_busy(folder, LEFTOVER_SECONDS):
            raise TargetError(
                f"{folder} cannot be removed: workers of a killed build are still writing to it"
            )


@contextlib.contextmanager
def lock_of_build(folder: pathlib.Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Locks a folder during the `with` block. Raises TargetError if another build holds the lock.

    Args:
      flags: The flags for os.open.

    Yields the open file descriptor of the folder.
    """
    with contextlib.ExitStack() as lock:
        try:
            descriptor = lock.enter_context(locked(folder, flags=flags))
        except BlockingIOError:
            raise TargetError(f"another build is running: {folder}") from None
        yield descriptor


def remove_build(target: str) -> None:
    """Removes a build. COMPLETED is removed first, so that a partly removed build does not look finished.

    The manifest is removed last: it shows that the remaining files belong to a build.
    """
    had_mark = remove_if_there(FileSystems.join(target, COMPLETED))
    if not is_local(target):
        remove_below(target)
        return
    if had_mark:
        sync(pathlib.Path(target))
    for path in pathlib.Path(target).iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != MANIFEST:
            path.unlink()
    shutil.rmtree(target)


def _mark_completed(target: str) -> None:
    folder = pathlib.Path(target)
    write_whole(folder / COMPLETED, mark_of((folder / MANIFEST).read_bytes()))
