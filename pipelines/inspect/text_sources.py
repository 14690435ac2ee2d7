"""Finds the text files for command-line arguments, such as training texts or evaluation sets.

Arguments have these forms:

corpora/lm1b/en/2007-2011-*         a finished build, or a folder with builds below it
flores101_dataset#ukr,vie           a folder with the layout of FLORES, and the languages to use
mmlu                                a folder of an evaluation set, as on the Hugging Face hub or in its cache
'squad/*.parquet#question,context'  Parquet, Arrow, CSV or JSON, and the columns to use (default: text)
'squad/*.parquet#answers.text'      a field in a field
squad.json                          an evaluation set whose fields are in evaluation_sets.toml
'news/*.gz'                         text files with one document per line
table.txt#lines                     the lines of a file that seems to have records
SQUAD=squad.jsonl                   any of these, with a name for the data set
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.duplicates import read_texts
from corpusmill.transforms.duplicates.find_contamination import EvaluationSet
from corpusmill.transforms.duplicates.read_texts import (
    FILES,
    TextFile,
    check_texts,
    find_shape,
    first_rows,
)
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    files_below,
    find_finished,
    open_build,
)
from corpusmill.transforms.files.builds.manifest import COMPLETED, MANIFEST
from corpusmill.transforms.files.formats import PARQUET
from corpusmill.transforms.files.read_files import InputError, match_inputs, open_input
from corpusmill.transforms.files.stores import is_folder
from corpusmill.transforms.files.text_kinds import (
    JSON_LINES,
    LINES,
    check_no_records,
    kind_of_file,
)
from corpusmill.transforms.wikitext.article_markers import MARKERS

from ..run.corpora import layout_of, shape_of
from .compare import document_files

TRAIN = "train"
FLORES_SPLITS = ("dev", "devtest", "test")

_COLUMN = "text"
_ID = "id"
_AS_LINES = ("lines",)
_NAMED = re.compile(r"([\w.-]+)=(.+)")
_SHARD = re.compile(r"-\d+-of-\d+$")
_SUFFIXES = re.compile(r"(\.(parquet|arrow|jsonl?|ndjson|txt|tsv|csv|gz|bz2|xz|zst|zstd))+$")
_ROWS = re.compile(r"\.(parquet|arrow|jsonl|ndjson|csv|tsv)(\.(gz|bz2|xz|zst|zstd))?$")
_TRAIN = re.compile(r"(?<![^\W_])train(?![^\W_])")
_NO_CONFIG = re.compile(r"(^data/|\d+\.\d+\.\d+/[0-9a-f]{16,}/)")  # other folders


class _Argument(NamedTuple):
    name: str  # "" if none is given
    path: str
    columns: tuple[str, ...]  # the names after "#": columns, or languages of a FLORES folder
    splits: Mapping[str, str] = {}  # path → name of its split, if the path is a folder of files
    is_evaluation: bool = False  # whether the fields of common evaluation sets are known


def find_training_files(
    arguments: Sequence[str], id_column: str = "", whole_files: bool = False
) -> list[TextFile]:
    """Returns the files of training texts that `arguments` name. For builds, only the split "train" is used.

    Args:
      arguments: Paths, in the forms that the module describes.
      id_column: The column with ids in Parquet and JSON lines; "" for the column "id", if it exists.
      whole_files: Whether each text file is a single text. Otherwise each line is a text.

    Raises InputError for missing files, ValueError for missing columns.
    """
    found: list[TextFile] = []
    for argument, build, files in _read_arguments(arguments, id_column, whole_files):
        if build:
            files = [file for file in _files_of(build, argument) if file.split == TRAIN]
            if not files:
                raise InputError(build.folder, "the build has no split train")
            check_texts(build.folder, files)
        found += files
    return list(dict.fromkeys(found))


def _read_arguments(
    arguments: Sequence[str], id_column: str, whole_files: bool = False
) -> Iterator[tuple[_Argument, Build | None, list[TextFile]]]:
    """Yields (argument, build, []) for each build, and (argument, None, files) for other files."""
    for argument in map(_parse, arguments):
        if is_folder(argument.path):
            yield from ((argument, build, []) for build in _builds_below(argument.path))
        else:
            yield argument, None, _foreign_files(argument, id_column, whole_files)


def find_evaluation_sets(arguments: Sequence[str], id_column: str = "") -> list[EvaluationSet]:
    """Returns the evaluation sets that `arguments` name. For builds, all splits except "train" are used.

    Args:
      arguments: Paths, in the forms that the module describes.
      id_column: The column with ids in Parquet and JSON lines; "" for the column "id", if it exists.

    Raises InputError for missing files, ValueError for missing columns or if two sets have the same name.
    """
    found = [one for argument in map(_parse, arguments) for one in _sets_of(argument, id_column)]
    names = [one.name for one in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two sets have the name {twice[0]}: rename one with NAME=PATH")
    return found


def find_data_sets(arguments: Sequence[str], id_column: str = "") -> list[EvaluationSet]:
    """Returns the data sets that `arguments` name, with all their splits.

    Markers in the texts of builds, such as `_START_ARTICLE_`, are kept.

    Args:
      arguments: Paths, in the forms that the module describes.
      id_column: The column with ids in Parquet and JSON lines; "" for the column "id", if it exists.

    Raises InputError for missing files, ValueError for missing columns and for builds whose rows are
    sentences.
    """
    found = []
    for argument, build, files in _read_arguments(arguments, id_column):
        name = argument.name or posixpath.basename(argument.path)
        if build:
            if (shape := shape_of(build.manifest)) and shape.repeats:
                raise ValueError(
                    f"{build.folder}: the documents of this build are single {shape.unit}; compare them with"
                    " `corpusmill contamination`"
                )
            name = f"{build.corpus}/{build.name}"
            files = [file._replace(blank=()) for file in _files_of(build, argument)]
            check_texts(build.folder, files)
        found.append(EvaluationSet(name, tuple(files)))
    return found


def find_rows(path: str, columns: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields (position, row) for each row of a file that must have some columns. Raises InputError."""
    if (kind := kind_of_file(path)) == LINES:
        with open_input(path) as stream:
            if not stream.read(1):
                return
        raise InputError(path, f"text, but must be rows with {' and '.join(columns)}")
    file = TextFile(path, kind, tuple(columns) if kind == PARQUET else ())
    for part in read_texts.plan_parts(file, 1):
        for places, rows in read_texts.read_rows(part):
            yield from zip(places, rows, strict=True)


