"""Finds an artefact of a list among the files of a folder: lists are made in other folders."""

import collections
import itertools
import posixpath
from collections.abc import Iterable, Mapping

from transforms.text.news.artefact_names import part_of


class ArtefactError(ValueError):
    """An artefact that is there, and not in one way."""


class ArtefactFinder:
    """Finds artefacts by their names.

    Args:
      names: of the files, relative to their folder.
    """

    def __init__(self, names: Iterable[str]):
        self._files: dict[str, list[str]] = collections.defaultdict(list)  # base name → names
        self._parts: dict[str, dict[str, dict[tuple[int, int], str]]] = collections.defaultdict(
            lambda: collections.defaultdict(dict)
        )  # base name of the whole → its name → its parts
        for name in sorted(names):
            self._files[posixpath.basename(name)].append(name)
            if part := part_of(name):
                whole, number, count = part
                self._parts[posixpath.basename(whole)][whole][number, count] = name

    def find(self, name: str) -> tuple[str, ...]:
        """The file with a name, or with as much of the end of the name as any has, in folders or not.

        A file that is there only in parts is all of them, in order. () where there is nothing. Raises
        ArtefactError where several files are meant as well, and where parts lack.
        """
        base = posixpath.basename(name)
        if found := self._files.get(base):
            return (_choose(found, name),)
        if wholes := self._parts.get(base):
            whole = _choose(wholes, name)
            return _in_order(whole, wholes[whole])
        return ()


def _choose(names: Iterable[str], wanted: str) -> str:
    """The one of several names that shares most of its end with the wanted one.

    A name that is such an end as a whole, as files of the folder itself are, is before others.
    """
    shared = {name: _shared_parts(name, wanted) for name in names}
    most = max(shared.values())
    best = [name for name in shared if shared[name] == most]
    whole = [name for name in best if most == len(name.split("/"))]
    if len(whole or best) > 1:
        raise ArtefactError(f"may be any of {', '.join(best)}")
    return (whole or best)[0]


def _shared_parts(name: str, other: str) -> int:
    pairs = zip(reversed(name.split("/")), reversed(other.split("/")), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _in_order(whole: str, parts: Mapping[tuple[int, int], str]) -> tuple[str, ...]:
    """All parts. Raises ArtefactError."""
    _, count = min(parts)
    expected = [(number, count) for number in range(count)]
    missing = [number for number, _ in expected if (number, count) not in parts]
    if missing:
        raise ArtefactError(
            f"{len(missing)} of the {count} parts of {whole} are not there: {missing[0]:05d} is the first"
        )
    if len(parts) > count:
        raise ArtefactError(f"{whole} is there in parts of several sets")
    return tuple(parts[one] for one in expected)
