"""Each corpus and command installs the libraries that it imports, and those of no other."""

import bz2
import contextlib
import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from corpusmill.pipelines import cli
from corpusmill.pipelines.run.corpora import CORPORA
from corpusmill.pipelines.run.extras import EXTRAS, check_extras
from corpusmill.pipelines.sample_builds import sample_news
from corpusmill.transforms.wikitext.language import load_language
from corpusmill.transforms.wikitext.variants.page_variants import conversion_library
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES
from tests import test_architecture
from tests.makers.wiki_builds import files_below, run_cli

ROOT = Path(__file__).parents[3]
DUMP = "{}-20260101-pages-articles-multistream.xml.bz2"
NAMES = [
    "run.launch",
    "inspect.verify",
    "inspect.compare",
    "inspect.report",
    "inspect.build_sizes",
]
IMPORTING = {
    **dict.fromkeys([f"corpusmill.pipelines.{name}" for name in NAMES], ""),
    **{row.module: row.name for row in CORPORA},
    "corpusmill.pipelines.translation.flores101_commands": "flores101",
    "corpusmill.pipelines.refresh.refresh": "refresh",
    "corpusmill.pipelines.score_commands": "score",
    "corpusmill.pipelines.inspect.html_report.make_report": "",
}
"""Module → the extra that it may need."""

REFUSE = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {modules!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuse())
"""


def modules_of(extras: Iterable[str]) -> set[str]:
    """The modules of the libraries of extras."""
    wanted = {
        requirement.split("=")[0].rstrip("><") for name in extras for requirement in EXTRAS[name]
    }
    found = importlib.metadata.packages_distributions().items()
    return {module for module, libraries in found if wanted & set(libraries)}


def libraries_of(module: str) -> set[str]:
    """The libraries that a module imports, directly or by what it imports."""
    waiting = [f"{module.removeprefix('corpusmill.').replace('.', '/')}.py"]
    seen, libraries = set[str](), set[str]()
    while waiting:
        if (path := waiting.pop()) not in seen:
            seen.add(path)
            names = set(test_architecture.imports(path))
            libraries |= {name.split(".")[0] for name in names}
            waiting += test_architecture.own(iter(names))
    return libraries


def test_extras_are_commands() -> None:
    corpora = {row.name for row in CORPORA}
    others = {command.__name__.removeprefix("add_") for command in cli.OF_BUILDS}
    assert corpora <= EXTRAS.keys() <= corpora | others


@pytest.mark.slow
@pytest.mark.parametrize(("module", "extra"), IMPORTING.items())
def test_what_a_module_imports_is_installed_with_its_extra(module: str, extra: str) -> None:
    libraries = libraries_of(module)
    assert "apache_beam" in libraries
    others = modules_of(EXTRAS) - modules_of([extra] if extra else [])
    # Beam brings these.
    assert not others & set(libraries) - {"requests", "urllib3"}


@pytest.mark.slow
def test_one_billion_word_is_built_without_the_libraries_of_others(tmp_path: Path) -> None:
    others = modules_of(EXTRAS) - modules_of(["lm1b"]) - {"requests", "urllib3"}
    assert {"spacy", "sentencex", "ftfy", "regex", "sacrebleu"} <= others
    # Python imports this module first, in the workers too.
    (tmp_path / "sitecustomize.py").write_text(REFUSE.format(modules=others))
    news = sample_news()
    flags = ["--input", *news.input, "--dump-date", news.dump_date, "--workers", "1"]
    size = ["--shards", str(news.shards), "--heldout-shards", str(news.heldout_shards)]
    command = [sys.executable, "-m", "corpusmill", "lm1b", *flags, *size]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    build = subprocess.run(
        [*command, "--output", str(tmp_path)], env=environment, capture_output=True, text=True
    )
    assert build.returncode == 0, build.stderr
    refused = subprocess.run([sys.executable, "-c", "import spacy"], env=environment, check=False)
    assert refused.returncode == 1


def test_help_and_versions_need_no_extra(tmp_path: Path) -> None:
    refuse = REFUSE.format(modules=modules_of(EXTRAS) - {"requests", "urllib3"})
    corpora = [row.name for row in CORPORA]
    others = [command.__name__.removeprefix("add_") for command in cli.OF_BUILDS]
    calls = [["--version"], *([name, "--help"] for name in (*corpora, *others))]
    code = f"""{refuse}
