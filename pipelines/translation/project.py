"""A translation project: a folder with the sentences, the rules of acceptance and a journal per language.

    project.json  source.tsv  languages/<code>/0001/ 0002/ …

The files of a project are never changed. New events are added to the journals (see journal.py).

Reads the sentences of a new project from a table, a finished build or a released data set.
"""

import functools
import os
import pathlib
import re
import shutil
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import msgspec

from corpusmill.transforms.files import write_files
from corpusmill.transforms.files.builds.manifest import COMPLETED, to_json
from corpusmill.transforms.files.markup import read_table
from corpusmill.transforms.files.read_files import InputError, read_text
from corpusmill.transforms.files.records import SPLITS, ReadError, SourceSentence
from corpusmill.transforms.files.write_files import sync
from corpusmill.transforms.translation import source_table

from ..run.publish import TargetError
from .journal import fill_folder, read_bytes, sha256_of
from .review import choose_sample
from .target_languages import FLORES101_CODES, TargetLanguage, find_language

SOURCE_CODES = ("eng", "eng_Latn")  # codes of English in FLORES-101 and FLORES-200


def find_source(path: str) -> list[SourceSentence]:
    """Returns the sentences to translate, sorted by split and by position in the split.

    Args:
      path: a source.tsv; the folder of a finished build with this file; or the folder of a released data set
        with `metadata_devtest.tsv` and `eng.devtest`, which may be in `devtest/`. Missing splits are skipped.

    Raises InputError for any other path, and for damaged files.
    """
    place = pathlib.Path(path)
    if not place.is_dir():
        return read_source_file(place)
    if (place / source_table.NAME).is_file():
        if not (place / COMPLETED).is_file() and (place / "manifest.json").exists():
            raise InputError(path, f"no finished build: there is no file {COMPLETED}")
        return read_source_file(place / source_table.NAME)
    return _read_release(place)


def read_source_file(path: pathlib.Path) -> list[SourceSentence]:
    """Reads a source.tsv. Raises InputError if it cannot be read or is damaged."""
    try:
        return source_table.read_source(read_text(str(path)))
    except ReadError as error:
        raise InputError(str(path), str(error)) from None


def _read_release(folder: pathlib.Path) -> list[SourceSentence]:
    sentences: list[SourceSentence] = []
    for split in SPLITS:
        texts = [f"{code}.{split}" for code in SOURCE_CODES]
        if text := _first_file((folder, folder / split), texts):
            names = source_table.metadata_names(split)
            if not (metadata := _first_file((folder, folder.parent), names)):
                message = f"there is no {names[0]} in this folder or its parent folder"
                raise InputError(str(folder), message)
            sentences += _read_split(text, metadata, split)
    if not sentences:
        wanted = f"{source_table.NAME}, {SOURCE_CODES[0]}.dev or {SOURCE_CODES[0]}.devtest"
        raise InputError(str(folder), f"no sentences to translate: there is no {wanted}")
    return sentences


def _first_file(folders: Iterable[pathlib.Path], names: Iterable[str]) -> pathlib.Path | None:
    paths = (folder / name for folder in folders for name in names)
    return next((path for path in paths if path.is_file()), None)


def _read_split(text: pathlib.Path, metadata: pathlib.Path, split: str) -> list[SourceSentence]:
    lines = read_text(str(text)).removesuffix("\n").split("\n")
    try:
        rows = list(read_table(read_text(str(metadata)), source_table.METADATA_COLUMNS))
        if len(lines) != len(rows):
            message = f"must have one line for each of the {len(rows):,} rows of {metadata}"
            raise InputError(str(text), f"{message}, but has {len(lines):,}")
        first_of_url: dict[str, str] = {}
        sentences = []
        for place, (line, (number, row)) in enumerate(zip(lines, rows, strict=True), 1):
            if not line.strip():
                raise InputError(str(text), f"line {place} is empty")
            name = source_table.sentence_id(split, place)
            # A release has no page ids, so an article is identified by its first sentence.
            article = f"{row['domain']}:{first_of_url.setdefault(row['URL'], name)}"
            told = {"id": name, "split": split, "article": article, "url": row["URL"], "text": line}
            sentences.append(source_table.to_sentence(number, {**row, **told}))
    except ReadError as error:
        raise InputError(str(metadata), str(error)) from None
    return sentences


FORMAT = 1
DEFAULT_NAME = "flores101"
_SETTINGS = "project.json"
_LANGUAGES = "languages"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class _Settings(msgspec.Struct):
    """The content of project.json. Fractions are stored as strings such as "1/5"."""

    format: int
    name: str
    seed: int
    review_share: str
    accepted_score: str
    source_sha256: str


class Rules(NamedTuple):
    """The settings of a project. They are valid if `check_rules` accepts them."""

    name: str = DEFAULT_NAME  # letters, digits and ._-
    seed: int = 0  # seed of the review sample
    review_share: Fraction = Fraction(1, 5)
    accepted_score: Fraction = Fraction(90)  # least score of an accepted language, of 100


