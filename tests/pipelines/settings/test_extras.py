"""Each corpus and command installs the libraries that it imports, and those of no other."""

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from pipelines.builds.stage_identity import _imported
from pipelines.commands import parser
from pipelines.corpora import CORPORA
from pipelines.samples.sample_builds import sample_news
from pipelines.settings.extras import EXTRAS, check_extras
from tests.makers.wiki_builds import run_cli

ROOT = Path(__file__).parents[3]
NAMES = [
    "builds.launch",
    "inspect.verify",
    "inspect.compare",
    "inspect.report",
    "inspect.build_sizes",
]
IMPORTING = {
    **dict.fromkeys([f"pipelines.{name}" for name in NAMES], ""),
    **{f"pipelines.{row.module}": row.name for row in CORPORA},
    "pipelines.commands.flores101": "flores101",
    "pipelines.refresh.refresh": "refresh",
    "pipelines.commands.score": "score",
    "pipelines.inspect.html_report.make_report": "report",
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


def test_extras_are_commands() -> None:
    corpora = {row.name for row in CORPORA}
    others = {command.__name__.rpartition(".")[2] for command in parser.OF_BUILDS}
    assert corpora <= EXTRAS.keys() <= corpora | others


@pytest.mark.slow
@pytest.mark.parametrize(("module", "extra"), IMPORTING.items())
def test_what_a_module_imports_is_installed_with_its_extra(module: str, extra: str) -> None:
    _, libraries = _imported(module, ROOT)
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
    command = [sys.executable, "-m", "pipelines", "lm1b", *flags, *size]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    build = subprocess.run(
        [*command, "--output", str(tmp_path)], env=environment, capture_output=True, text=True
    )
    assert build.returncode == 0, build.stderr
    refused = subprocess.run([sys.executable, "-c", "import spacy"], env=environment, check=False)
    assert refused.returncode == 1


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
    check_extras([*EXTRAS, "verify"])
