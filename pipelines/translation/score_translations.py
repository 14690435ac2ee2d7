"""Scores translations with spBLEU and chrF++, for whole files, by domain, and for many directions.

A direction is a pair of source and target language. The method is that of Goyal et al. 2022 (FLORES-101),
sections 5.2 and 6.4. Scores and signatures are those of sacrebleu.

Finds the system, languages, split and reference for each file of translations.

Files have names of the form `<source>-<target>.<split>`, such as "eng-zho_simpl.devtest". All files in a
folder are translations by the same system.

Finds the SentencePiece model that spBLEU uses, and its name in the signatures of scores.
"""

import contextlib
import functools
import itertools
import operator
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from corpusmill.transforms.files.markup import read_table
from corpusmill.transforms.files.read_files import InputError, read_input, read_text
from corpusmill.transforms.files.records import ReadError
from corpusmill.transforms.files.text_kinds import check_is_text
from corpusmill.transforms.translation.source_table import metadata_names

from ..run.corpora import VERSION
from ..run.publish import TargetError, building_beside
from . import aligned_lines, translation_scores
from .processes import in_processes
from .translation_scores import Group, Pieces, SystemScores, Task

_DIRECTION = re.compile(
    r"(?P<source>[A-Za-z]{2,3}(?:_[A-Za-z0-9]+)*)-(?P<target>[A-Za-z]{2,3}(?:_[A-Za-z0-9]+)*)"
    r"\.(?P<split>\w+)(?:\.(?:gz|bz2|xz|zst))?"
)


_TABLES = (".parquet", ".jsonl")  # references of FLORES+
_SENTENCE_ID = re.compile(r"(?:(?:dev|devtest)-)?(\d+)(?:-\w+)?")  # and of what is adopted of it


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


def find_directions(
    reference: str, hypotheses: Sequence[str], is_hidden: bool = False
) -> tuple[list[Direction], list[str]]:
    """Returns the directions that can be scored, and warnings about files that cannot be scored.

    Args:
      reference: The reference file, or a folder with a reference file for each target language and split.
      hypotheses: Files of translations, and folders of such files.
      is_hidden: Whether to warn of files and folders that cannot be scored, instead of raising an error. The
        warnings do not name the references.

    Raises InputError if a direction has no reference or occurs twice, if a folder contains no translations,
    or if nothing can be scored.
    """
    is_folder = pathlib.Path(reference).is_dir()
    found: dict[tuple[str, ...], Direction] = {}
    warnings: list[str] = []
    for given in hypotheses:
        before, told = len(found), len(warnings)
        for system, path in _files(given, hypotheses):
            try:
                direction = _direction(system, path, reference, is_folder)
                if direction is None:
                    if path == given and not is_hidden:
                        why = f"because the name selects the reference in {reference}"
                        raise InputError(path, f"must have a name like eng-fra.devtest, {why}")
                    why = "because the name is not like eng-fra.devtest"
                    warnings.append(f"not scored, {why}: {path}")
                    continue
                if is_hidden:
                    _read_hypothesis(direction, len(_read_reference(direction)[0]), is_hidden=True)
                if (same := found.setdefault(direction[:4], direction)) is not direction:
                    raise InputError(
                        path, f"has the same system and direction as {same.hypothesis}"
                    )
            except InputError as error:
                if not is_hidden:
                    raise
                why = error.message if error.path == path else "the reference cannot be read"
                warnings.append(f"not scored: {path}: {why}")
        if len(found) == before and not (is_hidden and len(warnings) > told):
            message = "contains no translations: no file has a name like eng-fra.devtest"
            if not is_hidden:
                raise InputError(given, message)
            warnings.append(f"not scored: {given}: {message}")
    if not found:
        raise InputError(", ".join(hypotheses), "; ".join(warnings))
    # The name of a system that all directions share is left out, unless the languages are unknown. The
    # name of a participant stays, even if the files of all others cannot be scored.
    is_common = not is_hidden and len({one.system for one in found.values()}) == 1
    is_common &= all(one.source for one in found.values())
    return [one._replace(system="") if is_common else one for one in found.values()], warnings


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
    name, place = f"{target}.{split}", pathlib.Path(folder)
    tables = [f"{target}{suffix}" for suffix in _TABLES]
    there = [place / name, *(place / split / one for one in (name, *tables))]
    if place.resolve().name == split:
        there += [place / one for one in tables]
    of_build = (
        one for one in sorted(place.glob(f"{split}-*.parquet")) if _has_texts(str(one), target)
    )
    found = next((one for one in itertools.chain(there, of_build) if one.is_file()), None)
    if found:
        return str(found)
    raise InputError(path, f"there is no reference {name} for this file")


DEFAULT_MODEL = "flores101"


class Model(NamedTuple):
    """A SentencePiece model on disk."""

    path: str
    name: str  # name in signatures
    sha256: str
    data: bytes
    warnings: tuple[str, ...]


