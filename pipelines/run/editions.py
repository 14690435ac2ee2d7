"""Manages the editions of a corpus in one folder, and the file that contains the name of the current edition.

    <output>/wiki40b/uk/20261101-1.3.0/     a finished build
    <output>/wiki40b/uk/20261120-1.3.0/
    <output>/wiki40b/uk/CURRENT             one line: 20261101-1.3.0

Users of the corpus read CURRENT and open the folder with this name. CURRENT is replaced atomically, and only
by the name of an edition that passed its checks. An edition is never changed, and is removed only when
CURRENT contains the name of another edition.
"""

import contextlib
import logging
import os
import pathlib
import re
import shutil
import time
from collections.abc import Collection

from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run.publish import is_completed, remove_build
from corpusmill.pipelines.run.store_builds import may_be_at_work
from corpusmill.transforms.files.builds.finished_builds import COMPLETED, open_build
from corpusmill.transforms.files.disk_sync import sync
from corpusmill.transforms.files.file_lock import locked
from corpusmill.transforms.files.list_folders import list_subfolders
from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.safe_files import read_if_there, remove_if_there, write_whole
from corpusmill.transforms.files.stores import is_local, remove_below

CURRENT = "CURRENT"
SUMMARY = ".json"
"""The counts of a report are in a file with the name of the report and this suffix."""

_EDITION = re.compile(r"(\d{4}[\w.-]*|latest|undated)-(\d+(?:\.\d+)+)")
_LEFTOVER = re.compile(rf"\.({_EDITION.pattern})\.(?:stages|building-.*)")
Age = tuple[bool, str, tuple[int, ...]]


def name_of(date: str, version: str) -> str:
    """Returns the name of an edition, made from the date of its dump and its version: "20261101-1.3.0"."""
    return f"{date}-{version}"


def is_future(date: str) -> bool:
    """Returns True if `date`, such as "20261101" or a year, is later than tomorrow."""
    tomorrow = time.strftime("%Y%m%d", time.gmtime(time.time() + 86_400))
    return date.isdigit() and date[:8] > tomorrow


def age_of(name: str) -> Age:
    """Returns a sort key for names of editions: the newest edition sorts last.

    A date in the future must be wrong, so editions with such a date sort before all others. Raises ValueError
    if `name` is not the name of an edition.
    """
    found = _EDITION.fullmatch(name)
    if not found:
        raise ValueError(
            f"{name!r} is not the name of an edition; expected one like 20261101-1.3.0"
        )
    date = found[1]
    is_date = date.isdigit() and not is_future(date)
    return is_date, date, tuple(map(int, found[2].split(".")))


def read_current(folder: str) -> str:
    """Returns the name of the current edition in the folder of a corpus; "" if there is none.

    If the current edition is missing, unfinished, or has a date in the future, logs a warning and returns "".
    Raises OSError if the disk or store cannot be read.
    """
    path = FileSystems.join(folder, CURRENT)
    content = read_if_there(path)
    if content is None:
        return ""
    name = content.strip()
    found = _EDITION.fullmatch(name)
    fault = ""
    if not found or not is_completed(FileSystems.join(folder, name)):
        fault = "not a finished build"
    elif is_future(found[1]):
        fault = "dated in the future"
    if fault:
        logging.getLogger(__name__).warning("%s contains %r, which is %s", path, name, fault)
    return "" if fault else name


def fault_of_current(folder: str) -> str:
    """Returns what is wrong with the file CURRENT in the folder of a corpus.

    Returns "" if CURRENT is missing, or contains the name of a finished build.
    """
    content = read_if_there(FileSystems.join(folder, CURRENT))
    if content is None:
        return ""
    name = content.removesuffix("\n")
    is_name = content == f"{name}\n" and _EDITION.fullmatch(name)
    if is_name and is_completed(FileSystems.join(folder, name)):
        return ""
    return "must contain one line with the name of a finished build in this folder"


def set_current(folder: str, name: str) -> None:
    """Makes a finished build the current edition. Raises InputError if the build is not finished."""
    target = FileSystems.join(folder, name)
    if not is_completed(target):
        raise InputError(target, f"no finished build: there is no file {COMPLETED}")
    if is_local(folder):
        _sync_tree(pathlib.Path(target))
    write_whole(FileSystems.join(folder, CURRENT), f"{name}\n".encode())


