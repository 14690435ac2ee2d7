"""Manages the folders with the finished stages of a build.

The stage folders are beside the target (the folder in which the build will be published) until the build is
published.

Each attempt to run a stage writes into a new folder. A stage is finished when stage.json is in its folder. So
a worker of a killed build, which knows only the old folder, cannot write into a stage that looks finished.

The files of a stage are unpickled, and pickled data can run code. So a folder is not read if it belongs to
another user or if others can write to it. In addition, stage.json contains the SHA-256 of the list of the
stage's files. If the list has changed, the stage is run again.
"""

import contextlib
import hashlib
import os
import pathlib
import stat
import time
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.read_files import InputError, list_subfolders, read_raw
from corpusmill.transforms.files.stage_files import LIST
from corpusmill.transforms.files.stores import is_local, list_below, remove_below
from corpusmill.transforms.files.write_files import errors_logged, remove_busy, write_text

from .publish import TargetError, lock_of_build

MARK = "stage.json"
REMOVAL_SECONDS = 5.0
_PRIVATE = 0o700
_ATTEMPT_DIGITS = 8


class FinishedStage(NamedTuple):
    """A stage that does not have to run again."""

    folder: str
    finished: str  # local time, "2026-11-22 04:03"
    counts: Mapping[str, int]  # counts of its workers, for display
    total_bytes: int


class _Mark(msgspec.Struct):
    """The content of stage.json, which marks a stage as finished."""

    finished: str
    counts: dict[str, int]
    files: dict[str, int]  # name → bytes
    list_sha256: str = ""

    def of(self, folder: str) -> FinishedStage:
        """Returns the stage in a folder that this mark describes."""
        return FinishedStage(folder, self.finished, self.counts, sum(self.files.values()))


class DamagedStageError(Exception):
    """A file of a finished stage is missing, truncated or changed."""


class StageFolders:
    """The stage folders of one build. No folder is created before `open` is called.

    Args:
      target: The folder in which the build will be published.
      locks: Releases the lock on the stage folders when it is closed.
    """

    def __init__(self, target: str, locks: contextlib.ExitStack):
        self._is_local = is_local(target)
        self._locks = locks
        self._is_open = False
        parent, name = FileSystems.split(_absolute(target))
        self.folder: str = FileSystems.join(parent, f".{name}.stages")

    def open(self, keep: Collection[str]) -> list[str]:
        """Locks the stage folders, and removes all stages except the finished ones in `keep`.

        Returns the names of removed stages that were finished. On object stores there is no lock.

        Raises TargetError if another build has locked the folders, or if other users could have written to
        them.
        """
        if self._is_local:
            _lock(pathlib.Path(self.folder), self._locks)
        self._is_open = True
        removed = []
        for name in list_subfolders(self.folder):
            stage, is_finished = _stage_of(name), self._is_finished(name)
            if stage not in keep or not is_finished:
                self._remove(name)
            if stage not in keep and is_finished:
                removed.append(stage)
        return removed

    def find(self, stage: str) -> FinishedStage | None:
        """Returns a finished stage; None if the stage is missing or not finished.

        Args:
          stage: The name of the stage, from `name_stages`.

        Raises DamagedStageError if its files have changed.
        """
        for name in list_subfolders(self.folder):
            if _stage_of(name) == stage and self._is_finished(name):
                return self._check(FileSystems.join(self.folder, name))
        return None

    def begin(self, stage: str) -> str:
        """Makes a new folder for the output of a stage, and returns its path."""
        folder: str = FileSystems.join(self.folder, f"{stage}-{uuid.uuid4().hex[:_ATTEMPT_DIGITS]}")
        if self._is_local:
            pathlib.Path(folder).mkdir(_PRIVATE)
        return folder

    def finish(self, folder: str, counts: Mapping[str, int]) -> FinishedStage:
        """Marks a stage as finished. Returns the finished stage.

        Args:
          folder: The folder of the stage, which already contains all its files.
          counts: The counts of the stage's workers, for display.
        """
        finished = time.strftime("%Y-%m-%d %H:%M")
        files = self._files_below(folder)
        mark = _Mark(finished, dict(counts), files, _list_digest(folder))
        write_text(folder, MARK, msgspec.json.encode(mark).decode())
        return mark.of(folder)

    def forget(self, stages: Sequence[str]) -> None:
        """Removes the given stages, whether they are finished or not."""
        for name in list_subfolders(self.folder):
            if _stage_of(name) in stages:
                self._remove(name)

    def remove(self) -> None:
        """Removes all stages. Must be called only after the build was published."""
        if self._is_open:
            self._remove("")

    @property
    def are_left(self) -> bool:
        """True if stages of an earlier run exist on a disk.

        Always False on object stores: stages are not locked there, so another build may be using them.
        """
        return self._is_local and pathlib.Path(self.folder).exists()

    def remove_leftovers(self) -> None:
        """Removes all stages of a published build. Raises TargetError if another build is running."""
        self.open(())
        self.remove()

    def remove_unfinished(self) -> None:
        """Removes unfinished stages. If no finished stage is left, removes the whole folder."""
        if not self._is_open:
            return
        for name in list_subfolders(self.folder):
            if not self._is_finished(name):
                self._remove(name)
        if not list_subfolders(self.folder):
            self.remove()

    def _check(self, folder: str) -> FinishedStage:
        mark = _read_mark(FileSystems.join(folder, MARK))
        found = self._files_below(folder)
        for name, size in mark.files.items():
            if found.get(name, -1) < size:
                state = "truncated" if name in found else "missing"
                raise DamagedStageError(f"{FileSystems.join(folder, name)} is {state}")
        if mark.list_sha256 != _list_digest(folder):
            raise DamagedStageError(
                f"{FileSystems.join(folder, LIST)} has changed since the stage was finished"
            )
        return mark.of(folder)

    def _is_finished(self, name: str) -> bool:
        return bool(FileSystems.exists(FileSystems.join(self.folder, name, MARK)))

    def _files_below(self, folder: str) -> dict[str, int]:
        """Returns name → size in bytes for the files in a folder and its subfolders.

        On a disk, files whose names begin with a dot are left out, because they may be incomplete.
        """
        if not self._is_local:
            return {name: size for name, (size, _) in list_below(folder).items()}
        top = pathlib.Path(folder)
        return {
            path.relative_to(top).as_posix(): path.stat().st_size
            for path in top.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }

    def _remove(self, name: str) -> None:
        """Removes a folder, beginning with stage.json.

        Files may be left if workers of a killed build are still writing.
        """
        folder = FileSystems.join(self.folder, name) if name else self.folder
        if self._is_local:
            pathlib.Path(folder, MARK).unlink(missing_ok=True)
            remove_busy(pathlib.Path(folder), REMOVAL_SECONDS)
        else:
            remove_below(folder)