def _parse(argument: str) -> _Argument:
    named = _NAMED.fullmatch(argument)
    name, path = named.groups() if named else ("", argument)
    path, _, columns = path.partition("#")
    return _Argument(name, path, tuple(filter(None, columns.split(","))))


class Sources(NamedTuple):
    """The finished builds and other files that command-line arguments name."""

    builds: list[Build]
    files: list[tuple[str, TextFile]]  # (name of the data set, file)


def find_sources(
    arguments: Sequence[str], id_column: str = "", whole_files: bool = False
) -> Sources:
    """Returns the builds and files that `arguments` name, from which documents are to be removed.

    Args:
      arguments, id_column, whole_files: As in `find_training_files`.

    Raises ValueError if columns of builds are named.
    """
    found = Sources([], [])
    for argument, build, files in _read_arguments(arguments, id_column, whole_files):
        if build and argument.columns:
            raise ValueError(f"{argument.path}: documents can be removed only from whole builds")
        found.builds.extend([build] if build else [])
        name = argument.name or posixpath.basename(argument.path)
        found.files.extend((name, file) for file in files)
    return found


def _sets_of(argument: _Argument, id_column: str) -> list[EvaluationSet]:
    name = argument.name or posixpath.basename(argument.path.rstrip("/"))
    if is_folder(argument.path):
        files = _flores_files(argument) or _hub_files(argument, id_column)
    else:
        files = _foreign_files(argument._replace(is_evaluation=True), id_column)
    if files:
        return [EvaluationSet(name, tuple(files))]
    found = []
    builds = _builds_below(argument.path)
    for build in builds:
        name = argument.name if argument.name and len(builds) == 1 else ""
        held_out = tuple(file for file in _files_of(build, argument) if file.split != TRAIN)
        if not held_out:
            raise InputError(build.folder, "the build has no held-out splits")
        check_texts(build.folder, held_out)
        found.append(EvaluationSet(name or f"{build.corpus}/{build.name}", held_out))
    return found


