"""Finds the builds and files from which a vocabulary over many languages is trained, and on which it is
evaluated.
"""

import logging
import pathlib
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.subwords_settings import parse_argument
from corpusmill.pipelines.translation.language_keys import language_key
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    age_of,
    find_folders,
    open_build,
)
from corpusmill.transforms.files.open_input import InputError, match_inputs
from corpusmill.transforms.models.count_pieces import EvaluationFile
from corpusmill.transforms.models.layout import Layout
from corpusmill.transforms.models.read_sentences import SentenceSources

EVALUATED_SPLITS = ("dev", "devtest")  # splits of FLORES; its split test is withheld

_Source = TypeVar("_Source", Build, str)


def find_sources(arguments: Sequence[str], layouts: Mapping[str, Layout]) -> SentenceSources:
    """Finds the builds and text files that arguments name, and groups them by language.

    A folder is searched for builds, and the newest build of each edition is used. Any other argument must be
    a pattern of text files after a language, such as "uk=texts/*.gz". If an argument has a language before a
    folder, this language is used for all builds in the folder.

    Args:
      arguments: The arguments of --corpora.
      layouts: Name of each supported corpus → its layout.

    Raises InputError if nothing is found, ValueError if a file has no language or two languages.
    """
    told: dict[str, tuple[Build, str]] = {}
    named: dict[str, tuple[Build, str]] = {}
    texts: dict[str, str] = {}
    for language, path in map(parse_argument, arguments):
        key = language_key(language) if language else ""
        if _is_folder(path):
            for build in _builds_below(path, layouts):
                if key:
                    _claim(build.folder, named.setdefault(build.folder, (build, key))[1], key)
                else:
                    told[build.folder] = build, language_key(build.language)
        elif key:
            for file in match_inputs([path]):
                _claim(file, texts.setdefault(file, key), key)
        else:
            raise _no_language(path)
    builds = _newest((told | named).values())
    return SentenceSources(
        builds=_by_language((key, build) for build, key in builds),
        texts=_by_language((key, path) for path, key in sorted(texts.items())),
        layouts=layouts,
    )


def _claim(path: str, before: str, key: str) -> None:
    if before != key:
        first, second = sorted((before, key))
        raise ValueError(f"{path} is given with two languages, {first} and {second}; use one")


def _by_language(pairs: Iterable[tuple[str, _Source]]) -> dict[str, list[_Source]]:
    sources: dict[str, list[_Source]] = {}
    for language, source in pairs:
        sources.setdefault(language, []).append(source)
    return dict(sorted(sources.items()))


def _no_language(path: str) -> Exception:
    files = match_inputs([path])
    return ValueError(
        f"{files[0]}: the language is missing; write it before the path, as in uk={path}"
    )


def _is_folder(path: str) -> bool:
    if "://" not in path:
        return pathlib.Path(path).is_dir()
    (match,) = FileSystems.match([f"{path.rstrip('/')}/**"], [1])
    return bool(match.metadata_list)


def _builds_below(folder: str, layouts: Mapping[str, Layout]) -> Iterator[Build]:
    found = find_folders([folder])
    for path in found.unfinished:
        logging.getLogger(__name__).warning("skipped, because the build is not finished: %s", path)
    learnable = 0
    for path in found.finished:
        build = open_build(path)
        if not any(build.files.values()):
            continue  # a build without text, such as a model or an entity table
        if build.corpus in layouts:
            learnable += 1
            yield build
        else:
            logging.getLogger(__name__).warning(
                "skipped, because no vocabulary can be learned from builds of %s: %s",
                build.corpus,
                path,
            )
    if not learnable:
        raise InputError(
            folder, f"no finished build of {', '.join(layouts)} in this folder or below"
        )


def _newest(found: Iterable[tuple[Build, str]]) -> list[tuple[Build, str]]:
    """Returns only the newest build of each corpus, edition and language, sorted by these three.

    Both `found` and the result consist of pairs (build, language).
    """
    newest: dict[tuple[str, str, str], tuple[Build, str]] = {}
    for build, language in sorted(found, key=lambda one: age_of(one[0])):
        newest[build.corpus, build.edition, language] = build, language
    return [newest[edition] for edition in sorted(newest)]


def find_evaluation(folders: Sequence[str]) -> tuple[EvaluationFile, ...]:
    """Returns the dev and devtest files in folders with the layout of FLORES, such as `devtest/ukr.devtest`.

    Raises InputError if a folder has no such files, or if a file name does not begin with a known language.
    """
    files: dict[str, EvaluationFile] = {}
    for folder in folders:
        patterns = [
            FileSystems.join(folder.rstrip("/"), split, f"*.{split}") for split in EVALUATED_SPLITS
        ]
        found = [
            metadata.path
            for match in FileSystems.match(patterns)
            for metadata in match.metadata_list
        ]
        if not found:
            raise InputError(folder, f"there are no files like {' or '.join(patterns)}")
        files |= {path: EvaluationFile(_language_of_file(path), path) for path in found}
    return tuple(files[path] for path in sorted(files))


def _language_of_file(path: str) -> str:
    try:
        return language_key(posixpath.basename(path).rpartition(".")[0])
    except ValueError as error:
        raise InputError(path, str(error)) from None
