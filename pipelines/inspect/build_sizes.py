"""Reads the sizes of finished builds and, for Wiki-40B, the sizes in the paper.

As in Table 2 of the paper, characters per piece and coverage are measured on the validation and test splits
together. Coverage is the share of characters that are part of a vocabulary piece, and are neither spelled in
bytes nor unknown (99.9 % in the paper).
"""

import contextlib
import pathlib
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.builds.finished_builds import Build, open_build, read_json
from corpusmill.transforms.files.builds.manifest import COMPLETED
from corpusmill.transforms.files.builds.paper_figures import (
    PAPER,
    Beside,
    PaperScore,
    signed_settings,
)
from corpusmill.transforms.files.read_files import (
    InputError,
    check_folder,
    is_there,
    list_files,
    list_subfolders,
)
from corpusmill.transforms.files.stores import is_local
from corpusmill.transforms.files.text import SPLITS
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES

from ..run.corpora import paper_of, row_of_build
from .language_model_scores import read_normalisers

STATS = "stats.json"
MAX_DEPTH = 4
"""Number of levels of subfolders that are searched for builds. The folder of a build is normally three levels
below the output folder: <output>/<corpus>/<edition>/<build>.
"""

_MEASURED = SPLITS[1:]  # the splits on which vocabularies are measured, as in the paper
_BUILD_FOLDER = re.compile(r"\.?[^/]+-\d+\.\d+\.\d+(\.building-[^/]+)?")


class BuildSizes(NamedTuple):
    """The sizes of one Wiki-40B build."""

    language: str  # corpus code, or "Total"
    dump_date: str
    version: str
    articles: int
    sections: int
    pieces: Mapping[str, int]  # split → count; empty without a vocabulary
    characters: Mapping[str, int]  # split → count; a marker counts as one
    characters_per_piece: float | None
    coverage: float | None
    paper_articles: int
    paper_characters_per_piece: float
    # of the paper's models with 32k pieces, on test; None for a total, and if it is not shown
    paper_bits_per_character: float | None
    edition: str = ""  # "uk-lists-none"; "Total" for a total
    differs: str = ""  # what differs from the corpus of the paper


class _Counts(msgspec.Struct):
    """The counts of a split in stats.json."""

    articles: int
    sections: int
    characters: int
    pieces: int = 0
    unknown_characters: int = 0
    byte_characters: int = 0


class KeptDocuments(NamedTuple):
    """The numbers of documents and words in a build of a corpus other than Wiki-40B."""

    corpus: str
    edition: str
    dump_date: str
    version: str
    unit: str  # of documents, such as "sentences"
    kept: Mapping[str, int]  # split → count; a split may be a part of another
    paper: Mapping[str, int]  # split → count of the published corpus; empty if unknown
    # split → number of words for word-level perplexity; empty for older builds
    words: Mapping[str, int]
    paper_words: Mapping[str, int]
    paper_scores: Mapping[str, str]  # split → the best score of the paper: "33.6 perplexity"
    why_no_paper: str = ""  # why no figures of the paper stand beside the build
    differs: str = ""  # what differs from the corpus of the paper
    is_released: bool = False  # the build is the corpus of the paper


class Found(NamedTuple):
    """The builds that were found in some folders and their subfolders."""

    rows: list[BuildSizes]  # sorted by LANGUAGE_CODES, date and version
    unfinished: list[str]  # folders
    others: Sequence[KeptDocuments] = ()  # builds of other corpora, sorted by name


def find_sizes(folders: Sequence[str]) -> Found:
    """Finds the builds in `folders` and their subfolders, and reads the sizes of the finished ones.

    Raises InputError if a path is not a folder, if there is no finished build, or if a build cannot be read.
    """
    finished: dict[str, str] = {}
    unfinished: dict[str, str] = {}
    for folder in folders:
        check_folder(folder)
        for build, is_finished in _builds_below(folder, MAX_DEPTH):
            # All links to a folder have the same resolved path.
            path = str(pathlib.Path(build).resolve()) if is_local(build) else build
            (finished if is_finished else unfinished).setdefault(path, build)
    read = [sizes for sizes in map(read_sizes, finished.values()) if sizes]
    compared = [sizes for sizes in read if isinstance(sizes, BuildSizes)]
    others = [sizes for sizes in read if isinstance(sizes, KeptDocuments)]
    left_out = sorted(unfinished.values())
    if not read:
        names = f"; unfinished: {', '.join(left_out)}" if left_out else ""
        raise InputError(
            ", ".join(folders), f"no finished build of a corpus in this folder or below{names}"
        )
    return Found(sorted(compared, key=_order), left_out, sorted(others, key=lambda one: one[:4]))


def _builds_below(folder: str, depth: int) -> Iterator[tuple[str, bool]]:
    """Yields a pair (path, is_finished) for each build: `folder` itself, or the builds up to `depth` levels
    below it.
    """
    if COMPLETED in list_files(folder):
        yield folder, True
    elif _BUILD_FOLDER.fullmatch(posixpath.basename(folder.rstrip("/"))):
        yield folder, False
    elif depth:
        for name in list_subfolders(folder):
            yield from _builds_below(FileSystems.join(folder, name), depth - 1)


def _order(row: BuildSizes) -> tuple[int, str, str, tuple[int, ...]]:
    version = tuple(map(int, row.version.split(".")))
    return LANGUAGE_CODES.index(row.language), row.edition, row.dump_date, version