def _hub_files(argument: _Argument, id_column: str) -> list[TextFile]:
    """Returns the files of an evaluation set, in a folder as on the hub or in a cache of it.

    The folder of a configuration is part of the names of its splits. Files of a split train are left out
    unless there are no others. For a folder with builds, which may be unfinished, returns [].
    """
    found = {}
    for path in sorted(files_below(argument.path)):
        folders, _, name = path.removeprefix(argument.path).strip("/").rpartition("/")
        if name in (COMPLETED, MANIFEST):
            return []
        if _ROWS.search(name):
            config = _NO_CONFIG.sub("", f"{folders}/").strip("/")
            found[path] = f"{config} {_split_of(path)}".strip()
    splits = {path: split for path, split in found.items() if not _TRAIN.search(split)} or found
    wanted = argument._replace(splits=splits, is_evaluation=True)
    return _foreign_files(wanted, id_column) if splits else []


def _flores_files(argument: _Argument) -> list[TextFile]:
    """Returns the files of a data set with the layout of FLORES, such as `devtest/ukr.devtest`.

    Returns an empty list if the folder does not have this layout.
    """
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
            f"{folder} has no files for {', '.join(missing)}; it has files for {', '.join(by_language)}"
        )
    found = [file for language in wanted for file in by_language.get(language, [])]
    for file in found:
        check_texts(file.path, [file])
    return found


def _builds_below(folder: str) -> list[Build]:
    try:
        builds = [open_build(path) for path in find_finished([folder])]
    except InputError as error:
        hint = f"name the files of data of others, as in {folder.rstrip('/')}/*.parquet"
        raise InputError(error.path, f"{error.message}; {hint}") from None
    found = [
        build
        for build in builds
        if (shape := shape_of(build.manifest)) and shape.texts and document_files(build, shape)
    ]
    if not found:
        raise InputError(folder, "no finished build with documents in this folder or below")
    return found


def _files_of(build: Build, argument: _Argument) -> list[TextFile]:
    shape, layout = shape_of(build.manifest), layout_of(build.manifest)
    assert shape  # `_builds_below` leaves out other builds
    columns = argument.columns or ((layout.column,) if layout else shape.texts[:1])
    blank = MARKERS if layout and layout.paragraphs == "article" else ()
    kind = PARQUET if build.format == PARQUET else JSON_LINES
    return [
        TextFile(one.file.path, kind, columns, shape.id, one.file.split, tuple(blank))
        for one in document_files(build, shape)
        if one.listed.records or kind == PARQUET  # nothing says which keys an empty file has
    ]


def _split_of(path: str) -> str:
    return _SHARD.sub("", _SUFFIXES.sub("", posixpath.basename(path)))


def _foreign_files(
    argument: _Argument, id_column: str, whole_files: bool = False
) -> list[TextFile]:
    splits = argument.splits or {path: _split_of(path) for path in match_inputs([argument.path])}
    found = [_foreign_file(*one, argument, id_column, whole_files) for one in splits.items()]
    for file in found:
        if file.kind != FILES:
            check_texts(file.path, [file])
    if whole := [file for file in found if file.kind == FILES]:
        check_texts(argument.path, whole)
    return found


def _foreign_file(
    path: str, split: str, argument: _Argument, id_column: str, whole_files: bool
) -> TextFile:
    is_text = argument.columns == _AS_LINES
    kind = kind_of_file(path, is_text=is_text)
    if kind == LINES:
        file = TextFile(path, FILES if whole_files else LINES, split=split)
        if argument.columns and not is_text:
            check_texts(path, [file])
            raise ValueError(
                f"{path} is a text file, which has no columns: remove #{','.join(argument.columns)}"
            )
        if file.kind == LINES and not is_text:
            check_no_records(path)
        return file
    there = read_texts.columns_of_file(path, kind)
    if id_column and id_column not in there:
        raise ValueError(f"{path}: no column {id_column} with ids; the file has {', '.join(there)}")
    key = id_column or (_ID if _ID in there else "")
    known = (
        find_shape(first_rows(path, kind))
        if argument.is_evaluation and not argument.columns
        else None
    )
    if known:
        shape, ids = known
        return TextFile(path, kind, shape.fields, id_column or ids, split, shape=shape.name)
    columns = argument.columns or (_COLUMN,)
    # A key that is missing in the first lines may be in other lines, if the user named it.
    missing = [one for one in columns if one not in there and one.partition(".")[0] not in there]
    if missing and (kind != JSON_LINES or not argument.columns):
        raise ValueError(
            f"{path}: missing columns: {', '.join(missing)}; the file has {', '.join(there)}: name the"
            f" column with the texts, as in {argument.path}#{there[0] if there else 'NAME'}"
        )
    return TextFile(path, kind, columns, key, split)
