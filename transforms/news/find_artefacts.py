"""Finds the files of a checksum list in a folder, even if the list has other folder names."""

import collections
import itertools
import posixpath
from collections.abc import Iterable, Mapping

from corpusmill.transforms.news.artefact_names import part_of


class ArtefactError(ValueError):
    """Raised if a file name is ambiguous, or if parts of a file are missing."""


class ArtefactFinder:
    """Finds files by their names.

    Args:
      names: names of the files, relative to the folder.
    """

    def __init__(self, names: Iterable[str]):
        self._files: dict[str, list[str]] = collections.defaultdict(list)  # base name → names
        self._parts: dict[str, dict[str, dict[tuple[int, int], str]]] = collections.defaultdict(
            lambda: collections.defaultdict(dict)
        )  # base name of the whole → name of the whole → its parts
        for name in sorted(names):
            self._files[posixpath.basename(name)].append(name)
            if part := part_of(name):
                whole, number, count = part
                self._parts[posixpath.basename(whole)][whole][number, count] = name

    def find(self, name: str) -> tuple[str, ...]:
        """Finds a file by its path `name`, whose first folders may differ. Returns (path of the file,).

        At least the file name must be equal. Of several such files, the one whose path has the most folders
        at its end in common with `name` is returned. If the file exists only in parts, returns the paths of
        all parts in order. Returns () if there is no such file.

        Raises ArtefactError if several files match equally well, or if parts are missing.
        """
        base = posixpath.basename(name)
        if found := self._files.get(base):
            return (_choose(found, name),)
        if wholes := self._parts.get(base):
            whole = _choose(wholes, name)
            return _in_order(whole, wholes[whole])
        return ()


def _choose(names: Iterable[str], wanted: str) -> str:
    """Returns the path in `names` that has the most parts at its end in common with the path `wanted`.

    Parts are the names of folders and of the file. In a tie, a path without further parts is preferred.
    Raises ArtefactError if several paths remain.
    """
    shared = {name: _shared_parts(name, wanted) for name in names}
    most = max(shared.values())
    best = [name for name in shared if shared[name] == most]
    whole = [name for name in best if most == len(name.split("/"))]
    if len(whole or best) > 1:
        raise ArtefactError(f"the name is ambiguous, it may be any of {', '.join(best)}")
    return (whole or best)[0]


def _shared_parts(name: str, other: str) -> int:
    pairs = zip(reversed(name.split("/")), reversed(other.split("/")), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _in_order(whole: str, parts: Mapping[tuple[int, int], str]) -> tuple[str, ...]:
    """Returns the names of all parts of a file in order. Raises ArtefactError if some are missing."""
    _, count = min(parts)
    expected = [(number, count) for number in range(count)]
    missing = [number for number, _ in expected if (number, count) not in parts]
    if missing:
        raise ArtefactError(
            f"{len(missing)} of the {count} parts of {whole} are missing, the first is {missing[0]:05d}"
        )
    if len(parts) > count:
        raise ArtefactError(f"there are several sets of parts of {whole}: keep only one of them")
    return tuple(parts[one] for one in expected)
