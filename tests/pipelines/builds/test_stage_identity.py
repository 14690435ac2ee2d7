"""A finished stage is taken for another run only where nothing is different."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipelines.builds import stage_identity
from pipelines.builds.stage_identity import code_digest, name_stages
from transforms.files.open_input import InputError
from transforms.text.builds.build_manifest import Provenance


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
    monkeypatch.setattr(stage_identity, "code_digest", lambda: "another")
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


def test_the_code_is_all_source_files_and_their_tables(tmp_path: Path) -> None:
    def digest(**more: str) -> str:
        top = tmp_path / str(len(list(tmp_path.iterdir())))
        files = {"pipelines/a.py": "1", "transforms/text/b.toml": "2", "tests/c.py": "3"} | more
        for name, text in files.items():
            path = top / name.replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return code_digest(top)

    before = digest()
    assert digest() == before
    assert digest(**{"tests/c.py": "4"}) == before
    assert digest(**{"transforms/data.bin": "4"}) == before
    assert digest(**{"pipelines/a.py": "4"}) != before
    assert digest(**{"transforms/text/b.toml": "4"}) != before
    assert digest(**{"transforms/new.py": ""}) != before
