"""The cards above builds name those that are finished, whatever else happens there."""

import concurrent.futures
import logging
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpusmill.pipelines.run import editions as folder_cards
from corpusmill.pipelines.run.editions import write_cards
from corpusmill.transforms.files.builds.dataset_card import MARK
from tests.makers.finished_builds import add_card, make_build


def add_build(output: Path, edition: str, date: str = "20260101", **more: Any) -> Path:
    build = make_build(output, edition, {}, date=date, **more)
    add_card(build)
    return build


def loaded(folder: Path) -> dict[str, str]:
    """Name → the folder that it leads to, in the order of the card; the default one has a "*"."""
    head = yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1])
    return {
        config["config_name"] + "*" * config.get("default", False): config["data_files"][0][
            "path"
        ].rpartition("/")[0]
        for config in head["configs"]
    }


@pytest.mark.parametrize(
    ("current", "uk"),
    [
        ("", "20260101-1.10.0"),
        ("20251101-1.0.0", "20251101-1.0.0"),
        ("20260201-1.0.0", "20260101-1.10.0"),  # that is not finished
    ],
)
def test_the_current_build_of_each_edition_or_else_the_newest(
    tmp_path: Path, current: str, uk: str
) -> None:
    corpus = tmp_path / "wiki40b"
    builds = [
        add_build(tmp_path, "uk", "20251101"),
        add_build(tmp_path, "uk", version="1.9.0"),
        add_build(tmp_path, "uk", version="1.10.0"),
        add_build(tmp_path, "uk", "latest"),
        add_build(tmp_path, "no"),
        make_build(tmp_path, "multilingual-2", {}),  # its card, if any, has no head
    ]
    (add_build(tmp_path, "uk", "20260201") / "COMPLETED").unlink()
    (add_build(tmp_path, "ja") / "COMPLETED").unlink()
    (corpus / "uk" / ".20260301-1.0.0.building-x").mkdir()
    shutil.copytree(builds[0], corpus / "uk" / ".20260301-1.0.0.building-x", dirs_exist_ok=True)
    if current:
        (corpus / "uk" / "CURRENT").write_text(f"{current}\n")
    write_cards(map(str, builds))
    assert loaded(corpus) == {"no": "no/20260101-1.0.0", "uk": f"uk/{uk}"}
    newest_first = ["20260101-1.10.0", "20260101-1.9.0", "20251101-1.0.0", "latest-1.0.0"]
    others = {name: name for name in newest_first if name != uk}
    assert list(loaded(corpus / "uk").items()) == [(f"{uk}*", uk), *others.items()]
    cards = {
        path.relative_to(corpus)
        for path in corpus.glob("**/README.md")
        if "-" not in path.parent.name
    }
    assert cards == {Path("README.md"), Path("no/README.md"), Path("uk/README.md")}


def test_versions_without_a_date(tmp_path: Path) -> None:
    for version in ("1.9", "1.10", "draft"):
        add_build(tmp_path, "flores", version=version).rename(tmp_path / "wiki40b/flores" / version)
    write_cards([str(tmp_path / "wiki40b" / "flores" / "1.9")])
    assert list(loaded(tmp_path / "wiki40b" / "flores")) == ["1.10*", "1.9", "draft"]


def test_the_same_builds_give_the_same_bytes_once(tmp_path: Path) -> None:
    cards = []
    for editions in (["uk", "en"], ["en", "uk"]):
        output = tmp_path / editions[0]
        for edition in editions:
            write_cards([str(add_build(output, edition))])
        card = output / "wiki40b" / "README.md"
        written = card.stat().st_mtime_ns
        write_cards([str(output / "wiki40b" / editions[0] / "20260101-1.0.0")])
        assert card.stat().st_mtime_ns == written
        cards.append(card.read_bytes())
    assert cards[0] == cards[1]


def test_a_file_of_somebody_else_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    build = add_build(tmp_path, "uk")
    write_cards([str(build)])
    corpus, edition = tmp_path / "wiki40b", tmp_path / "wiki40b" / "uk"
    mine = (corpus / "README.md").read_text("utf-8").replace(MARK, "Mine.")
    (corpus / "README.md").write_text(mine, "utf-8")
    assert not caplog.messages
    newer = add_build(tmp_path, "uk", "20260201")
    write_cards([str(newer)])
    assert (corpus / "README.md").read_text("utf-8") == mine
    assert [message.partition(" ")[0] for message in caplog.messages] == [f"{corpus}/README.md"]
    assert list(loaded(edition)) == [f"{newer.name}*", build.name]


def test_where_no_build_is_left_there_is_no_card(tmp_path: Path) -> None:
    build = add_build(tmp_path, "uk")
    write_cards([str(build)])
    shutil.rmtree(build)
    write_cards([str(build)])
    assert not list(tmp_path.rglob("README.md"))


def test_a_card_that_cannot_be_written_is_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    build = add_build(tmp_path, "uk")
    (tmp_path / "wiki40b" / "README.md").mkdir()
    with caplog.at_level(logging.WARNING):
        write_cards([str(build)])
    assert [message.partition(": ")[0] for message in caplog.messages] == [
        f"{tmp_path}/wiki40b/README.md could not be written"
    ]
    assert loaded(build.parent)


def test_builds_that_end_at_the_same_time_are_all_in_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make = folder_cards.make_folder_card

    def make_slowly(*arguments: Any) -> str:
        time.sleep(random.uniform(0, 0.02))  # others find more meanwhile, and are sooner or later
        return make(*arguments)

    monkeypatch.setattr(folder_cards, "make_folder_card", make_slowly)
    editions = [f"e{number:02d}" for number in range(24)]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda one: write_cards([str(add_build(tmp_path, one))]), editions))
    assert not caplog.messages
    assert list(loaded(tmp_path / "wiki40b")) == editions
    assert not list(tmp_path.rglob(".*"))


def test_a_build_that_comes_while_the_card_is_written_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a store, or from another machine, where no lock keeps others out."""
    write, corpus = folder_cards.write_whole, tmp_path / "wiki40b"

    def write_late(path: str, content: bytes) -> None:
        if Path(path).parent == corpus and not (corpus / "en").exists():
            add_build(tmp_path, "en")
        write(path, content)

    monkeypatch.setattr(folder_cards, "write_whole", write_late)
    write_cards([str(add_build(tmp_path, "uk"))])
    assert list(loaded(corpus)) == ["en", "uk"]
