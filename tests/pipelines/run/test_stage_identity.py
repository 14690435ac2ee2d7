"""A finished stage is taken for another run only where nothing is different."""

import dataclasses
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.run import run_stages
from corpusmill.pipelines.run.run_stages import code_digest, name_stages
from corpusmill.transforms.files.builds.manifest import Provenance
from corpusmill.transforms.files.read_files import InputError
from tests.tools.case_tables import read_cases

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


@pytest.mark.parametrize(
    ("changed", "is_other"), read_cases("pipelines/stage_identity", "a_stage_after_an_edit")
)
def test_a_stage_after_an_edit(tmp_path: Path, changed: str, is_other: bool) -> None:
    for package in ("pipelines", "transforms"):
        shutil.copytree(ROOT / package, tmp_path / package)
    before = code_digest(tmp_path)
    code_digest.cache_clear()
    assert code_digest(tmp_path) == before
    code_digest.cache_clear()
    with (tmp_path / changed).open("a") as file:
        file.write("\n# another comment\n")
    assert (code_digest(tmp_path) != before) is is_other
