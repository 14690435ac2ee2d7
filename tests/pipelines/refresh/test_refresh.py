"""`corpusmill refresh` against a dump site over real HTTP."""

import contextlib
import errno
import json
import re
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from prometheus_client.parser import text_string_to_metric_families

from corpusmill.pipelines.inspect import verify as checks
from corpusmill.pipelines.inspect.compare import compare_builds
from corpusmill.pipelines.inspect.edition_changes import SplitChanges
from corpusmill.pipelines.inspect.verify import Verdict, verify
from corpusmill.pipelines.refresh import refresh as refresh_all
from corpusmill.pipelines.refresh import refresh_corpus
from corpusmill.pipelines.refresh import state as acceptance
from corpusmill.pipelines.refresh.config import Settings
from corpusmill.pipelines.refresh.sources import RemoteDump
from corpusmill.pipelines.refresh.state import locked
from corpusmill.transforms.files.builds import check_builds
from corpusmill.transforms.files.builds.check_builds import IdCounts
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError
from tests.makers.wiki_builds import Command
from tests.pipelines.refresh.conftest import NOTHING_CHANGED, small_disk
from tests.pipelines.refresh.dump_server import DumpServer, Garbage
from tests.pipelines.refresh.wiki_site import NEW, OLD, VERSION, Place, dump_path, put_dump, tree
from tests.tools.case_tables import read_tables

OLD_EDITION, NEW_EDITION = f"{OLD}-{VERSION}", f"{NEW}-{VERSION}"


def metrics(place: Place) -> dict[str, float]:
    """Name, with labels but `name`, → value."""
    values = {}
    for family in text_string_to_metric_families(place.metrics.read_text()):
        for sample in family.samples:
            labels = [f"{k}={v}" for k, v in sorted(sample.labels.items()) if k != "name"]
            values[",".join([sample.name.removeprefix("corpusmill_refresh_"), *labels])] = (
                sample.value
            )
    return values


# From one dump to the next, with all that is real.


def test_the_new_edition_is_the_current_one(followed: Place) -> None:
    assert followed.current() == NEW_EDITION
    assert followed.finished() == [OLD_EDITION, NEW_EDITION]
    assert followed.loaded() == [NEW_EDITION, OLD_EDITION]
    assert verify([str(followed.editions)], workers=1).is_sound


def test_what_became_of_each_article_is_told(followed: Place) -> None:
    report = (followed.editions / f"changes-{NEW_EDITION}.tsv").read_text("utf-8").splitlines()
    assert sorted(line.split("\t")[2] for line in report[1:]) == ["added", "changed", "removed"]
    state = json.loads(followed.state.read_text())
    kept = state["documents"].pop("unchanged")
    assert state["documents"] == {"added": 1, "removed": 1, "changed": 1, "moved": 0}
    assert kept > 10
    assert (state["compared"], state["compared_with"]) == (NEW_EDITION, OLD_EDITION)


def test_metrics_tell_the_edition(followed: Place) -> None:
    found = metrics(followed)
    signature = f"wiki40b|lang:uk|dump:{NEW}|wiki-templates:no|v:{VERSION}"
    folder = "wiki40b/uk-no-wiki-templates"
    about = f"edition_info,edition={NEW_EDITION},folder={folder},signature={signature}"
    assert found[about] == 1
    assert found[f"documents,change=added,edition={NEW_EDITION}"] == 1
    assert found["run_exit_status"] == found["failed"] == found["failures_total"] == 0
    assert found["downloaded_bytes_total"] > 30_000
    assert abs(found["last_success_timestamp_seconds"] - time.time()) < 600
    assert found["step_duration_seconds,step=build"] > 0


def test_downloads_of_an_accepted_edition_are_removed(followed: Place) -> None:
    assert list(tree(followed.downloads)) == [".refresh-lock"]


# What is done, and what is not.


def test_nothing_to_do(place: Place) -> None:
    place.refresh()
    before = tree(place.editions)
    del place.site.requests[:]
    assert re.search("wiki40b-uk +up to date", place.refresh().out)
    assert tree(place.editions) == before
    assert not place.site.asked_for(dump_path(OLD))


def test_a_dump_in_progress_is_left_alone(place: Place) -> None:
    place.refresh()
    put_dump(place.site, NEW, ("pagepropstable",))
    place.refresh()
    assert place.current() == OLD_EDITION
    put_dump(place.site, NEW)
    place.refresh()
    assert place.current() == NEW_EDITION