def read_sizes(folder: str) -> BuildSizes | KeptDocuments | None:
    """Returns the sizes of a finished build, or None if the build contains no documents."""
    build = open_build(folder)
    row = row_of_build(build.manifest)
    if not row or not row.shape:
        return None
    paper = paper_of(build.signature)
    beside = paper.beside(build.manifest)
    if row.has_paper_table and not beside.no_size:
        return _read_sizes(build, beside)
    if not (kept := build.manifest.get("counts", {}).get("kept")):
        return None
    of_splits = {split: count for split, count in kept.items() if split != "total"}
    by_language = "rows_by_language" in build.manifest or "|layout:floresplus|" in build.signature
    named = row.name, build.edition, build.dump_date, build.manifest["version"]
    words = _count_words(build, (*row.shape.splits, "paper_test"))
    scores = {split: paper.scores_of(build.signature, split) for split in words}
    return KeptDocuments(
        *named,
        "translations" if by_language else row.shape.unit,
        of_splits,
        {} if beside.no_size else paper.published(build.manifest),
        words,
        {} if beside.no_size else paper.words,
        {split: _best(of) for split, of in scores.items() if of and not beside.no_score},
        beside.no_size,
        *beside[2:],
    )


@contextlib.contextmanager
def counts_are_read(folder: str) -> Iterator[None]:
    """Raises InputError if a `with` block fails because stats.json of a build has values of a wrong type.

    The schema of stats.json differs between corpora, and is only known where its values are used.
    """
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            FileSystems.join(folder, STATS),
            "the build is damaged: a value in this file, or in another table of the build, cannot be used"
            f" ({type(error).__name__}: {error})",
        ) from error


def _count_words(build: Build, splits: Sequence[str]) -> dict[str, int]:
    """Returns split → number of words, counted as in the paper of the corpus.

    Splits without such a count are left out. The result is empty for a package of translations.
    """
    if not is_there(FileSystems.join(build.folder, STATS)):
        return {}
    stats = {"stats": read_json(build.folder, STATS)}
    words = {}
    with counts_are_read(build.folder):
        for split in splits:
            with contextlib.suppress(ValueError):
                words[split] = read_normalisers(stats, split).predicted_words
    return {split: count for split, count in words.items() if count}


def _best(scores: Sequence[PaperScore]) -> str:
    best = min(scores, key=lambda score: score.value)
    return f"{best.printed} {best.metric}"


def _read_sizes(build: Build, beside: Beside) -> BuildSizes:
    stats = _read_stats(build.folder)
    has_pieces = any(stats[split].pieces for split in SPLITS)
    measured = [stats[split] for split in _MEASURED]
    characters = sum(of.characters for of in measured)
    spelled = sum(of.unknown_characters + of.byte_characters for of in measured)
    language = signed_settings(build.signature)["lang"]
    paper = PAPER[language]
    bits = paper.scores["32k", "test"].bits_per_character
    return BuildSizes(
        language=language,
        dump_date=build.dump_date,
        version=build.manifest["version"],
        articles=stats["total"].articles,
        sections=stats["total"].sections,
        pieces={split: stats[split].pieces for split in SPLITS} if has_pieces else {},
        characters={split: stats[split].characters for split in SPLITS},
        characters_per_piece=_ratio(characters, sum(of.pieces for of in measured)),
        coverage=_ratio(characters - spelled, characters) if has_pieces else None,
        paper_articles=paper.articles,
        paper_characters_per_piece=paper.characters_per_piece["32k"],
        paper_bits_per_character=None if beside.no_score else bits,
        edition=build.edition,
        differs=beside.differs,
    )


def _read_stats(folder: str) -> Mapping[str, _Counts]:
    """Reads the counts of a build from stats.json. Returns split → counts; the sums have the key "total".

    Raises InputError if counts are missing.
    """
    found = read_json(folder, STATS)
    try:
        stats = msgspec.convert(found, dict[str, _Counts])
        missing = {*SPLITS, "total"} - stats.keys()
        if missing:
            raise ValueError(f"there are no counts of {', '.join(sorted(missing))}")
    except (msgspec.ValidationError, ValueError) as error:
        path = FileSystems.join(folder, STATS)
        raise InputError(path, f"the build is damaged: {error}") from None
    return stats


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def newest_of_each_language(rows: Sequence[BuildSizes]) -> list[BuildSizes]:
    """Returns the row of the newest build of each language, in the order of `rows`, that of `find_sizes`.

    It is of the edition whose name is the first: the one with the default settings, if there is one.
    """
    found: dict[str, BuildSizes] = {}
    for row in rows:
        if row.language not in found or row.edition == found[row.language].edition:
            found[row.language] = row
    return list(found.values())


def total_of(rows: Sequence[BuildSizes]) -> BuildSizes:
    """Returns a row with the sums over the newest build of each language.

    The row also has the sums of the paper's figures, for the same languages.
    """
    newest = newest_of_each_language(rows)
    have_pieces = all(row.pieces for row in newest)
    pieces = {s: sum(row.pieces[s] for row in newest) for s in SPLITS} if have_pieces else {}
    characters = {split: sum(row.characters[split] for row in newest) for split in SPLITS}
    measured = sum(characters[split] for split in _MEASURED)
    covered = [
        (row.coverage or 0) * sum(row.characters[split] for split in _MEASURED) for row in newest
    ]
    paper = [PAPER[row.language].scores["32k", split] for row in newest for split in _MEASURED]
    return BuildSizes(
        language="Total",
        dump_date="",
        version="",
        articles=sum(row.articles for row in newest),
        sections=sum(row.sections for row in newest),
        pieces=pieces,
        characters=characters,
        characters_per_piece=_ratio(measured, sum(pieces.get(split, 0) for split in _MEASURED)),
        coverage=sum(covered) / measured if have_pieces and measured else None,
        paper_articles=sum(row.paper_articles for row in newest),
        paper_characters_per_piece=sum(s.characters for s in paper) / sum(s.pieces for s in paper),
        paper_bits_per_character=None,
        edition="Total",
    )
