"""Arguments of a command → the files of texts that they name, training texts or evaluation sets.

corpora/lm1b/en/2007-2011-1.1.0     a finished build, or a folder above some
flores101_dataset#ukr,vie           a data set in the layout of FLORES; some of its languages
'squad/*.parquet#question,context'  Parquet or JSON lines, and the columns of texts (default: text)
'news/*.gz'                         text, of which each line is one
SQUAD=squad.jsonl                   a set, with a name of its own
"""

import pathlib
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from apache_beam.io.filesystems import FileSystems

from pipelines.corpora import layouts, shapes
from transforms.builds.compare_editions import document_files
from transforms.builds.finished_builds import Build, find_folders, open_build
from transforms.duplicates.read_evaluation_sets import EvaluationSet
from transforms.duplicates.read_texts import (
    FILES,
    JSON_LINES,
    LINES,
    PARQUET,
    TextFile,
    columns_of_file,
    kind_of_file,
)
from transforms.files.open_input import InputError, match_inputs
from transforms.text.wikimedia.article_markers import MARKERS

TRAIN = "train"
FLORES_SPLITS = ("dev", "devtest", "test")

_COLUMN = "text"
_ID = "id"
_NAMED = re.compile(r"([\w.-]+)=(.+)")
_SHARD = re.compile(r"-\d+-of-\d+$")
_SUFFIXES = re.compile(r"(\.(parquet|jsonl?|ndjson|txt|tsv|csv|gz|bz2|xz|zst|zstd))+$")


class _Argument(NamedTuple):
    name: str  # "" where none is given
    path: str
    columns: tuple[str, ...]  # or languages


def find_training_files(
    arguments: Sequence[str], id_column: str = "", whole_files: bool = False
) -> list[TextFile]:
    """The files of training texts: of builds, the split "train".

    Args:
      id_column: of Parquet and JSON lines; "" is "id", where there is one.
      whole_files: whether a file of text is one text, not one a line.

    Raises InputError for what is not there, ValueError for columns that are not.
    """
    found: list[TextFile] = []
    for argument in map(_parse, arguments):
        if not _is_folder(argument.path):
            found += _foreign_files(argument, id_column, whole_files)
            continue
        for build in _builds_below(argument.path):
            files = [file for file in _files_of(build, argument) if file.split == TRAIN]
            if not files:
                raise InputError(build.folder, "a build without a split train")
            found += files
    return list(dict.fromkeys(found))