def read_model(given: str) -> Model:
    """Reads a SentencePiece model, and finds its name for the signatures of scores.

    If sacrebleu can download the model, the name is the one that sacrebleu uses, such as "flores101". Such a
    model is recognised by its hash, or by its path in sacrebleu's folder. Some of these models, such as
    flores101, have no published hash. So a model that has the file name of one of them, and at least
    RELEASED_PIECES pieces, is assumed to be that model.

    Args:
      given: The path of a model, or the name of a model that sacrebleu has downloaded; "" for flores101.

    Raises InputError with an address for the download if there is no such model.
    """
    known = _sacrebleu_models()
    is_name = given in known or not given
    path = str(known[given or DEFAULT_MODEL][1]) if is_name else given
    if is_name and not pathlib.Path(path).is_file():
        which = "--model is not given, and " if not given else ""
        urls = "; ".join(f"{name}: {url}" for name, (url, _) in known.items())
        raise InputError(
            path,
            f"no such file: {which}sacrebleu has not downloaded this model. Download a model and give"
            f" it with --model FILE ({urls})",
        )
    data = read_input(path)
    try:
        pieces = Pieces(data)
        translation_scores.check_is_whole(data)
    except ValueError as error:
        raise InputError(path, str(error)) from None
    name, *warnings = _name_of(path, pieces, known)
    return Model(path, name, pieces.sha256, data, tuple(warnings))


def _sacrebleu_models() -> dict[str, tuple[str, pathlib.Path]]:
    """Returns the models that the installed sacrebleu knows, as name of the model → (URL, path).

    The name is the one in signatures of scores. The path is where sacrebleu stores the model that it has
    downloaded.
    """
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    folder = pathlib.Path(SACREBLEU_DIR, "models")
    return {
        model["signature"]: (model["url"], folder / model["url"].rsplit("/", 1)[1])
        for model in SPM_MODELS.values()
    }


def _name_of(
    path: str, pieces: Pieces, known: dict[str, tuple[str, pathlib.Path]]
) -> tuple[str, ...]:
    """Returns a tuple: the name of a model in the signatures of scores, then any warnings.

    If the model is, or seems to be, one that sacrebleu can download, the name is sacrebleu's name for it.
    Otherwise the name is made from the hash of the model.

    Args:
      path: The path of the model.
      pieces: The pieces of the model.
      known: The return value of `_sacrebleu_models`.
    """
    released = translation_scores.RELEASED
    for name, (_, place) in known.items() if pieces.sha256 not in released else ():
        is_there = False
        with contextlib.suppress(OSError):
            is_there = place.samefile(path)
        is_large = pieces.count >= translation_scores.RELEASED_PIECES
        looks_alike = is_large and place.name == pathlib.Path(path).name
        if is_there and name in released.values():
            warning = f"has the path of sacrebleu's model {name}, but is a different model"
            return name, f"{path}: {warning}"
        if is_there or (looks_alike and name not in released.values()):
            reason = "because of its path or name"
            return name, f"{path}: assumed to be {name} {reason}; SHA-256 {pieces.sha256}"
    return (pieces.name,)


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
    is_hidden: bool


def score_translations(
    reference: str,
    hypotheses: Sequence[str],
    *,
    model: str = "",
    metadata: str = "",
    more_metrics: Sequence[str] = (),
    workers: int = 1,
    is_hidden: bool = False,
) -> Report:
    """Scores translations against references.

    References and translations may each be a file, or a folder with files for many directions.

    Args:
      reference: A file; a folder of files `<target>.<split>`; a folder with one subfolder of such files
        for each split; or a build of a released FLORES. A table in the form of FLORES+ may take the place of
        a file.
      hypotheses: Files; folders of files `<source>-<target>.<split>`; or folders with one subfolder of such
        files for each system.
      model: A SentencePiece model file, or the name of a model that sacrebleu has downloaded; "" for the
        model flores101 of sacrebleu.
      metadata: A table with the columns `domain` and `topic` and a row for each line of the reference; or a
        folder with such tables, named `metadata_<split>.tsv` (or `metedata_<split>.tsv`, as misspelled in the
        release). If "", there are scores by domain and topic only if the reference is a table with them.
      more_metrics: Metrics to compute in addition to spBLEU and chrF++: "chrF", "BLEU".
      workers: The maximum number of processes. Each process scores all directions of one reference.
      is_hidden: Whether the references are hidden from the authors of the translations. Then the report has
        a warning for each file that cannot be scored, and does not name the references.

    Raises InputError, which names the file, if a file cannot be read or does not match the others.
    """
    found, warnings = find_directions(reference, hypotheses, is_hidden)
    pieces = read_model(model)
    metrics = (*translation_scores.ALWAYS, *more_metrics)
    place = operator.attrgetter("split", "reference", "target")
    plans = [
        _Plan(tuple(directions), _metadata_of(metadata, split), pieces, metrics, is_hidden)
        for (split, *_), directions in itertools.groupby(sorted(found, key=place), key=place)
    ]
    if len(plans) > 1:
        for plan in plans:
            _read_plan(plan)  # raises errors for mismatched files now, instead of after hours
    scored = sorted(itertools.chain.from_iterable(_run(plans, workers)))
    if is_hidden:
        scored = [one._replace(direction=one.direction._replace(reference="")) for one in scored]
    return Report(
        metrics,
        pieces,
        translation_scores.signatures(
            Task([""], [], (), pieces.data, pieces.name, metrics, VERSION)
        ),
        tuple(scored),
        (*pieces.warnings, *warnings, *dict.fromkeys(w for one in scored for w in one.warnings)),
    )


