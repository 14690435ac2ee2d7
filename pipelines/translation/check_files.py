"""Checks translated files without a project: those of FLORES-101, FLORES-200, FLORES+ and similar sets.

A file has a translation a line, or is a table (TSV, CSV, Parquet, JSON lines) with a column of texts. The
English source is given, or is the file beside it whose name has the code of English. Lines are paired with
the source by their ids if both have ids, otherwise by their places.
"""

import functools
import itertools
import pathlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.files.markup import escape, html_table, make_head, to_line
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Finding, SourceSentence, Translation
from corpusmill.transforms.files.terminal import count_of, draw, fold

from .aligned_lines import Line, code_in_name, read_lines
from .processes import in_processes
from .run_checks import RULES, check_translations
from .sentence_pairs import ERROR
from .target_languages import find_language

SHOWN = 20  # findings that are printed
_ENGLISH = ("eng", "eng_Latn", "en")


class CheckedFile(NamedTuple):
    """The findings in a file in one language: errors first, then in the order of RULES."""

    path: str
    language: str  # code
    name: str  # in English
    texts: Mapping[str, str]  # id → translation
    findings: Sequence[Finding]

    @property
    def errors(self) -> int:
        return sum(finding.severity == ERROR for finding in self.findings)

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yields file, language, line, id, severity, rule, message and text of each finding."""
        for one in self.findings:
            place = str(one.line or ""), one.id, one.severity, one.rule, one.message
            yield self.path, self.language, *place, self.texts.get(one.id, "")


HEAD = ("file", "language", "line", "id", "severity", "rule", "message", "text")


def check_files(
    paths: Sequence[str], language: str = "", source: str = "", workers: int = 1
) -> Iterator[CheckedFile]:
    """Checks files. Yields the results in the order of the files, then of the languages in a file.

    Args:
      paths: the files; the source itself is passed over.
      language: code of the language of all files; "" to take it from the columns or names of the files.
      source: the English source; "" for the file beside each.
      workers: number of processes.

    A file that cannot be read, or has no source or other lines than its source, has the error `not-checked`.
    """
    paths = [path for path in paths if path != source and code_in_name(path) not in _ENGLISH]
    if not paths:
        raise ValueError("no file to check: only the English source is given")
    check = functools.partial(_check_file, language=language, source=source)
    if workers < 2 or len(paths) < 2:
        return itertools.chain.from_iterable(map(check, paths))
    checked = in_processes(check, paths, min(workers, len(paths)), paths[0], "files")
    return itertools.chain.from_iterable(checked)


def _check_file(path: str, language: str, source: str) -> list[CheckedFile]:
    try:
        languages = read_lines(path)
        place = source or find_source(path)
        sources = _english(place, read_lines(place))
        return [
            _check(path, language or code, lines, place, sources)
            for code, lines in languages.items()
        ]
    except (InputError, ValueError) as error:
        message = (
            error.message if isinstance(error, InputError) and error.path == path else str(error)
        )
        unread = Finding("", "not-checked", ERROR, message, path, 0)
        return [CheckedFile(path, language or code_in_name(path), "not checked", {}, [unread])]


def _english(path: str, languages: Mapping[str, list[Line]]) -> list[Line]:
    """Returns the English lines of a source. Raises InputError if it has several other languages."""
    english = next((code for code in languages if code in _ENGLISH), "")
    if not english and len(languages) > 1:
        names = f"{len(languages):,} languages, none of them English"
        raise InputError(path, f"cannot be the source: it has {names}")
    return languages[english or next(iter(languages))]


def _check(
    path: str, code: str, lines: Sequence[Line], place: str, sources: Sequence[Line]
) -> CheckedFile:
    if not code:
        raise InputError(path, "its name has no code of a language: name it with --language")
    language = find_language(code)
    has_ids = all(line.id for line in (*lines, *sources))
    if not has_ids and len(lines) != len(sources):
        counts = f"{len(lines):,} lines, but {place} has {len(sources):,}"
        raise InputError(path, f"{counts}: the lines cannot be paired with their source")
    names, ids = (
        [line.id if has_ids else str(line.number) for line in some] for some in (lines, sources)
    )
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(path, f"the id {repeated[0]!r} is there more than once")
    # The articles are unknown: no two sentences are taken for neighbours.
    pairs = zip(ids, sources, strict=True)
    found = check_translations(
        [SourceSentence(id, "", id, one.text, "", "", "", False, False) for id, one in pairs],
        {
            name: Translation(name, one.text, path, one.number)
            for name, one in zip(names, lines, strict=True)
        },
        language,
    )
    texts = {name: line.text for name, line in zip(names, lines, strict=True)}
    worst_first = sorted(
        found, key=lambda one: (one.severity != ERROR, bool(one.id), RULES.index(one.rule))
    )
    return CheckedFile(path, code, language.name, texts, worst_first)


def find_source(path: str) -> str:
    """Returns the file beside another one that has the code of English in its name instead.

    Raises InputError if there is none.
    """
    code, place = code_in_name(path), pathlib.Path(path)
    names = [place.name.replace(code, one, 1).replace("-ref.", "-src.") for one in _ENGLISH if code]
    found = next((place.with_name(name) for name in names if place.with_name(name).is_file()), None)
    if found is None:
        looked = f" (not there: {', '.join(names)})" if names else ""
        raise InputError(path, f"its English source is not known: name it with --source{looked}")
    return str(found)


def print_file(checked: CheckedFile, shown: int) -> None:
    """Prints the findings in a file: their number for each rule, and the first ones."""
    rest = len(checked.findings) - checked.errors
    counted = f"{count_of(checked.errors, 'error')}, {count_of(rest, 'warning')}"
    lines = count_of(len(checked.texts), "line")
    print(fold(f"{checked.path}: {checked.name}, {lines}: {counted}"))
    if shown and checked.findings:
        counts = Counter((one.severity, one.rule) for one in checked.findings)
        rows = [
            [rule, severity, f"{number:,}"] for (severity, rule), number in sorted(counts.items())
        ]
        print(draw(("rule", "severity", "findings"), rows, numbers=1), end="")
    for one in checked.findings[: shown if checked.texts else 1]:
        place = f"line {one.line:,}" if one.line else "all lines"
        print(fold(f"  {place}: {one.severity}: {one.rule}: {one.message}"))
    if checked.texts and 0 < shown < len(checked.findings):
        print(f"  … and {len(checked.findings) - shown:,} more: --output and --html have all")


def make_tsv(files: Iterable[CheckedFile]) -> str:
    """Returns a table of all findings."""
    rows = [HEAD, *(row for one in files for row in one.rows())]
    return "".join(map(to_line, rows))


def make_page(files: Sequence[CheckedFile]) -> str:
    """Returns a page for a browser with all findings, the file with the most errors first."""
    worst = sorted(files, key=lambda one: (-one.errors, -len(one.findings), one.path))
    head = ("file", "language", "lines", "errors", "warnings")
    sums: list[tuple[Any, ...]] = [
        (one.path, one.name, len(one.texts), one.errors, len(one.findings) - one.errors)
        for one in worst
    ]
    parts = [
        make_head("Checks of translations"),
        "<main class=wide>\n<h1>Checks of translations</h1>\n",
    ]
    parts.append(html_table(head, sums))
    for one in worst:
        if one.findings:
            parts.append(f"<h2>{escape(one.path)}</h2>\n")
            parts.append(html_table(HEAD[2:], (row[2:] for row in one.rows())))
    return "".join([*parts, "</main></body></html>\n"])