def find_evaluation_sets(arguments: Sequence[str], id_column: str = "") -> list[EvaluationSet]:
    """The sets that are tested on: of builds, all splits but "train".

    Raises InputError for what is not there, ValueError for columns that are not, and for two sets with one
    name.
    """
    found = [one for argument in map(_parse, arguments) for one in _sets_of(argument, id_column)]
    names = [one.name for one in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two sets are called {twice[0]}: name one, as in NAME=PATH")
    return found


def find_data_sets(arguments: Sequence[str], id_column: str = "") -> list[EvaluationSet]:
    """Documents with all their splits, and the text unchanged.

    Raises InputError for what is not there, ValueError for columns that are not, and for builds of sentences.
    """
    found = []
    for argument in map(_parse, arguments):
        if not _is_folder(argument.path):
            files = tuple(_foreign_files(argument, id_column))
            found.append(EvaluationSet(argument.name or posixpath.basename(argument.path), files))
            continue
        for build in _builds_below(argument.path):
            if shapes()[build.corpus].repeats:
                raise ValueError(
                    f"{build.folder} holds sentences: corpusmill contamination compares those"
                )
            files = tuple(file._replace(blank=()) for file in _files_of(build, argument))
            found.append(EvaluationSet(f"{build.corpus}/{build.name}", files))
    return found


def _parse(argument: str) -> _Argument:
    named = _NAMED.fullmatch(argument)
    name, path = named.groups() if named else ("", argument)
    path, _, columns = path.partition("#")
    return _Argument(name, path, tuple(filter(None, columns.split(","))))


def find_named_builds(argument: str) -> list[Build]:
    """The finished builds at and below a folder. Raises ValueError for another argument, or with columns."""
    parsed = _parse(argument)
    if not _is_folder(parsed.path) or parsed.columns:
        raise ValueError(f"{argument}: only from a finished build, whole, can anything be removed")
    return _builds_below(parsed.path)


def _is_folder(path: str) -> bool:
    if "://" not in path:
        return pathlib.Path(path).is_dir()
    (match,) = FileSystems.match([f"{path.rstrip('/')}/**"], [1])
    return bool(match.metadata_list)


def _sets_of(argument: _Argument, id_column: str) -> list[EvaluationSet]:
    if not _is_folder(argument.path):
        files = tuple(_foreign_files(argument, id_column))
        return [EvaluationSet(argument.name or posixpath.basename(argument.path), files)]
    if flores := _flores_files(argument):
        name = argument.name or posixpath.basename(argument.path.rstrip("/"))
        return [EvaluationSet(name, tuple(flores))]
    found = []
    builds = _builds_below(argument.path)
    for build in builds:
        name = argument.name if argument.name and len(builds) == 1 else ""
        files = tuple(file for file in _files_of(build, argument) if file.split != TRAIN)
        if not files:
            raise InputError(build.folder, "a build without splits that are held out")
        found.append(EvaluationSet(name or f"{build.corpus}/{build.name}", files))
    return found


def _flores_files(argument: _Argument) -> list[TextFile]:
    """The files of a data set in the layout of FLORES, `devtest/ukr.devtest`; none for another folder."""
    folder = argument.path.rstrip("/")
    patterns = [FileSystems.join(folder, split, f"*.{split}") for split in FLORES_SPLITS]
    paths = [data.path for match in FileSystems.match(patterns) for data in match.metadata_list]
    by_language: dict[str, list[TextFile]] = {}
    for path in sorted(paths):
        language, _, split = posixpath.basename(path).rpartition(".")
        file = TextFile(path, LINES, split=f"{split} {language}")
        by_language.setdefault(language, []).append(file)
    wanted = argument.columns or tuple(by_language)
    if missing := sorted(set(wanted) - set(by_language)) if paths else []:
        raise ValueError(
            f"{folder} has no language {', '.join(missing)}; it has {', '.join(by_language)}"
        )
    return [file for language in wanted for file in by_language.get(language, [])]


def _builds_below(folder: str) -> list[Build]:
    builds = [open_build(path) for path in find_folders([folder]).finished]
    known = {name: shape for name, shape in shapes().items() if shape.texts}
    found = [
        build
        for build in builds
        if build.corpus in known and document_files(build, known[build.corpus])
    ]
    if not found:
        raise InputError(folder, "no finished build with documents here or below")
    return found


def _files_of(build: Build, argument: _Argument) -> list[TextFile]:
    shape = shapes()[build.corpus]
    layout = layouts().get(build.corpus)
    columns = argument.columns or ((layout.column,) if layout else shape.texts[:1])
    blank = MARKERS if layout and layout.paragraphs == "article" else ()
    return [
        TextFile(one.file.path, PARQUET, columns, shape.id, one.file.split, tuple(blank))
        for one in document_files(build, shape)
    ]


def _foreign_files(
    argument: _Argument, id_column: str, whole_files: bool = False
) -> Iterable[TextFile]:
    for path in match_inputs([argument.path]):
        kind = kind_of_file(path)
        split = _split_of(path)
        if kind == LINES:
            if argument.columns:
                raise ValueError(
                    f"{path} is text, and has no columns {', '.join(argument.columns)}"
                )
            yield TextFile(path, FILES if whole_files else LINES, split=split)
            continue
        there = columns_of_file(path, kind)
        columns = argument.columns or (_COLUMN,)
        wanted = [*columns, *([id_column] if id_column else [])]
        # Keys that are missing in the first line may be in others, if they are asked for by name.
        missing = [name for name in wanted if name not in there]
        if missing and (kind != JSON_LINES or not argument.columns):
            raise ValueError(
                f"{path} has no column {', '.join(missing)}, but {', '.join(there)}: name those of texts,"
                f" as in {argument.path}#{there[0] if there else 'NAME'}"
            )
        key = id_column or (_ID if _ID in there else "")
        yield TextFile(path, kind, columns, key, split)


def _split_of(path: str) -> str:
    """ "validation" of "squad/validation-00000-of-00002.parquet"."""
    return _SHARD.sub("", _SUFFIXES.sub("", posixpath.basename(path)))
