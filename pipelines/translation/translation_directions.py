"""Finds the system, languages, split and reference for each file of translations.

Files have names of the form `<source>-<target>.<split>`, such as "eng-zho_simpl.devtest". All files in a
folder are translations by the same system.
"""

import pathlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.open_input import InputError

_DIRECTION = re.compile(
    r"(?P<source>[A-Za-z]{2,3}(?:_[A-Za-z]+)*)-(?P<target>[A-Za-z]{2,3}(?:_[A-Za-z]+)*)"
    r"\.(?P<split>\w+)(?:\.(?:gz|bz2|xz|zst))?"
)


class Direction(NamedTuple):
    """A file of translations, its languages and its reference.

    The sort order of directions is the order in which they are displayed.
    """

    system: str  # folder or file name that identifies the system; "" if there is only one
    split: str  # "devtest"; "" if the file name has no split
    source: str  # code of a language, or ""
    target: str
    hypothesis: str  # path
    reference: str  # path


def find_directions(reference: str, hypotheses: Sequence[str]) -> tuple[list[Direction], list[str]]:
    """Returns the directions that can be scored, and warnings about files that cannot be scored.

    Args:
      reference: The reference file, or a folder with a reference file for each target language and split.
      hypotheses: Files of translations, and folders of such files.

    Raises InputError if a direction has no reference or occurs twice, or if a folder contains no
    translations.
    """
    is_folder = pathlib.Path(reference).is_dir()
    found: dict[tuple[str, ...], Direction] = {}
    warnings = []
    for given in hypotheses:
        before = len(found)
        for system, path in _files(given, hypotheses):
            direction = _direction(system, path, reference, is_folder)
            if direction is None:
                if path == given:
                    raise InputError(
                        path,
                        "must have a name like eng-fra.devtest, because the name selects the reference"
                        f" in {reference}",
                    )
                warnings.append(f"not scored, because the name is not like eng-fra.devtest: {path}")
                continue
            if (same := found.setdefault(direction[:4], direction)) is not direction:
                raise InputError(path, f"has the same system and direction as {same.hypothesis}")
        if len(found) == before:
            raise InputError(
                given, "contains no translations: no file has a name like eng-fra.devtest"
            )
    return _without_common_system(found.values()), warnings


def _files(given: str, hypotheses: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields a pair (name of the system, path) for a file, or for each file in a folder and its subfolders.

    The name of the system consists of the name of `given` and the path of the subfolder: "google/2026" for a
    file in the subfolder "2026" of the folder "google". If `given` is the only element of `hypotheses`, the
    name of `given` is left out. If another element has the same name, the whole path of `given` replaces it.
    Hidden files, and files in hidden subfolders, are skipped.

    Args:
      given: One of `hypotheses`.
      hypotheses: All files and folders of translations that the user has given.
    """
    names = [pathlib.Path(path).name for path in hypotheses]
    top = pathlib.Path(given)
    name = "" if len(names) == 1 else top.name if names.count(top.name) == 1 else given
    if not top.is_dir():
        yield name, given
        return
    for path in sorted(top.rglob("*")):
        inside = path.relative_to(top).parts
        if path.is_file() and not any(part.startswith(".") for part in inside):
            yield "/".join(filter(None, (name, *inside[:-1]))), str(path)


def _direction(system: str, path: str, reference: str, is_folder: bool) -> Direction | None:
    name = pathlib.Path(path).name
    named = _DIRECTION.fullmatch(name)
    if not named and is_folder:
        return None
    source, target, split = named.group("source", "target", "split") if named else ("", "", "")
    if is_folder:
        reference = _reference_of(reference, target, split, path)
    elif not named and not system.endswith(name):
        system = "/".join(filter(None, (system, name)))
    return Direction(system, split, source, target, path, reference)


def _reference_of(folder: str, target: str, split: str, path: str) -> str:
    name = f"{target}.{split}"
    for place in (pathlib.Path(folder) / name, pathlib.Path(folder) / split / name):
        if place.is_file():
            return str(place)
    raise InputError(path, f"there is no reference for this file: {folder} does not contain {name}")


def _without_common_system(directions: Iterable[Direction]) -> list[Direction]:
    """Returns the directions, with the name of the system set to "" if all belong to the same system.

    Names are kept if the languages of a direction are unknown.
    """
    found = list(directions)
    systems = {direction.system for direction in found}
    if len(systems) == 1 and all(direction.source for direction in found):
        return [direction._replace(system="") for direction in found]
    return found