def test_no_finished_dump_is_no_failure(place: Place) -> None:
    place.site.files.clear()
    put_dump(place.site, NEW, ("pagepropstable",))
    assert re.search("waiting +no dump is finished yet", place.refresh().out)
    found = metrics(place)
    assert found["failed"] == found["run_exit_status"] == 0
    assert "last_run_timestamp_seconds" in found
    assert "last_success_timestamp_seconds" not in found


def test_a_dump_that_appears_meanwhile_is_for_the_next_run(
    place: Place, during_build: list[Callable[[], None]]
) -> None:
    during_build.append(lambda: put_dump(place.site, NEW))
    place.refresh()
    assert place.current() == OLD_EDITION
    place.refresh()
    assert place.current() == NEW_EDITION


def test_an_older_dump_is_no_newer_edition(place: Place) -> None:
    put_dump(place.site, NEW)
    place.refresh()
    for path in [path for path in place.site.files if NEW in path]:
        place.site.remove(path)
    place.refresh()
    assert place.current() == NEW_EDITION
    assert place.finished() == [NEW_EDITION]


@pytest.mark.parametrize("keep", [1, 2])
def test_an_edition_of_the_future_does_not_stay_the_current_one(
    place: Place, followed: Place, keep: int
) -> None:
    future = f"20991231-{VERSION}"
    place.configure(place.site.url, f"keep = {keep}")
    shutil.copytree(followed.edition(OLD), place.editions / future)
    (place.editions / "CURRENT").write_text(f"{future}\n")
    place.state.parent.mkdir()
    place.state.write_text(json.dumps({"current": future, "edition_folder": "wiki40b/uk"}))
    place.refresh()
    assert place.current() == OLD_EDITION
    assert place.finished() == [OLD_EDITION, future][:keep]
    assert json.loads(place.state.read_text())["current"] == OLD_EDITION
    put_dump(place.site, NEW)
    place.refresh()
    assert place.current() == NEW_EDITION
    assert place.finished() == [OLD_EDITION, NEW_EDITION][-keep:]


def test_a_dry_run_changes_nothing(place: Place) -> None:
    before = tree(place.folder)
    found = rf"would make wiki40b/uk-no-wiki-templates/{OLD_EDITION}, from 2 files of [\d,]+ bytes"
    assert re.search(found, place.refresh("--dry-run").out)
    assert tree(place.folder) == before


def test_a_dry_run_says_what_is_made_where_the_newest_cannot_be(
    place: Place, monkeypatch: pytest.MonkeyPatch, mirror: DumpServer
) -> None:
    def check(_: str, dumps: Sequence[RemoteDump], __: Settings) -> None:
        if dumps[0].date == NEW:
            raise BuildError("it is too large")

    monkeypatch.setattr(refresh_all, "check_means", check)
    monkeypatch.setattr(refresh_corpus, "check_means", check)
    put_dump(mirror, NEW)
    place.configure(f'{place.site.url}", "{mirror.url}')
    assert (
        f"would make wiki40b/uk-no-wiki-templates/{OLD_EDITION}, from"
        in place.refresh("--dry-run").out
    )
    place.refresh()
    assert place.current() == OLD_EDITION


# What goes wrong, and what stays.

OTHER = """\
[[corpus]]
kind = "wiki40b"
language = "uk"
name = "other"
min_documents = 1
build = { vocabulary_size = 0, wiki_templates = false, near_duplicates = 0.9 }
"""


def test_one_corpus_does_not_stop_the_others(place: Place) -> None:
    more = '[[corpus]]\nkind = "entities"\n' + OTHER + 'entities = "none"\n'
    place.configure(place.site.url, corpora=more)
    printed = " ".join(place.refresh(status=1).out.split())
    assert "wiki40b-uk failed there is no build of entities yet: [[corpus]] entities" in printed
    assert "other published" in printed
    assert list(place.downloads.rglob("*.bz2"))  # the one that failed needs them


def test_a_state_that_cannot_be_read_does_not_stop_the_others(place: Place) -> None:
    place.configure(place.site.url, corpora=OTHER)
    place.state.mkdir(parents=True)
    printed = " ".join(place.refresh(status=1).out.split())
    assert "wiki40b-uk failed the state cannot be read: [Errno 21] Is a directory" in printed
    assert "other published" in printed
    text = place.metrics.read_text()
    assert 'corpusmill_refresh_failed{name="wiki40b-uk"} 1.0' in text
    assert 'corpusmill_refresh_failed{name="other"} 0.0' in text
    assert place.state.is_dir()
    place.state.rmdir()
    place.refresh()