def _run(plans: Sequence[_Plan], workers: int) -> Iterator[list[Scored]]:
    if workers == 1 or len(plans) == 1:
        yield from map(_score_plan, plans)
        return
    count, place = min(workers, len(plans)), plans[0].directions[0].reference
    yield from in_processes(_score_plan, plans, count, place, "references")


def _score_plan(plan: _Plan) -> list[Scored]:
    task, warnings = _read_plan(plan)
    scores = translation_scores.score_systems(task)
    return [Scored(*one) for one in zip(plan.directions, scores, warnings, strict=True)]


# Reading.


def _read_plan(plan: _Plan) -> tuple[Task, list[tuple[str, ...]]]:
    """Reads the reference and the translations of a plan.

    Returns a Task with their lines, which a worker process can score, and a tuple of warnings for each
    direction.
    """
    reference = plan.directions[0].reference
    references, groups = _read_reference(plan.directions[0])
    if not references:
        raise InputError(reference, "is empty, so nothing can be scored against this reference")
    of_reference = () if plan.is_hidden else tuple(_warnings(reference, references))
    systems, warnings = [], []
    for direction in plan.directions:
        lines = _read_hypothesis(direction, len(references))
        systems.append(lines)
        warnings.append((*of_reference, *_warnings(direction.hypothesis, lines, is_output=True)))
    shown = "the reference" if plan.is_hidden else reference
    if plan.metadata:
        groups = _read_groups(plan.metadata, shown, len(references))
    model = plan.model
    task = Task(references, systems, groups, model.data, model.name, plan.metrics, VERSION)
    return task, warnings


def _read_reference(direction: Direction) -> tuple[list[str], list[Group]]:
    """Returns the lines of a reference and, of a table such as those of FLORES+, its domains and topics.

    The rows of FLORES+ are sorted by their ids.
    """
    path = direction.reference
    if not path.endswith(_TABLES):
        return read_lines(path), []
    languages = _read_table(path)
    code = direction.target if len(languages) > 1 else next(iter(languages))
    if code not in languages:
        raise InputError(path, f"has several languages, but no {code or 'name of one'}")
    lines = languages[code]
    if all(_SENTENCE_ID.fullmatch(line.id) for line in lines):
        lines = sorted(lines, key=lambda line: int(_SENTENCE_ID.sub(r"\1", line.id)))
    domains, topics = ([getattr(line, name) for line in lines] for name in ("domain", "topic"))
    groups = translation_scores.group_lines(domains, topics) if all(domains) else []
    return [line.text.rstrip() for line in lines], groups


def _read_hypothesis(direction: Direction, count: int, is_hidden: bool = False) -> list[str]:
    """Returns the lines of a file of translations, which must be as many as the reference has."""
    lines = read_lines(direction.hypothesis)
    if len(lines) != count:
        which = "" if is_hidden else f" {direction.reference}"
        lacking = f"but the reference{which} has {count:,}"
        message = f"{lacking}; both must have the same number of lines"
        raise InputError(direction.hypothesis, f"has {len(lines):,} lines, {message}")
    return lines


_read_table = functools.lru_cache(2)(
    aligned_lines.read_lines
)  # the table of a build has all languages


def _has_texts(path: str, code: str) -> bool:
    with contextlib.suppress(InputError):  # a table without a column of texts
        return code in _read_table(path)
    return False


def read_lines(path: str) -> list[str]:
    """Returns the lines of a text file and removes trailing spaces. Only LF ends a line, as in sacrebleu."""
    if pathlib.Path(path).is_file():
        check_is_text(path)
    lines = read_text(path).split("\n")
    if not lines[-1]:
        del lines[-1]
    return [line.rstrip() for line in lines]


def _warnings(path: str, lines: Sequence[str], is_output: bool = False) -> Iterator[str]:
    if lines and lines[0].startswith("\ufeff"):
        yield f"{path}: begins with a byte order mark, which counts as a character, as in sacrebleu"
    if empty := [str(number) for number, line in enumerate(lines, 1) if not line.strip()]:
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
    text = read_text(path)
    try:
        rows = [row for _, row in read_table(text, ("domain", "topic"))]
    except ReadError as error:
        raise InputError(path, str(error)) from None
    if len(rows) != count:
        message = f"must have a row for each of the {count:,} lines of {reference}"
        raise InputError(path, f"{message}, but has {len(rows):,}")
    return translation_scores.group_lines(
        [row["domain"] for row in rows], [row["topic"] for row in rows]
    )


@contextlib.contextmanager
def new_folder(target: str) -> Iterator[Callable[[str, str], object]]:
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
    with building_beside(folder) as beside:
        yield lambda name, content: (beside / name).write_text(content, "utf-8", newline="\n")
        _check_is_free(folder)


def _check_is_free(folder: pathlib.Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TargetError(f"{folder} is not empty; use another --output")
