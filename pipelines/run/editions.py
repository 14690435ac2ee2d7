"""Manages the editions of a corpus in one folder, and the file that contains the name of the current edition.

    <output>/wiki40b/uk/20261101-1.3.0/     a finished build
    <output>/wiki40b/uk/20261120-1.3.0/
    <output>/wiki40b/uk/CURRENT             one line: 20261101-1.3.0

Users of the corpus read CURRENT and open the folder with this name. CURRENT is replaced atomically, and only
by the name of an edition that passed its checks. An edition is never changed, and is removed only when
CURRENT contains the name of another edition.

Writes cards (README.md) into the folders above finished builds. Hugging Face `datasets` needs them to load
builds.

    <output>/wiki40b/README.md        lists one build of each edition: the current or else the newest one
    <output>/wiki40b/uk/README.md     lists all builds; `datasets` loads the current or else the newest one

The cards depend only on the finished builds: the same builds give the same bytes.

Chooses which build of each edition to use: the current build or, if there is none, the newest.
"""

import contextlib
import itertools
import logging
import os
import pathlib
import posixpath
import re
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.builds import finished_builds
from corpusmill.transforms.files.builds.dataset_card import MARK, BuildBelow, make_folder_card
from corpusmill.transforms.files.builds.manifest import COMPLETED
from corpusmill.transforms.files.read_files import InputError, list_subfolders
from corpusmill.transforms.files.stores import is_local, list_below, refusal_of, remove_below
from corpusmill.transforms.files.write_files import (
    locked,
    read_if_there,
    remove_if_there,
    sync,
    write_whole,
)

from .publish import is_completed, may_be_at_work, remove_build

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


def edition_age(name: str) -> Age:
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
    older = [name for name in _list(folder) if edition_age(name) < edition_age(current)]
    whole = [  # the oldest first
        name
        for name in older
        if name not in rejected and is_completed(FileSystems.join(folder, name))
    ]
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


def _sync_tree(target: pathlib.Path) -> None:
    """Waits until all files of a build are on the disk, so that a power failure cannot lose any of them."""
    for parent, _, names in os.walk(target):
        for name in names:
            sync(pathlib.Path(parent, name))
        sync(pathlib.Path(parent))
    sync(target.parent)


def _list(folder: str) -> list[str]:
    names = [name for name in list_subfolders(folder) if _EDITION.fullmatch(name)]
    return sorted(names, key=edition_age)


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
        if current and found and edition_age(found[1]) <= edition_age(current):
            leftover = FileSystems.join(folder, name)
            if is_local(folder):
                with contextlib.suppress(BlockingIOError), locked(leftover):
                    shutil.rmtree(leftover)
                    removed.append(name)
            elif not may_be_at_work(FileSystems.join(folder, found[1])):
                remove_below(leftover)
                removed.append(name)
    return removed


FOLDER_CARD = "README.md"
_WRONG = (
    "does not match the builds in this folder: it is damaged, or builds were added or removed;"
    " the next build in this folder writes it again"
)
ROUNDS = 5
"""Maximum number of times that a card is written, if other processes add or remove builds in the meantime."""


def write_cards(targets: Iterable[str]) -> None:
    """Updates the cards (README.md) of editions and corpora after builds were added or removed.

    A README.md that corpusmill did not write is kept. Errors are only logged, because the builds themselves
    are complete.

    Args:
      targets: The folders of the builds that were added or removed.
    """
    editions = sorted({FileSystems.split(target)[0] for target in targets})
    for folder in editions:
        _update(folder, _card_of_edition)
    for folder in sorted({FileSystems.split(edition)[0] for edition in editions}):
        _update(folder, _card_of_corpus)