@pytest.mark.parametrize(
    ("error", "status"),
    [(RuntimeError("nobody expects it"), 1), (KeyboardInterrupt(), 130), (SystemExit(143), 143)],
)
def test_the_metrics_tell_how_the_run_ended(
    place: Place, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(refresh_all, "remove_downloads", fail)
    with contextlib.suppress(RuntimeError):
        place.refresh(status=status)
    assert metrics(place)["run_exit_status"] == status


def test_a_failure_is_in_the_metrics_and_the_success_before_it(place: Place) -> None:
    place.refresh()
    success = metrics(place)["last_success_timestamp_seconds"]
    put_dump(place.site, NEW)
    place.site.fail(dump_path(NEW), *[Garbage()] * 4)
    for failures in (1, 2):
        place.refresh(status=1)
        found = metrics(place)
        assert found["failures_total"] == failures
        assert found["failed"] == found["run_exit_status"] == 1
        assert found["last_success_timestamp_seconds"] == success
        assert found["last_failure_timestamp_seconds"] > success
    assert place.current() == OLD_EDITION
    place.refresh()
    assert metrics(place)["failed"] == 0


def test_an_edition_that_lost_too_much_is_not_accepted(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh_corpus, "compare_builds", compare_builds)
    place.configure(place.site.url, "max_removed_share = 0.0")
    place.refresh()
    put_dump(place.site, NEW)
    for _ in range(2):  # it is not downloaded and built again
        assert f"{OLD_EDITION} remains the current edition" in place.refresh(status=1).out
        assert place.current() == OLD_EDITION
        assert place.loaded() == [OLD_EDITION, NEW_EDITION]
        assert metrics(place)[f"documents,change=removed,edition={NEW_EDITION}"] == 1
    assert len(place.site.asked_for(dump_path(NEW))) == 1
    place.configure(place.site.url, "max_removed_share = 0.5")
    place.refresh()
    assert place.current() == NEW_EDITION
    assert place.loaded() == [NEW_EDITION, OLD_EDITION]
    assert json.loads(place.state.read_text())["rejected"] == {}


SMALL = read_tables("pipelines/refresh")["small_editions"]


@pytest.mark.parametrize("name", SMALL)
def test_a_first_edition_must_not_be_small(place: Place, followed: Place, name: str) -> None:
    lines, why = SMALL[name]
    manifest = json.loads((followed.edition(OLD) / "manifest.json").read_text())
    kept = manifest["counts"]["kept"]["total"]
    numbers = {"kept": kept, "more": kept + 1}
    place.configure(place.site.url, min_documents=lines.format(**numbers))
    for _ in range(2):  # it is not built again
        printed = place.refresh(status=int(bool(why))).out
        assert place.finished() == [OLD_EDITION]
        assert place.current() == ("" if why else OLD_EDITION)
        if why:
            assert re.search(
                rf"is not accepted: {why.format(**numbers)}.*; there is no current edition", printed
            )
    assert len(place.site.asked_for(dump_path(OLD))) == 1


def listen(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The settings of the last build; one that accepts nothing, and looks at the memory, is refused."""
    told: dict[str, Any] = {}
    launch = refresh_corpus.launch

    def refuse(*positional: Any, **how: Any) -> Any:
        told.update(how)
        if not (how["accept"] or how["ignore_memory"]):
            raise BuildError("nearly none. If this is intended, add --accept few-links empty-train")
        return launch(*positional, **how)

    monkeypatch.setattr(refresh_corpus, "launch", refuse)
    return told


def test_doubts_are_accepted_by_name(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    told = listen(monkeypatch)
    said = 'If this is intended, add accept = ["few-links", "empty-train"]'
    assert said in place.refresh(status=1).out
    place.configure(place.site.url, corpus='accept = ["few-links", "empty-train"]')
    place.refresh()
    assert (told["accept"], told["ignore_memory"]) == (("few-links", "empty-train"), False)
    assert place.current() == OLD_EDITION


@pytest.mark.parametrize(
    ("why_moves", "allow", "status"),
    [("", "false", 1), ("", "true", 0), ("by design", "false", 0)],
)
def test_no_document_may_move(
    place: Place, monkeypatch: pytest.MonkeyPatch, why_moves: str, allow: str, status: int
) -> None:
    splits = {"train": SplitChanges(1, moved_out=1), "test": SplitChanges(new=1, moved_in=1)}
    moved = NOTHING_CHANGED._replace(splits=splits, why_moves=why_moves)
    place.configure(place.site.url, corpus=f"allow_moves = {allow}")
    place.refresh()
    put_dump(place.site, NEW)
    monkeypatch.setattr(refresh_corpus, "compare_builds", lambda *_, **__: moved)
    place.refresh(status=status)
    assert place.current() == (OLD_EDITION if status else NEW_EDITION)


def test_a_damaged_build_is_made_anew(
    place: Place, during_build: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def damage(target: str, *others: object) -> str:
        path = next(Path(target).glob("train-*.parquet"))
        path.write_bytes(path.read_bytes()[:-1])
        return acceptance.check_edition(target, *others)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(refresh_corpus, "check_edition", damage)
        place.refresh(status=1)
    assert (place.current(), place.finished()) == ("", [])
    assert not list(place.editions.parent.rglob("README.md"))
    place.refresh()
    assert place.current() == OLD_EDITION


def fail_to_read(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """From here on, what a check of an edition reads is not given."""

    def fail(path: object, *_: object, **__: object) -> None:
        if what == "manifest":
            raise InputError(str(path), "the store fails: timed out", is_unread=True)
        raise OSError(errno.EIO, "Input/output error")

    owner, name = {
        "manifest": (checks, "open_build"),
        "content": (check_builds, "hash_input"),
        "rows": (pq, "ParquetFile"),
    }[what]
    monkeypatch.setattr(owner, name, fail)


@pytest.mark.parametrize("what", ["manifest", "content", "rows"])
def test_a_build_that_cannot_be_read_for_a_moment_stays(
    place: Place, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(refresh_corpus, "check_edition", acceptance.check_edition)
    with monkeypatch.context() as patch:
        fail_to_read(patch, what)
        place.refresh(status=1)
    assert (place.current(), place.finished()) == ("", [OLD_EDITION])
    place.refresh()
    assert place.current() == OLD_EDITION
    assert len(place.site.asked_for(dump_path(OLD))) == 1


def test_a_build_that_leaks_is_neither_accepted_nor_made_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict = Verdict(1, 0, 1, IdCounts(2, 1, 0, 1), 0, (), (("Q1", "train: a; test: a"),))
    monkeypatch.setattr(acceptance, "verify", lambda *_, **__: verdict)
    monkeypatch.setattr(refresh_corpus, "check_edition", acceptance.check_edition)
    for _ in range(2):
        assert "is not accepted: Q1 is in two splits" in place.refresh(status=1).out
    assert (place.current(), place.finished()) == ("", [OLD_EDITION])
    assert len(place.site.asked_for(dump_path(OLD))) == 1


def test_a_damaged_current_edition_and_the_way_out(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh_corpus, "compare_builds", compare_builds)
    place.refresh()
    next(place.edition(OLD).glob("train-*.parquet")).unlink()
    put_dump(place.site, NEW)
    pointer = place.editions / "CURRENT"
    for _ in range(2):
        assert f"is damaged, remove the file {pointer}:" in place.refresh(status=1).out
        assert place.current() == OLD_EDITION
    pointer.unlink()
    place.refresh()
    assert place.current() == NEW_EDITION


def test_too_little_memory_is_told_before_anything_is_fetched(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = "corpusmill.pipelines.refresh.config.memory_limit"
    monkeypatch.setattr(limit, lambda: 800_000_000)
    place.configure(place.site.url)
    place.config.write_text(place.config.read_text().replace("workers = 1", "workers = 2"))
    for how in ([], ["--dry-run"]):
        printed = place.refresh(*how, status=1).out
        assert "workers = 1 needs 500.0 MB" in printed
        assert 'runner = "SparkRunner" also runs on this machine' in printed
        assert "ignore_memory = true starts the build anyway" in printed
        assert "--" not in printed
    assert not place.site.asked_for(dump_path(OLD))
    text = place.config.read_text()
    place.config.write_text(text.replace("workers = 2", "workers = 2\nignore_memory = true"))
    told = listen(monkeypatch)
    place.refresh()
    assert told["ignore_memory"] is True


def test_too_little_room_is_told_before_anything_is_fetched(place: Place) -> None:
    place.configure(place.site.url, f"min_free_bytes = {1 << 60}")
    assert "min_free_bytes is 1,152,921,504,606,846,976" in place.refresh(status=1).out
    assert not place.site.asked_for(dump_path(OLD))


# Runs beside each other, and after each other.


def test_it_does_not_run_beside_itself(place: Place) -> None:
    with locked([str(place.downloads)]):
        assert "another refresh is running: process" in place.refresh(status=75).err
    assert not place.metrics.exists()
    place.refresh()


@pytest.mark.parametrize("loss", ["damaged state", "no state", "no pointer"])
def test_what_was_known_of_an_edition_is_found_again(place: Place, loss: str) -> None:
    place.refresh()
    before = tree(place.edition(OLD))
    if loss == "damaged state":
        place.state.write_bytes(place.state.read_bytes()[:-30])
    elif loss == "no state":
        shutil.rmtree(place.state.parent)
    else:
        (place.editions / "CURRENT").unlink()
    del place.site.requests[:]
    place.refresh()
    assert not place.site.asked_for(dump_path(OLD))
    assert place.current() == OLD_EDITION
    assert tree(place.edition(OLD)) == before
    assert json.loads(place.state.read_text())["current"] == OLD_EDITION
    assert place.state.with_suffix(".json.corrupt").exists() == (loss == "damaged state")


def test_downloads_can_be_kept_and_those_of_others_are(place: Place) -> None:
    others = place.downloads / "ukwiki" / "20200101" / "ukwiki.xml"
    others.parent.mkdir(parents=True)
    others.write_text("mine")
    place.configure(place.site.url, "keep_downloads = true")
    place.refresh()
    assert len(list(place.downloads.rglob("*.bz2"))) == 1
    place.configure(place.site.url)
    place.refresh()
    assert not list(place.downloads.rglob("*.bz2"))
    assert others.read_text() == "mine"


def test_a_folder_that_a_killed_run_has_only_made_is_its_own(place: Place) -> None:
    (place.downloads / "ukwiki" / OLD).mkdir(parents=True)
    place.refresh()
    assert list(tree(place.downloads)) == [".refresh-lock"]


def test_other_settings_count_from_the_next_dump_on(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.refresh()
    text = place.config.read_text().replace("vocabulary_size = 0", "vocabulary_size = 300")
    place.config.write_text(text)
    place.refresh()
    assert "the change takes effect with the next dump" in caplog.text


# Full disks.


def test_downloads_on_a_full_disk(place: Place) -> None:
    place.refresh()
    put_dump(place.site, NEW)
    shutil.rmtree(place.downloads)
    with small_disk(place.downloads, "20k") as resize:
        assert "disk is full" in place.refresh(status=1).out
        assert place.current() == OLD_EDITION
        assert metrics(place)["failed"] == 1
        resize("1m")
        place.refresh()
    assert place.current() == NEW_EDITION


def test_everything_on_a_full_disk(
    tmp_path: Path, site: DumpServer, followed: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    """State, metrics, output and downloads have no room at all; the build is a real one."""
    place = Place(tmp_path / "small")
    with small_disk(place.folder, "10m") as resize:
        shutil.copytree(followed.editions, place.editions)
        shutil.rmtree(place.edition(NEW))
        (place.editions / "CURRENT").write_text(f"{OLD_EDITION}\n")
        put_dump(site, NEW)
        place.configure(site.url, "keep_downloads = true")
        refresh = Command(capsys, "refresh", "--config", place.config)
        resize("2m")
        (place.folder / "filler").write_bytes(bytes(1 << 20))
        with contextlib.suppress(OSError), (place.folder / "filler").open("ab") as filler:
            while filler.tell() < 1 << 24:
                filler.write(bytes(4096))
                filler.flush()
        for size in ("2m", "2200k"):  # for nothing; for the downloads, and not for the build
            resize(size)
            why = r"wiki40b-uk +failed .*(not enough disk space|the disk is full): "
            assert re.search(why, refresh(status=1).out)
            assert (place.current(), place.finished()) == (OLD_EDITION, [OLD_EDITION])
            assert tree(place.edition(OLD)) == tree(followed.edition(OLD))
        resize("40m")
        refresh()
        assert place.current() == NEW_EDITION
        assert tree(place.edition(NEW)) == tree(followed.edition(NEW))
