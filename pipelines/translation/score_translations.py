"""Scores translations with spBLEU and chrF++, for whole files, by domain, and for many directions.

A direction is a pair of source and target language. The method is that of Goyal et al. 2022 (FLORES-101),
sections 5.2 and 6.4. Scores and signatures are those of sacrebleu.
"""

import concurrent.futures
import contextlib
import itertools
import logging
import multiprocessing
import operator
import pathlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from corpusmill.pipelines.run.provenance import VERSION
from corpusmill.pipelines.run.publish import TargetError
from corpusmill.pipelines.translation.spbleu_model import Model, read_file, read_model
from corpusmill.pipelines.translation.translation_directions import Direction, find_directions
from corpusmill.pipelines.translation.translation_scores import (
    ALWAYS,
    Group,
    SystemScores,
    Task,
    group_lines,
    score_systems,
    signatures,
)
from corpusmill.transforms.files.compression import DECODE_ERRORS
from corpusmill.transforms.files.open_input import InputError, open_input
from corpusmill.transforms.files.safe_files import make_beside
from corpusmill.transforms.files.tables import read_table
from corpusmill.transforms.files.translation_records import ReadError
from corpusmill.transforms.translation.source_table import metadata_names

TOKENIZED_LINES = 100
"""A file with at least this many lines that end in " ." is reported as tokenised, as in sacrebleu."""
MOST_PLACES = 5  # maximum number of empty lines listed in a warning


class Scored(NamedTuple):
    """The scores for one file of translations."""

    direction: Direction
    scores: SystemScores
    warnings: tuple[str, ...]


class Report(NamedTuple):
    """All scores from one call of `score_translations`."""

    metrics: tuple[str, ...]
    model: Model
    signatures: dict[str, str]  # metric → signature
    scored: tuple[Scored, ...]
    warnings: tuple[str, ...]


class _Plan(NamedTuple):
    """The directions that are scored against the same reference file, and the settings for scoring them."""

    directions: tuple[Direction, ...]
    metadata: str  # path; "" for none
    model: Model
    metrics: tuple[str, ...]


def score_translations(
    reference: str,
    hypotheses: Sequence[str],
    *,
    model: str = "",
    metadata: str = "",
    more_metrics: Sequence[str] = (),
    workers: int = 1,
) -> Report:
    """Scores translations against references.

    References and translations may each be a file, or a folder with files for many directions.

    Args:
      reference: A file; a folder of files `<target>.<split>`; or a folder with one subfolder of such files
        for each split.
      hypotheses: Files; folders of files `<source>-<target>.<split>`; or folders with one subfolder of such
        files for each system.
      model: A SentencePiece model file, or the name of a model that sacrebleu has downloaded; "" for the
        model flores101 of sacrebleu.
      metadata: A table with the columns `domain` and `topic` and a row for each line of the reference; or a
        folder with such tables, named `metadata_<split>.tsv` (or `metedata_<split>.tsv`, as misspelled in the
        release). If "", there are no scores by domain and topic.
      more_metrics: Metrics to compute in addition to spBLEU and chrF++: "chrF", "BLEU".
      workers: The maximum number of processes. Each process scores all directions of one reference.

    Raises InputError, which names the file, if a file cannot be read or does not match the others.
    """
    found, warnings = find_directions(reference, hypotheses)
    pieces = read_model(model)
    metrics = (*ALWAYS, *more_metrics)
    place = operator.attrgetter("split", "reference")
    plans = [
        _Plan(tuple(directions), _metadata_of(metadata, split), pieces, metrics)
        for (split, _), directions in itertools.groupby(sorted(found, key=place), key=place)
    ]
    if len(plans) > 1:
        for plan in plans:
            _read_plan(plan)  # raises errors for mismatched files now, instead of after hours
    scored = sorted(itertools.chain.from_iterable(_run(plans, workers)))
    return Report(
        metrics,
        pieces,
        signatures(Task([""], [], (), pieces.data, pieces.name, metrics, VERSION)),
        tuple(scored),
        (*pieces.warnings, *warnings, *dict.fromkeys(w for one in scored for w in one.warnings)),
    )


def _run(plans: Sequence[_Plan], workers: int) -> Iterator[list[Scored]]:
    if workers == 1 or len(plans) == 1:
        yield from map(_score_plan, plans)
        return
    # Forking a process with threads, which Beam and Arrow start, may hang.
    context = multiprocessing.get_context("spawn")
    quiet = (logging.disable, (logging.CRITICAL,))  # Beam warns of libraries that are absent
    count = min(workers, len(plans))
    with concurrent.futures.ProcessPoolExecutor(count, context, *quiet) as pool:
        yield from pool.map(_score_plan, plans)


