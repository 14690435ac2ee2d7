"""Writes cards (README.md) into the folders above finished builds. Hugging Face `datasets` needs them to load
builds.

    <output>/wiki40b/README.md        lists one build of each edition: the current or else the newest one
    <output>/wiki40b/uk/README.md     lists all builds; `datasets` loads the current or else the newest one

The cards depend only on the finished builds: the same builds give the same bytes.
"""

import contextlib
import itertools
import logging
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run.editions import age_of, read_current
from corpusmill.transforms.files.builds.finished_builds import COMPLETED, open_build, path_below
from corpusmill.transforms.files.builds.folder_card import MARK, BuildBelow, make_folder_card
from corpusmill.transforms.files.file_lock import locked
from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.safe_files import read_if_there, write_whole
from corpusmill.transforms.files.stores import is_local, list_below, refusal_of

NAME = "README.md"
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
        found = {folder: read_if_there(FileSystems.join(folder, NAME)) for folder in cards}
        ours = {folder for folder, card in cards.items() if _is_ours(found[folder] or "", card)}
        for folder, card in sorted(cards.items()):
            if found[folder] is None and card and ours:
                yield FileSystems.join(folder, NAME), "is missing"
            elif folder in ours and found[folder] != card:
                yield FileSystems.join(folder, NAME), _WRONG


def _is_ours(found: str, card: str) -> bool:
    """Returns True if a card was written by corpusmill, even if it is damaged.

    Args:
      found: The content of the card.
      card: The expected content.
    """
    parts = MARK[: len(MARK) // 2], MARK[len(MARK) // 2 :]
    return bool(found) and (any(part in found for part in parts) or card.startswith(found))


def _update(folder: str, make: Callable[[str], str]) -> None:
    path = FileSystems.join(folder, NAME)
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
            build = open_build(path_below(folder, one.folder))
            return build.corpus, build.edition
    return "", ""


def _build(folder: str, place: str, name: str) -> BuildBelow:
    card = read_if_there(FileSystems.join(folder, *place.split("/"), NAME))
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
        return True, age_of(name)
    parts = re.split(r"(\d+)", name)  # every second part is a number
    return False, name[:1].isdigit(), [int(one) if at % 2 else one for at, one in enumerate(parts)]