def find_wrong_cards(editions: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields a pair (path, description of the fault) for each card that does not match the builds below it.

    Cards that corpusmill did not write are ignored. A missing card is reported only if corpusmill has written
    another card of the same corpus. Otherwise, the builds may have been copied without their cards.

    Args:
      editions: The folders that directly contain builds.
    """
    for corpus, below in itertools.groupby(
        sorted(editions), lambda path: FileSystems.split(path)[0]
    ):
        try:
            cards = {corpus: _card_of_corpus(corpus)}
            cards |= {edition: _card_of_edition(edition) for edition in below}
        except InputError:  # a build is damaged, so the expected card is not known
            continue
        found = {folder: read_if_there(FileSystems.join(folder, FOLDER_CARD)) for folder in cards}
        ours = {folder for folder, card in cards.items() if _is_ours(found[folder] or "", card)}
        for folder, card in sorted(cards.items()):
            if found[folder] is None and card and ours:
                yield FileSystems.join(folder, FOLDER_CARD), "is missing"
            elif folder in ours and found[folder] != card:
                yield FileSystems.join(folder, FOLDER_CARD), _WRONG


def _is_ours(found: str, card: str) -> bool:
    """Returns True if a card was written by corpusmill, even if it is damaged.

    Args:
      found: The content of the card.
      card: The expected content.
    """
    parts = MARK[: len(MARK) // 2], MARK[len(MARK) // 2 :]
    return bool(found) and (any(part in found for part in parts) or card.startswith(found))


def _update(folder: str, make: Callable[[str], str]) -> None:
    path = FileSystems.join(folder, FOLDER_CARD)
    try:
        # On a disk, one process at a time. On a store, the last writer has seen all builds.
        with locked(folder, waits=True) if is_local(folder) else contextlib.nullcontext():
            for _ in range(ROUNDS):
                if not _replace(path, make(folder)):
                    return
    except Exception as error:  # the libraries of stores raise errors of many kinds
        why = error if is_local(folder) else refusal_of(error)
        logging.getLogger(__name__).warning("%s could not be written: %s", path, why)


def _replace(path: str, card: str) -> bool:
    """Replaces the card in the file `path`. Returns True if the file has changed.

    A file that corpusmill did not write is kept.

    Args:
      path: The path of the file README.md.
      card: The new content; "" to delete the file.
    """
    found = read_if_there(path) or ""
    if found == card:
        return False
    if found and MARK not in found:
        if card:
            logging.getLogger(__name__).warning(
                "%s is not replaced, because corpusmill did not write it; `datasets` loads the files that"
                " this README.md lists, which may not be those of the current build",
                path,
            )
        return False
    if card:
        write_whole(path, card.encode("utf-8"))
    else:
        FileSystems.delete([path])
    return True


def _card_of_edition(folder: str) -> str:
    names = sorted(_finished_below(folder, 1), key=_age, reverse=True)
    default = _current_of(folder, names)
    names.sort(key=lambda name: name != default)
    builds = [_build(folder, name, name) for name in names]
    corpus, edition = _corpus_of(folder, builds)
    return make_folder_card(f"{corpus}, {edition}", builds, default)


def _card_of_corpus(folder: str) -> str:
    editions: dict[str, list[str]] = {}
    for place in _finished_below(folder, 2):
        edition, name = place.split("/")
        editions.setdefault(edition, []).append(name)
    builds = []
    for edition, names in sorted(editions.items()):
        current = _current_of(FileSystems.join(folder, edition), names)
        builds.append(_build(folder, f"{edition}/{current}", edition))
    corpus, _ = _corpus_of(folder, builds)
    return make_folder_card(corpus, builds)


def _corpus_of(folder: str, builds: Sequence[BuildBelow]) -> tuple[str, str]:
    """Returns a pair (corpus, edition) from the manifest of the first build that contains a README.md.

    The names of the folders are not used, because users may have renamed the folders.

    Args:
      folder: The folder above the builds.
      builds: The builds, with their paths below `folder`.

    Returns ("", "") if no build contains a README.md.
    """
    for one in builds:
        if one.card:
            build = finished_builds.open_build(finished_builds.path_below(folder, one.folder))
            return build.corpus, build.edition
    return "", ""


def _build(folder: str, place: str, name: str) -> BuildBelow:
    card = read_if_there(FileSystems.join(folder, *place.split("/"), FOLDER_CARD))
    return BuildBelow(name, place, card or "")


def _current_of(folder: str, names: Sequence[str]) -> str:
    """Returns the name of the current build in `folder`; if there is none, the newest of `names`."""
    return read_current(folder) or max(names, key=_age, default="")


def _finished_below(folder: str, depth: int) -> Iterator[str]:
    """Yields the relative path, such as "uk/20260101-1.3.0", of each finished build `depth` levels below
    `folder`.
    """
    if is_local(folder):
        marks = pathlib.Path(folder).glob("*/" * depth + COMPLETED)
        paths = [mark.relative_to(folder).as_posix() for mark in marks]
    else:
        paths = [path for path in list_below(folder) if path.count("/") == depth]
    for path in paths:
        *parts, name = path.split("/")
        if name == COMPLETED and not any(part.startswith(".") for part in parts):
            yield "/".join(parts)


def _age(name: str) -> Any:
    """Returns a sort key for names of builds: the newest build sorts last. Builds without a date are sorted
    by version.
    """
    with contextlib.suppress(ValueError):
        return True, edition_age(name)
    parts = re.split(r"(\d+)", name)  # every second part is a number
    return False, name[:1].isdigit(), [int(one) if at % 2 else one for at, one in enumerate(parts)]


def choose_builds(
    folders: Iterable[str],
    is_wanted: Callable[[finished_builds.Build], bool] = lambda build: True,
    content: str = "documents",
    limited: bool = False,
) -> list[finished_builds.Build]:
    """Returns one build of each edition in `folders` and their subfolders, sorted by folder.

    A build made with `--limit` contains only a part of the corpus. It is left out unless `limited` is True or
    its own folder is in `folders`.

    Args:
      folders: Folders of builds, or folders above builds.
      is_wanted: Function that returns False for a build to leave out.
      content: What the wanted builds contain, for the error message.
      limited: Whether to choose builds made with `--limit` like all others.

    Raises InputError if no build is left, or if a build is damaged.
    """
    folders = list(folders)
    named = set(map(finished_builds.normalise, folders))
    found = finished_builds.find_finished(folders)
    builds = [build for build in map(finished_builds.open_build, found) if is_wanted(build)]
    if not builds:
        raise InputError(
            ", ".join(folders), f"no finished build with {content} in this folder or below"
        )
    of_edition = defaultdict(list)
    for build in builds:
        if limited or "limit" not in build.manifest.get("settings", {}) or build.folder in named:
            of_edition[posixpath.dirname(build.folder)].append(build)
    if not of_edition:
        raise InputError(
            ", ".join(folders),
            "all builds here were made with --limit; to share one, give its own folder",
        )
    return [_choose(edition, builds) for edition, builds in sorted(of_edition.items())]


def choose_build(folder: str) -> finished_builds.Build:
    """Returns the build in `folder`, or that of the only edition in its subfolders (see `choose_builds`).

    Raises InputError if there is no build, if there are builds of several editions, or if one is damaged.
    """
    if is_completed(folder):
        return finished_builds.open_build(folder)
    build, *others = choose_builds([folder], content=f"a file {COMPLETED}", limited=True)
    if others:
        named = ", ".join(f"{one.corpus}/{one.edition}" for one in (build, *others))
        raise InputError(folder, f"contains builds of {named}: give the folder of one build")
    return build


def _choose(edition: str, builds: list[finished_builds.Build]) -> finished_builds.Build:
    current = read_current(edition)
    named = [one for one in builds if posixpath.basename(one.folder) == current]
    return (named or sorted(builds, key=finished_builds.age_of))[-1]