def _score_plan(plan: _Plan) -> list[Scored]:
    task, warnings = _read_plan(plan)
    return [
        Scored(*one) for one in zip(plan.directions, score_systems(task), warnings, strict=True)
    ]


# Reading.


def _read_plan(plan: _Plan) -> tuple[Task, list[tuple[str, ...]]]:
    """Reads the reference and the translations of a plan.

    Returns a Task with their lines, which a worker process can score, and a tuple of warnings for each
    direction.
    """
    reference = plan.directions[0].reference
    references = read_lines(reference)
    if not references:
        raise InputError(reference, "is empty, so nothing can be scored against this reference")
    of_reference = _warnings(reference, references)
    systems, warnings = [], []
    for direction in plan.directions:
        lines = read_lines(direction.hypothesis)
        if len(lines) != len(references):
            raise InputError(
                direction.hypothesis,
                f"has {len(lines):,} lines, but the reference {reference} has {len(references):,}; both must"
                " have the same number of lines",
            )
        systems.append(lines)
        warnings.append((*of_reference, *_warnings(direction.hypothesis, lines, is_output=True)))
    groups = _read_groups(plan.metadata, reference, len(references)) if plan.metadata else []
    model = plan.model
    task = Task(references, systems, groups, model.data, model.name, plan.metrics, VERSION)
    return task, warnings


def read_lines(path: str) -> list[str]:
    """Returns the lines of a text file and removes trailing spaces. Only LF ends a line, as in sacrebleu."""
    lines = _read_text(path).split("\n")
    if not lines[-1]:
        del lines[-1]
    return [line.rstrip() for line in lines]


def _read_text(path: str) -> str:
    try:
        data = read_file(path, open_input)
    except DECODE_ERRORS as error:
        raise InputError(path, f"damaged or truncated: {error}") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise InputError(path, f"line {number} is not UTF-8") from None


def _warnings(path: str, lines: Sequence[str], is_output: bool = False) -> Iterator[str]:
    if lines and lines[0].startswith("\ufeff"):
        yield f"{path}: begins with a byte order mark, which counts as a character, as in sacrebleu"
    empty = [str(number) for number, line in enumerate(lines, 1) if not line.strip()]
    if empty:
        places = ", ".join(empty[:MOST_PLACES]) + (", …" if len(empty) > MOST_PLACES else "")
        yield f"{path}: {len(empty):,} empty lines: {places}"
    cut = sum(line.endswith(" .") for line in lines)
    if is_output and cut >= TOKENIZED_LINES:
        yield f'{path}: {cut:,} lines end in " .", as tokenised text does, but scores need untokenised text'


def _metadata_of(path: str, split: str) -> str:
    if not path or not pathlib.Path(path).is_dir():
        return path
    if not split:
        raise InputError(
            path,
            "is a folder with a metadata table for each split, so the file names of the translations must"
            " contain their split, like eng-fra.devtest; rename the files, or give the path of one table",
        )
    names = metadata_names(split)
    for place in (pathlib.Path(path, name) for name in names):
        if place.is_file():
            return str(place)
    raise InputError(path, f"this folder does not contain {' or '.join(names)}")


def _read_groups(path: str, reference: str, count: int) -> list[Group]:
    text = _read_text(path)
    try:
        rows = [row for _, row in read_table(text, ("domain", "topic"))]
    except ReadError as error:
        raise InputError(path, str(error)) from None
    if len(rows) != count:
        raise InputError(
            path,
            f"must have a row for each of the {count:,} lines of {reference}, but has {len(rows):,}",
        )
    return group_lines([row["domain"] for row in rows], [row["topic"] for row in rows])


# Output.


@contextlib.contextmanager
def new_folder(target: str) -> Iterator[Callable[[str, str], None]]:
    """Yields a function that writes a file to a new folder. Its arguments are the file name and the content.

    The folder gets the name `target` when the `with` block ends without an error; until then its files are
    in a temporary folder. If `target` is "", nothing is written. Raises TargetError if the folder exists
    and is not empty.
    """
    if not target:
        yield lambda name, content: None
        return
    folder = pathlib.Path(target).absolute()
    _check_is_free(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = make_beside(folder.parent, f".{folder.name}.")
    except OSError as error:
        raise TargetError(f"{target} cannot be created: {error.strerror}") from None
    try:

        def write(name: str, content: str) -> None:
            (beside / name).write_text(content, "utf-8", newline="\n")

        yield write
        _check_is_free(folder)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _check_is_free(folder: pathlib.Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TargetError(f"{folder} is not empty; use another --output")
