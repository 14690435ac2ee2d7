"""Runs the stages of a build in order, each as one pipeline, and keeps the finished ones, which are not run
again.

The name of a stage contains a hash of the settings, the code and the inputs.

If a finished stage with the same name exists, it is reused. After a change of the code or the tables of
this package, or of a library in the manifest, all stages are run again.

The stage folders are beside the target (the folder in which the build will be published) until the build is
published.

Each attempt to run a stage writes into a new folder. A stage is finished when stage.json is in its folder. So
a worker of a killed build, which knows only the old folder, cannot write into a stage that looks finished.

The files of a stage are unpickled, and pickled data can run code. So a folder is not read if it belongs to
another user or if others can write to it. In addition, stage.json contains the SHA-256 of the list of the
stage's files. If the list has changed, the stage is run again.
"""

import contextlib
import dataclasses
import functools
import hashlib
import json
import logging
import os
import pathlib
import stat
import time
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
from apache_beam.io.filesystems import FileSystems
from rich.filesize import decimal

from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError, list_subfolders, read_raw
from corpusmill.transforms.files.stage_files import LIST, StageOutcome, WriteStage, write_list
from corpusmill.transforms.files.stores import NOT_WRITTEN, is_local, list_below, remove_below
from corpusmill.transforms.files.write_files import errors_logged, remove_busy, write_text

from . import progress
from .corpora import VERSION
from .corpus_build import CorpusBuild, Place, Stage
from .engines.engine import Engine
from .engines.run_pipeline import run_on
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


_TOP = pathlib.Path(__file__).parents[2]
_CODE = (".py", ".toml", ".tsv")
_DIGITS = 16


def name_stages(corpus: CorpusBuild, names: Sequence[str], folder: str) -> list[str]:
    """Returns a folder name for each stage, such as "01-clean-0123456789abcdef".

    The name consists of the number of the stage, its name in `names`, and a hash. The hash depends on the
    settings, the code, the inputs, the earlier stages, and on `folder`: stages contain paths, so stages in a
    moved folder are not reused. The hash does not depend on the number of workers or on their machines.

    Args:
      names: The names of all stages, in order.
      folder: The folder that contains the stage folders.

    Raises InputError for a missing input.
    """
    facts = {
        "folder": folder,
        "config": dataclasses.asdict(corpus.config),
        "provenance": corpus.provenance()._asdict(),
        "inputs": {role: list(map(_describe, paths)) for role, paths in corpus.inputs().items()},
        "code": code_digest(_TOP),
        "version": VERSION,
    }
    digests = (_digest(facts | {"stages": names[:end]}) for end in range(1, len(names) + 1))
    return [
        f"{number:02d}-{name}-{digest}"
        for number, (name, digest) in enumerate(zip(names, digests, strict=True), 1)
    ]


def _describe(path: str) -> list[Any]:
    """Describes an input file, so that a changed file is noticed: [path, bytes, time of the last change].

    Raises InputError for a missing file.
    """
    try:
        if is_local(path):
            found = pathlib.Path(path).stat()  # Beam's file systems round the time
            return [str(pathlib.Path(path).absolute()), found.st_size, found.st_mtime_ns]
        metadata = FileSystems.get_filesystem(path).metadata(path)
    except OSError as error:
        raise InputError(path, "no such file") from error
    return [path, metadata.size_in_bytes, metadata.last_updated_in_seconds]


@functools.cache
def code_digest(top: pathlib.Path) -> str:
    """Returns a hash of the code and the tables (.toml and .tsv files) of this package.

    Args:
      top: The folder of the package.
    """
    digest = hashlib.sha256()
    paths = (path for name in ("pipelines", "transforms") for path in (top / name).rglob("*"))
    for path in sorted(path for path in paths if path.suffix in _CODE and path.is_file()):
        digest.update(f"{path.relative_to(top)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _digest(facts: Mapping[str, Any]) -> str:
    text = json.dumps(facts, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]


def run_stages(
    corpus: CorpusBuild,
    engine: Engine,
    folders: StageFolders,
    folder: str,
    stripes: int,
    *,
    fresh: bool = False,
) -> None:
    """Runs the stages that are not finished, in order. The last stage always runs, and writes the build into
    `folder`.

    Args:
      corpus: The build.
      engine: The engine that runs the pipelines of the stages.
      folders: The folders of finished stages.
      folder: The folder of the build.
      stripes: The number of parts into which workers divide a file.
      fresh: Whether to run all stages, even finished ones.

    Raises BuildError for bad inputs, TargetError if another build of the same target is running.
    """
    stages = corpus.stages()
    keys = name_stages(corpus, [stage.name for stage in stages], folders.folder)
    if (removed := folders.open(() if fresh else keys[:-1])) and not fresh:
        _log(_NOT_OURS.format(", ".join(removed)))
    finished: dict[str, FinishedStage] = {}
    with engine.started(folders.folder) as started:
        for number, (stage, key) in enumerate(zip(stages, keys, strict=True), 1):
            label = f"stage {number} of {len(stages)}, {stage.name}"
            if not (found := _find(folders, key, label)):
                folders.forget(keys[number - 1 :])  # later stages refer to files of this one
                place = Place(folder, folders.begin(key), stripes)
                progress.enter_stage(stage.name)
                if len(stages) > 1:
                    _log(label)
                start, counted = time.monotonic(), progress.counts_so_far()
                with _rerun_hint(folders.folder):
                    run_on(started, functools.partial(_add, stage, place, finished))
                if number == len(stages):
                    return
                found = folders.finish(place.scratch, progress.counts_so_far() - counted)
                seconds = time.monotonic() - start
                _log(f"{label}: finished, {seconds:.0f} s, {decimal(found.total_bytes)}")
            finished[stage.name] = found


_NOT_OURS = "removed stages of an earlier run, because settings, inputs or code have changed: {}"


def _find(folders: StageFolders, key: str, label: str) -> FinishedStage | None:
    try:
        found = folders.find(key)
    except DamagedStageError as error:
        _log(f"{label}: {error}, so it is run again")
        return None
    if found:
        progress.add_counts(key, found.counts)
        _log(f"{label}: already finished, {found.finished}, {decimal(found.total_bytes)}")
    return found


@contextlib.contextmanager
def _rerun_hint(folder: str) -> Iterator[None]:
    """Adds advice to each BuildError about a file in `folder`, which contains the finished stages.

    The advice says how to run the finished stages again.
    """
    try:
        yield
    except BuildError as error:
        if folder not in str(error) or NOT_WRITTEN in str(error):
            raise
        raise BuildError(
            f"{error}; if this happens again, remove {folder}, and the next run repeats all stages"
        ) from None


def _add(
    stage: Stage, place: Place, before: Mapping[str, FinishedStage], root: beam.Pipeline
) -> None:
    """Adds the steps of a stage to a pipeline.

    Args:
      stage: The stage.
      place: The folders that the stage may write to.
      before: Name → stage, for all earlier stages.
      root: The pipeline.
    """
    outcomes = [StageOutcome(root, name, found.folder) for name, found in before.items()]
    outcome: Any = stage.build(root, place, *outcomes)
    if outcome:
        given = {name: one for name, one in outcome._asdict().items() if one is not None}
        _ = given | "WriteStage" >> WriteStage(place.scratch)
    else:
        write_list(place.scratch, {}, ())


def _log(text: str) -> None:
    logging.getLogger(__name__).info("%s", text)