class Project:
    """A translation project in a folder. `sentences` and `ids` are read when they are first used."""

    def __init__(self, folder: pathlib.Path, rules: Rules, source_sha256: str) -> None:
        self.folder = folder
        self.rules = rules
        self.source_sha256 = source_sha256

    @property
    def key(self) -> str:
        """The key that identifies the project in packets: its name and part of the SHA-256 of
        the sentences.
        """
        return f"{self.rules.name}-{self.source_sha256[:8]}"

    @functools.cached_property
    def sentences(self) -> Sequence[SourceSentence]:
        """The sentences, sorted by split and by position in the split.

        Raises InputError if source.tsv was changed since the project was created.
        """
        path = self.folder / source_table.NAME
        if sha256_of(read_bytes(path)) != self.source_sha256:
            message = f"was changed or is damaged: its SHA-256 is not the one in {_SETTINGS}"
            raise InputError(str(path), message)
        return tuple(read_source_file(path))

    @functools.cached_property
    def ids(self) -> Sequence[str]:
        """Ids of the sentences, in order."""
        return tuple(sentence.id for sentence in self.sentences)

    @functools.cached_property
    def sample(self) -> Sequence[str]:
        """Ids of the sentences to review. They are the same in all languages."""
        return choose_sample(self.sentences, self.rules.review_share, self.rules.seed)

    @property
    def languages(self) -> list[str]:
        """Codes of the languages that have a journal, sorted."""
        try:
            folders = [path for path in (self.folder / _LANGUAGES).iterdir() if path.is_dir()]
        except FileNotFoundError:
            return []
        return sorted(path.name for path in folders if not path.name.startswith("."))

    def language(self, code: str) -> TargetLanguage:
        """Returns the language with a code. "uk", "ukr_Cyrl" and "ukr" give the same language.

        The returned language has the code that is used in the project or, if it is not in the project, the
        code of FLORES-101. Raises ValueError for an unknown code.
        """
        named = find_language(code)
        known = self.languages
        if named.code not in known:
            names = (*known, *FLORES101_CODES)
            same = (one for one in names if find_language(one).tag == named.tag)
            return find_language(next(same, code))
        return named

    def journal(self, code: str) -> pathlib.Path:
        """Returns the folder of a language's journal. `code` must be the code that is used in the project."""
        return self.folder / _LANGUAGES / code


def create_project(folder: str, rules: Rules, sentences: Sequence[SourceSentence]) -> Project:
    """Creates a project in a folder, completely or not at all. If the folder already has the same project,
    opens it.

    Raises TargetError if the folder contains another project or other files, and ValueError for invalid
    rules.
    """
    check_rules(rules)
    table = source_table.write_source(sentences).encode("utf-8")
    project = Project(pathlib.Path(folder), rules, sha256_of(table))
    if is_project(folder):
        return _the_same(project)
    target = project.folder.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    building = target.with_name(f".{target.name}.unfinished")
    try:
        with write_files.locked(target.parent, waits=True):
            shutil.rmtree(building, ignore_errors=True)  # left by a killed process
            try:
                building.mkdir()
                settings = {
                    "format": FORMAT,
                    **rules._asdict(),
                    "review_share": str(rules.review_share),
                    "accepted_score": str(rules.accepted_score),
                    "source_sha256": project.source_sha256,
                }
                content = to_json(settings).encode("utf-8")
                fill_folder(building, {source_table.NAME: table, _SETTINGS: content})
                building.rename(target)  # replaces an empty folder only
                sync(target.parent)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    except OSError as error:
        if is_project(folder):
            return _the_same(project)  # another process has just created it
        raise TargetError(f"cannot create a project in {folder}: {error.strerror}") from None
    return open_project(folder)


def _the_same(project: Project) -> Project:
    there = open_project(str(project.folder))
    if (there.rules, there.source_sha256) != (project.rules, project.source_sha256):
        raise TargetError(
            f"{project.folder} is a project with other sentences or rules; leave out --source to continue it"
        )
    return there


def check_rules(rules: Rules) -> None:
    """Raises ValueError if a setting of a project is invalid: its name, review share or accepted score."""
    if not _NAME.fullmatch(rules.name):
        raise ValueError(
            "`name` must consist of letters, digits, '.', '_' and '-', beginning with a letter or digit, got"
            f" {rules.name!r}"
        )
    share = rules.review_share
    if not 0 < share <= 1:
        raise ValueError(f"the review share must be above 0 and at most 1, got {share}")
    if not 0 <= rules.accepted_score <= 100:
        raise ValueError(f"the accepted score must be from 0 to 100, got {rules.accepted_score}")


def is_project(folder: str) -> bool:
    """Returns True if the folder contains a project."""
    return (pathlib.Path(folder) / _SETTINGS).is_file()


def open_project(folder: str) -> Project:
    """Opens a project. Raises InputError if the folder is not a project or has another format."""
    path = pathlib.Path(folder) / _SETTINGS
    if not path.is_file():
        message = f"there is no {_SETTINGS}; create one with `packets --source`"
        raise InputError(folder, f"not a translation project: {message}")
    try:
        settings = msgspec.json.decode(read_bytes(path), type=_Settings)
        shares = Fraction(settings.review_share), Fraction(settings.accepted_score)
    except (msgspec.MsgspecError, ValueError, ZeroDivisionError, RecursionError) as error:
        raise InputError(str(path), f"is damaged: {error}") from None
    if settings.format != FORMAT:
        message = f"but this version of corpusmill reads format {FORMAT}"
        raise InputError(str(path), f"has format {settings.format}, {message}")
    rules = Rules(settings.name, settings.seed, *shares)
    return Project(pathlib.Path(os.path.normpath(folder)), rules, settings.source_sha256)