@contextlib.contextmanager
def stage_folders(target: str) -> Iterator[StageFolders]:
    """Yields the stage folders of a build. After an error, removes unfinished stages and keeps
    finished ones.
    """
    with contextlib.ExitStack() as locks:
        folders = StageFolders(target, locks)
        try:
            yield folders
        except BaseException:
            with errors_logged():
                folders.remove_unfinished()
            raise


def _read_mark(path: str) -> _Mark:
    """Reads stage.json. Raises DamagedStageError if it is damaged."""
    try:
        return msgspec.json.decode(read_raw(path), type=_Mark)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedStageError(f"{path} is damaged: {error}") from None


def _list_digest(folder: str) -> str:
    """Returns the SHA-256 of the file that lists the files of a stage; "" if the stage has no such file."""
    try:
        return hashlib.sha256(read_raw(FileSystems.join(folder, LIST))).hexdigest()
    except (FileNotFoundError, InputError):
        return ""


def _absolute(target: str) -> str:
    return str(pathlib.Path(target).absolute()) if is_local(target) else target.rstrip("/")


def _stage_of(name: str) -> str:
    """Returns the name of the stage that is stored in a folder.

    Args:
      name: The name of the folder. It consists of the name of the stage and some random digits.
    """
    return name[: -_ATTEMPT_DIGITS - 1]


_NO_LINK = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def _lock(folder: pathlib.Path, locks: contextlib.ExitStack) -> None:
    """Makes a folder if it does not exist, and locks it.

    Raises TargetError if another build has locked the folder, if another user owns the folder or can write to
    it, or if the path is a symbolic link or a file.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    while True:
        is_new = False
        with contextlib.suppress(FileExistsError):
            folder.mkdir(_PRIVATE)
            is_new = True
        with contextlib.ExitStack() as held:
            try:
                found = os.fstat(held.enter_context(lock_of_build(folder, _NO_LINK)))
            except FileNotFoundError:
                continue
            except OSError as error:  # a symbolic link, or not a folder
                raise TargetError(
                    f"{folder} cannot be used as a folder for stages: {error.strerror}"
                ) from None
            if not is_new:  # a file server may report another owner of a new folder
                _check_owner(folder, found)
            # The previous holder of the lock may have removed the folder.
            if folder.exists() and folder.stat().st_ino == found.st_ino:
                locks.enter_context(held.pop_all())
                return


def _check_owner(folder: pathlib.Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        fault = f"belongs to another user (number {found.st_uid})"
    elif found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        fault = f"can be written by others (mode {stat.S_IMODE(found.st_mode):o})"
    else:
        return
    raise TargetError(
        f"{folder} {fault}, but files in it are run as code: remove the folder and start the build again"
    )
