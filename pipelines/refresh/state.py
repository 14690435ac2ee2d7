"""The state of each corpus, which is stored in a file between runs.

A run does not depend on the state: it finds editions from their folders and the file CURRENT, and checks
downloads by their checksums. The state informs users and monitoring. It also records why an edition was not
accepted, so that the edition need not be compared again with its predecessor.

Conditions that an edition must meet before it becomes the current one.

Locks folders, so that only one refresh at a time uses them.
"""

import contextlib
import logging
import os
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files import write_files
from corpusmill.transforms.files.errors import IN_PROCESS, BuildError
from corpusmill.transforms.files.stores import is_local
from corpusmill.transforms.files.write_files import read_bytes_if_there, write_whole

from ..inspect.compare import EditionChanges
from ..inspect.verify import verify
from ..run.publish import BusyError, TargetError, at_work


def check_edition(target: str, engine: Mapping[str, Any], report: str) -> str:
    """Returns a description of the first damage in an edition; "" if the edition is undamaged.

    The caller removes a damaged edition, and the next run builds it again. If an id is in two splits, a new
    build would have the same error, so this function raises BuildError instead. It also raises BuildError if
    files cannot be read at the moment.

    Args:
      target: folder of the edition.
      engine: the runner, the number of workers and the flags for Beam, from `Settings.engine`.
      report: path of a file for the report, on a file system that all workers can access. The in-process
        runner does not use it.
    """
    verdict = verify([target], **engine, report="" if engine["runner"] == IN_PROCESS else report)
    if verdict.is_sound:
        return ""
    if verdict.faults:
        return f"{verdict.faults[0].path}: {verdict.faults[0].message}"
    name, where = verdict.conflicts[0]
    raise BuildError(f"{target} is not accepted: {name} is in two splits: {where}")


def count_changes(changes: EditionChanges) -> dict[str, int]:
    """Returns the number of documents for each kind of change: added, removed, changed, unchanged, moved."""
    counts = changes.total._asdict()
    fates = {fate: counts[fate] for fate in ("added", "removed", "changed", "unchanged")}
    return {**fates, "moved": changes.total.moved_in}


def find_fault(changes: EditionChanges, allow_moves: bool, max_removed_share: float) -> str:
    """Returns the reason why an edition must not replace the current one; "" if it may replace it.

    Args:
      changes: the differences between the current edition and the new one.
      allow_moves: whether documents may be in another split than in the current edition.
      max_removed_share: largest accepted share of removed documents, from 0 to 1.
    """
    total, moved = changes.total, changes.total.moved_in
    if not (changes.is_sound or allow_moves):
        return (
            f"{moved:,} {changes.unit} are in another split than before;"
            " set allow_moves = true to accept this"
        )
    if total.removed > max_removed_share * total.old:
        return (
            f"{total.removed:,} of {total.old:,} {changes.unit} are gone, but max_removed_share is"
            f" {max_removed_share:g}; set a larger share to accept this"
        )
    return ""


class CorpusState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one corpus. Times are in seconds since 1970; 0 means never."""

    edition_folder: str = ""  # path below the output: "wiki40b/uk"
    current: str = ""  # name of the current edition: "20261101-1.3.0"
    signature: str = ""  # signature of the current edition
    settings: Mapping[str, Any] = {}  # the table `build` of the newest edition
    last_run: float = 0.0
    last_success: float = 0.0  # when it was last published or found to be up to date
    last_failure: float = 0.0
    last_published: float = 0.0
    failures: int = 0  # number of failures in all runs
    error: str = ""  # error of the last run; "" if it succeeded
    downloaded_bytes: int = 0  # bytes downloaded in all runs
    seconds: Mapping[str, float] = {}  # step → duration when it was last done
    compared: str = ""  # the edition that `documents` describes
    compared_with: str = ""  # the edition before it; "" for the first one
    documents: Mapping[str, int] = {}  # "added", "removed", "changed", "unchanged", "moved"
    rejected: Mapping[str, str] = {}  # edition → reason why it was not accepted


class StateFolder:
    """Reads and writes the state files of all corpora.

    Args:
      folder: folder on a disk or an object store. A folder on a disk must exist.
    """

    def __init__(self, folder: str):
        self._folder = folder

    def path_of(self, label: str) -> str:
        """Returns the path of the state file of a corpus."""
        return str(FileSystems.join(self._folder, f"{label}.json"))

    def load(self, label: str, *, sets_aside: bool = True) -> CorpusState:
        """Returns the stored state of a corpus, or an empty state if there is no file or it is damaged.

        Args:
          sets_aside: whether to rename a damaged file, and to log a warning.
        """
        path = self.path_of(label)
        if (content := read_bytes_if_there(path)) is None:
            return CorpusState()
        try:
            return msgspec.json.decode(content, type=CorpusState)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if sets_aside:
                aside = f"{path}.corrupt"
                FileSystems.rename([path], [aside])
                logging.getLogger(__name__).warning(
                    "%s is damaged (%s): moved to %s; the run starts with an empty state",
                    path,
                    error,
                    aside,
                )
            return CorpusState()

    def save(self, label: str, state: CorpusState) -> None:
        """Writes the state. If this fails, raises OSError and leaves the old file unchanged."""
        content = msgspec.json.format(msgspec.json.encode(state, order="sorted"), indent=1)
        write_whole(self.path_of(label), content + b"\n")


NAME = ".refresh-lock"


@contextlib.contextmanager
def locked(folders: Sequence[str]) -> Iterator[Callable[[], None]]:
    """Locks each folder until the `with` block or the process ends. Creates missing folders.

    Yields a function that raises BusyError if another process has taken over a lock on an object store.
    That happens if this process has not renewed the lock for a minute.

    Raises BusyError if another process holds a lock: immediately on a disk, after some seconds on an object
    store. On an object store, the lock of a killed process expires after a minute. Raises TargetError if a
    folder cannot be created.
    """
    checks: list[Callable[[], None]] = []

    def check() -> None:
        for still_ours in checks:
            still_ours()

    with contextlib.ExitStack() as held:
        for path in dict.fromkeys(FileSystems.join(folder, NAME) for folder in folders):
            if is_local(path):
                _lock_on_disk(pathlib.Path(path), held)
            else:
                checks.append(held.enter_context(at_work(path, "refresh")).check)
        yield check


def _lock_on_disk(path: pathlib.Path, held: contextlib.ExitStack) -> None:
    """Locks the file at `path` until `held` is closed.

    The file is then kept: if it were removed, two processes could lock two different files.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = held.enter_context(write_files.locked(path, flags=os.O_RDWR | os.O_CREAT))
    except BlockingIOError:
        holder = path.read_text("ascii", "replace")[:32].strip() or "unknown"
        raise BusyError(f"another refresh is running: process {holder} holds {path}") from None
    except OSError as error:
        raise TargetError(f"{path} cannot be created: {error.strerror}") from None
    # The process id is for users. If the disk is full, it is not written.
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
