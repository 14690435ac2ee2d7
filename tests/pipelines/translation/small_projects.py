"""Small translation projects, and checks that find what a test says."""

import contextlib
import io
import sys
import types
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from corpusmill.pipelines import cli, flores101_settings
from corpusmill.pipelines.translation.journal import read_entries
from corpusmill.pipelines.translation.language_state import LanguageState
from corpusmill.pipelines.translation.project import Project, Rules, create_project
from corpusmill.transforms.files.records import Finding, SourceSentence, Translation
from corpusmill.transforms.translation.source_table import write_source

TEXTS = {
    "dev": ("It rained.", "The river rose by 3 metres.", "Nobody was hurt."),
    "devtest": ("Bees dance.", 'They say "over there".', "Then they fly."),
    "test": ("Take the bus.", "It leaves at 9:30."),
}
IDS = tuple(
    f"{split}-{place:04}" for split, those in TEXTS.items() for place in range(1, len(those) + 1)
)
TIME = "2026-01-02T03:04:05Z"


def small_sentences() -> list[SourceSentence]:
    url = "https://en.wikinews.org/wiki/"
    return [
        SourceSentence(
            *(f"{split}-{place:04}", split, f"wikinews:{len(split)}", text),
            *(f"{url}{split.title()}", "wikinews", "nature", place == 1, place == 2),
        )
        for split, texts in TEXTS.items()
        for place, text in enumerate(texts, 1)
    ]


def small_project(folder: Path, **rules: object) -> Project:
    return create_project(str(folder), Rules(**rules), small_sentences())  # type: ignore[arg-type]


def source_file(folder: Path) -> Path:
    path = folder / "source.tsv"
    path.write_text(write_source(small_sentences()), "utf-8")
    return path


def state_of(project: Project, code: str = "fra") -> LanguageState:
    return LanguageState(read_entries(project.journal(code)), project.ids)


def counts_of(state: LanguageState) -> tuple[int, int, int]:
    """Lines with a translation, lines that have to come back, and disputed ones."""
    return len(state.answers), len(state.awaited), len(state.disputed)


def kinds(project: Project, code: str = "fra") -> list[str]:
    return [entry.kind for entry in read_entries(project.journal(code))]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones, too."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(files)}


class Ran(NamedTuple):
    status: int
    out: str
    err: str


def run(*arguments: object) -> Ran:
    """Runs `corpusmill flores101 …`."""
    parser = ArgumentParser()
    flores101_settings.add(parser)
    parser.set_defaults(command="flores101")
    settings = parser.parse_args([*map(str, arguments)])
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.run(settings, [])
    return Ran(status, out.getvalue(), err.getvalue())


Finder = Callable[[Mapping[str, Translation]], list[Finding]]


def use_checks(monkeypatch: pytest.MonkeyPatch, find: Finder) -> None:
    """The checks find what `find` says of the translations in force, and what is missing."""

    def check_translations(
        sources: Sequence[SourceSentence], translations: Mapping[str, Translation], language: object
    ) -> list[Finding]:
        missing = [
            Finding(one.id, "missing", "error", "there is no translation", "", 0)
            for one in sources
            if one.id not in translations
        ]
        return [*missing, *find(translations)]

    module = types.ModuleType("corpusmill.pipelines.translation.run_checks")
    module.check_translations = check_translations  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)


def find_bad(translations: Mapping[str, Translation]) -> list[Finding]:
    """An error for each text with BAD in it, a warning for each with ODD."""
    return [
        Finding(one.id, f"is-{word}", severity, f"{word} is in it", one.file, one.line)
        for one in translations.values()
        for word, severity in (("bad", "error"), ("odd", "warning"))
        if word.upper() in one.text
    ]