from corpusmill.pipelines.cli import main

for words in {calls!r}:
    try:
        main(words)
    except SystemExit as end:
        assert not end.code, words
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("usage: ") == len(calls) - 1


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "lm1b", ("corpusmill-absent==1.*", "regex>=1"))  # type: ignore[index]


@pytest.mark.usefixtures("absent")
def test_a_command_names_the_extra_that_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    said = "lm1b: libraries are not installed (corpusmill-absent); run pip install 'corpusmill[lm1b]'\n"
    for command in (["lm1b", "--input", "x", "--output", "y"], ["demo"]):
        assert run_cli(*command) == 2
        assert capsys.readouterr().err == f"corpusmill: error: {said}"


@pytest.mark.usefixtures("absent")
def test_refresh_names_the_extra_of_a_corpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "refresh.toml"
    config.write_text(
        '[refresh]\noutput = "o"\ndownloads = "d"\ncontact = "a@example.org"\n'
        '[[corpus]]\nkind = "lm1b"\nfirst_year = 2007\n'
    )
    assert run_cli("refresh", "--check", "--config", config) == 2
    assert f"{config}: lm1b: libraries are not installed" in capsys.readouterr().err


def test_what_is_installed_is_not_missed() -> None:
    check_extras([*EXTRAS, "verify"], LANGUAGE_CODES)
    typed = ["score", "bpb", "--corpus", "x", "--log-likelihood=-1"]
    assert not cli.make_parser().parse_args(typed).extras  # scores of translations need sacrebleu


def test_the_library_for_chinese_is_looked_for_where_it_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "zhconv_rs", None)
    for code in LANGUAGE_CODES:
        is_needed = bool(conversion_library(load_language(code).variants))
        with pytest.raises(ValueError, match=code) if is_needed else contextlib.nullcontext():
            check_extras(["wiki40b"], [code])


TABLES = """[refresh]
output = "o"
downloads = "d"
contact = "a@example.org"
[[corpus]]
kind = "wiki40b"
languages = ["el", "zh-cn", "zh-tw"]
entities = "none"
"""
MANY = ("--languages", "uk,zh-tw,zh-cn", "--dumps", "dumps", "--entities", "items.json.gz")
ONE = (
    "--language",
    "zh-tw",
    "--dump",
    "dumps/zhwiki/20260101/{dump}",
    "--entities",
    "items.json.gz",
)
NAMED = {
    ("wiki40b", *MANY): "zh-tw and zh-cn",
    ("wiki40b", *MANY, "--dry-run"): "zh-tw and zh-cn",
    ("wiki40b", *ONE): "zh-tw",
    ("wiki40b", *ONE, "--dry-run"): "zh-tw",
    ("refresh", "--check"): "zh-cn and zh-tw",
    ("refresh", "--dry-run"): "zh-cn and zh-tw",
    ("refresh",): "zh-cn and zh-tw",
}
"""Command → the languages of it that need the library for Chinese."""


@pytest.mark.parametrize("command", NAMED)
def test_a_library_for_one_language_is_missed_before_anything_is_built(
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "zhconv_rs", None)
    for dbname in ("ukwiki", "zhwiki"):
        folder = tmp_path / "dumps" / dbname / "20260101"
        folder.mkdir(parents=True)
        (folder / DUMP.format(dbname)).write_bytes(bz2.compress(b"pages"))
    (tmp_path / "items.json.gz").touch()
    (tmp_path / "refresh.toml").write_text(TABLES)
    given = ("--config", "refresh.toml") if command[0] == "refresh" else ("--output", "corpora")
    before = files_below(tmp_path)
    assert run_cli(*(one.format(dump=DUMP.format("zhwiki")) for one in command), *given) == 2
    assert capsys.readouterr().err.endswith(
        "zh: libraries are not installed (zhconv-rs); run pip install 'corpusmill[zh]'; it is needed for"
        f" {NAMED[command]}, and the extra all does not contain it, because zhconv-rs is under the GPL\n"
    )
    assert files_below(tmp_path) == before