def list_finished(folder: str) -> list[str]:
    """Returns the names of the finished builds in the folder of a corpus, the oldest first."""
    return [name for name in _list(folder) if is_completed(FileSystems.join(folder, name))]


def prune(folder: str, keep: int, rejected: Collection[str] = ()) -> list[str]:
    """Removes the editions that are older than the current edition, except the newest `keep` - 1 of them.
    Returns the names of the removed editions.

    The current edition, and all editions newer than it, are kept. If there is no current edition, nothing is
    removed.

    Args:
      keep: The number of editions to keep, including the current edition, but not counting newer ones.
      rejected: Names of editions that were not accepted. They do not count towards `keep`, and are removed
        when they are older than the current edition. The same applies to unfinished editions.
    """
    current = read_current(folder)
    if not current:
        return []
    older = [name for name in _list(folder) if age_of(name) < age_of(current)]
    finished = set(list_finished(folder)) - set(rejected)
    whole = [name for name in older if name in finished]  # the oldest first
    kept = whole[len(whole) - min(keep - 1, len(whole)) :]
    removed = [name for name in older if name not in kept]
    for name in removed:
        for report in (report_of(name), report_of(name) + SUMMARY, verdict_of(name)):
            remove_if_there(FileSystems.join(folder, report))
        remove_build(FileSystems.join(folder, name))
    return removed


def report_of(name: str) -> str:
    """Returns the name of the file that lists an edition's changes since the previous edition.

    The file is in the folder of the corpus, beside the folder of the edition.
    """
    return f"changes-{name}.tsv"


def verdict_of(name: str) -> str:
    """Returns the name of the file that lists the findings of an edition's check.

    The file is in the folder of the corpus, beside the folder of the edition. The in-process runner does not
    write it, because its workers return the findings directly.
    """
    return f"verified-{name}.tsv"


def signature_of(folder: str, name: str) -> str:
    """Returns the signature of a finished build, such as "wiki40b|lang:uk|dump:20261101|v:1.3.0".

    Raises InputError if the build is damaged.

    Args:
      folder: The folder of the corpus.
      name: The name of the build, which is a folder in `folder`.
    """
    return open_build(FileSystems.join(folder, name)).signature


def _sync_tree(target: pathlib.Path) -> None:
    """Waits until all files of a build are on the disk, so that a power failure cannot lose any of them."""
    for parent, _, names in os.walk(target):
        for name in names:
            sync(pathlib.Path(parent, name))
        sync(pathlib.Path(parent))
    sync(target.parent)


def _list(folder: str) -> list[str]:
    names = [name for name in list_subfolders(folder) if _EDITION.fullmatch(name)]
    return sorted(names, key=age_of)


def remove_leftovers(folder: str) -> list[str]:
    """Removes the temporary folders that killed builds have left, if the folders belong to the current or an
    older edition. Returns the names of the removed folders.

    No later build resumes these builds. Folders of newer editions are kept, and so are the folders of an
    edition that another process is building. If there is no current edition, nothing is removed.
    """
    current = read_current(folder)
    removed = []
    for name in list_subfolders(folder):
        found = _LEFTOVER.fullmatch(name)
        if current and found and age_of(found[1]) <= age_of(current):
            if is_local(folder):
                is_removed = _remove_unused(pathlib.Path(folder, name))
            else:
                is_removed = _remove_unused_in_store(folder, name, found[1])
            if is_removed:
                removed.append(name)
    return removed


def _remove_unused_in_store(folder: str, name: str, edition: str) -> bool:
    """Removes a temporary folder in an object store, unless a process may be building its edition.

    Args:
      folder: The folder of the corpus.
      name: The name of the temporary folder, which is in `folder`.
      edition: The name of the edition for which the temporary folder was made.

    Returns True if the temporary folder was removed.
    """
    if may_be_at_work(FileSystems.join(folder, edition)):
        return False
    remove_below(FileSystems.join(folder, name))
    return True


def _remove_unused(folder: pathlib.Path) -> bool:
    """Removes a folder on a disk, unless another process has locked the folder. Returns True if the folder
    was removed.
    """
    with contextlib.suppress(BlockingIOError), locked(folder):
        shutil.rmtree(folder)
        return True
    return False
