"""A finished stage is taken for another run only where nothing is different."""

import ast
import dataclasses
import importlib.util
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.run import run_stages
from corpusmill.pipelines.run.run_stages import _imports, code_digest, name_stages
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.read_files import InputError
from tests.tools.case_tables import read_cases, read_tables

ROOT = Path(__file__).parents[3]


@dataclasses.dataclass(frozen=True)
class Settings:
    min_count: int = 3
    members: Sequence[str] = ()


@dataclasses.dataclass
class Settled:
    """A build, as far as its identity goes."""

    files: Sequence[Path]
    config: Any = Settings()
    version: str = "1.0.0"

    def provenance(self) -> Provenance:
        return Provenance(
            corpus="lm1b",
            edition="en",
            dump_date="2007",
            version=self.version,
            release_notes={},
            settings={"min_count": self.config.min_count},
            caveats=(),
            code={"corpusmill": "0.1.0"},
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {"news": [str(path) for path in self.files]}


@pytest.fixture
def news(tmp_path: Path) -> Path:
    path = tmp_path / "news.2007.en.shuffled"
    path.write_text("It rained.\n")
    return path


def names(
    corpus: Settled, stages: Sequence[str] = ("sort", "write"), folder: str = "/x"
) -> list[str]:
    return name_stages(corpus, stages, folder)


def test_the_same_build_has_the_same_stages(news: Path) -> None:
    first = names(Settled([news]))
    assert first == names(Settled([news]))
    assert [name[:-16] for name in first] == ["01-sort-", "02-write-"]
    assert len({name[-16:] for name in first}) == 2


def test_a_relative_path_names_the_same_file(news: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(news.parent)
    assert names(Settled([Path(news.name)])) == names(Settled([news]))


def test_a_list_and_a_tuple_are_the_same_setting(news: Path) -> None:
    """The command line gives lists, a configuration file and the defaults tuples."""
    given = names(Settled([news], Settings(members=["a", "b"])))
    assert given == names(Settled([news], Settings(members=("a", "b"))))
    assert given != names(Settled([news], Settings(members=("b", "a"))))


def test_whatever_differs_makes_other_stages(
    news: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names(Settled([news]))
    others = [
        names(Settled([news], Settings(min_count=4))),
        names(Settled([news], version="1.0.1")),
        names(Settled([])),
        names(Settled([news]), folder="/y"),
        names(Settled([news]), ("merge", "write")),
    ]
    copy = tmp_path / "copy"
    copy.write_bytes(news.read_bytes())
    others.append(names(Settled([copy])))
    monkeypatch.setattr(run_stages, "code_digest", lambda _: "another")
    others.append(names(Settled([news])))
    for other in others:
        assert not {name[-16:] for name in other} & {name[-16:] for name in before}


@pytest.mark.parametrize("size", [11, 12])
def test_an_input_with_another_content_or_time_makes_other_stages(news: Path, size: int) -> None:
    before = names(Settled([news]))
    found = news.stat()
    news.write_text("x" * size)
    if size != found.st_size:  # the time alone does not tell
        os.utime(news, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert not set(names(Settled([news]))) & set(before)


def test_a_later_stage_does_not_change_the_first(news: Path) -> None:
    two, three = names(Settled([news])), names(Settled([news]), ("sort", "count", "write"))
    assert two[0] == three[0]
    assert two[1] != three[2]


def test_an_input_that_is_gone_is_an_error(news: Path) -> None:
    corpus = Settled([news])
    news.unlink()
    with pytest.raises(InputError, match="no such file"):
        names(corpus)


FILES = read_tables("pipelines/stage_identity")["files"]


@pytest.mark.parametrize(
    ("changed", "is_other"),
    read_cases("pipelines/stage_identity", "the_code_of_a_corpus_is_what_it_imports"),
)
def test_the_code_of_a_corpus_is_what_it_imports(
    tmp_path: Path, changed: str, is_other: bool
) -> None:
    def digest(name: str, more: Mapping[str, str]) -> str:
        for path, text in (FILES | more).items():
            file = tmp_path / name / "corpusmill" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return code_digest("corpusmill.pipelines.corpus", tmp_path / name)

    before = digest("before", {})
    assert digest("again", {}) == before
    after = digest("after", {changed: FILES.get(changed, "") + "\n# another comment"})
    assert (after != before) is is_other


def test_no_import_is_missed() -> None:
    """Of this project's modules, by Python's own parser."""
    for top in ("pipelines", "transforms"):
        for path in (ROOT / top).rglob("*.py"):
            source = path.read_text("utf-8")
            package = ".".join(("corpusmill", *path.relative_to(ROOT).parent.parts))
            expected = set[str]()
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Import):
                    expected |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    name = "." * node.level + (node.module or "")
                    module = importlib.util.resolve_name(name, package)
                    expected |= {f"{module}.{alias.name}" for alias in node.names}
            assert expected <= {*_imports(source, package)}, path


def test_a_library_that_is_imported_counts_with_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "corpusmill" / "pipelines" / "corpus.py"
    module.parent.mkdir(parents=True)
    module.write_text("import os, numpy.linalg\n")
    before = code_digest("corpusmill.pipelines.corpus", tmp_path)
    monkeypatch.setattr("pyarrow.__version__", "0")
    assert code_digest("corpusmill.pipelines.corpus", tmp_path) == before
    monkeypatch.setattr("numpy.__version__", "0")
    assert code_digest("corpusmill.pipelines.corpus", tmp_path) != before


@pytest.mark.parametrize(
    ("changed", "is_other"),
    read_cases("pipelines/stage_identity", "a_stage_of_wiki40b_after_an_edit"),
)
def test_a_stage_of_wiki40b_after_an_edit(tmp_path: Path, changed: str, is_other: bool) -> None:
    top = tmp_path / "checkout"
    package_folder = top / "corpusmill"
    for package in ("pipelines", "transforms"):
        shutil.copytree(
            ROOT / package, package_folder / package, ignore=shutil.ignore_patterns("samples")
        )
    before = code_digest("corpusmill.pipelines.wiki40b", top)
    with (package_folder / changed).open("a") as file:
        file.write("\n# another comment\n")
    assert (code_digest("corpusmill.pipelines.wiki40b", top) != before) is is_other
