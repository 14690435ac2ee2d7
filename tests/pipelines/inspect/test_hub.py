"""Uploads of finished builds, to a server that plays the hub."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from huggingface_hub import HfApi, constants
from huggingface_hub.utils import disable_progress_bars

from corpusmill.pipelines.cli import main
from tests.makers.finished_builds import add_card, make_build, manifest_of, seal
from tests.makers.hub_server import TOKEN, Hub, hub_server
from tests.tools.case_tables import read_cases
from tests.tools.golden_tree import GOLDEN, tree_of

ENVIRONMENT = {
    "HF_TOKEN": TOKEN,
    "HF_HUB_DISABLE_XET": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_OFFLINE": "0",
}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    with hub_server() as server:
        # The library reads its environment when it is imported.
        template = f"{server.address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "ENDPOINT", server.address)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        disable_progress_bars()
        for name, value in ENVIRONMENT.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two languages, one of them with two builds."""
    for edition, date in (("en", "20260101"), ("uk", "20251101"), ("uk", "20260101")):
        ids = {"train": [[f"Q{edition}{date}"]]}
        add_card(make_build(tmp_path / "corpora", edition, ids, date=date))
    return tmp_path / "corpora" / "wiki40b"


def publish(*arguments: object) -> int:
    return main(["publish", "hub", *map(str, arguments)])


def configs(hub: Hub) -> dict[str, str]:
    """Name → folder, of the card at the top."""
    card = hub.files["README.md"].decode()
    assert f'load_dataset("{hub.repo}", ' in card
    head = yaml.safe_load(card.split("---\n")[1])
    return {
        one["config_name"]: one["data_files"][0]["path"].rpartition("/")[0]
        for one in head["configs"]
    }


def test_a_commit_an_edition_and_all_files_of_it(hub: Hub, corpus: Path) -> None:
    assert publish(hub.repo, corpus) == 0
    folders = ["en/20260101-1.0.0", "uk/20260101-1.0.0"]
    assert [one.title for one in hub.commits[1:]] == folders
    assert hub.commits[2].description == "wiki40b|lang:uk|dump:20260101|v:1.0.0"
    assert configs(hub) == {folder[:2]: folder for folder in folders}
    for folder in folders:
        built = tree_of(corpus / folder)
        assert {name: hub.files[f"{folder}/{name}"] for name in built} == built
    above = [place for place in hub.files if place.count("/") < 2]
    assert sorted(above) == [
        ".gitattributes",
        "README.md",
    ]


def test_what_is_there_is_not_uploaded_again(
    hub: Hub, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(hub.repo, corpus / "uk")
    uploads = list(hub.uploads)
    assert publish(hub.repo, corpus / "uk") == 0
    assert "uk/20260101-1.0.0: already uploaded\n" in capsys.readouterr().out
    assert (hub.uploads, len(hub.commits)) == (uploads, 2)


def test_editions_come_one_after_the_other(hub: Hub, corpus: Path, tmp_path: Path) -> None:
    """From another machine, too: the cards of what is there are read from the hub."""
    publish(hub.repo, corpus / "uk" / "20251101-1.0.0")
    assert configs(hub) == {"uk": "uk/20251101-1.0.0"}
    elsewhere = tmp_path / "elsewhere" / "en"
    shutil.copytree(corpus / "en", elsewhere)
    publish(hub.repo, elsewhere)
    assert configs(hub) == {"en": "en/20260101-1.0.0", "uk": "uk/20251101-1.0.0"}
    publish(hub.repo, corpus / "uk")
    assert configs(hub) == {"en": "en/20260101-1.0.0", "uk": "uk/20260101-1.0.0"}
    assert "uk/20251101-1.0.0/COMPLETED" in hub.files


def test_a_killed_upload_goes_on(hub: Hub, tmp_path: Path) -> None:
    ids = {"train": [[f"Q{number}"] for number in range(12)]}
    build = make_build(tmp_path, "uk", ids)
    add_card(build)
    command = [sys.executable, "-m", "corpusmill", "publish", "hub", hub.repo, str(build)]
    environment = os.environ | ENVIRONMENT | {"HF_ENDPOINT": hub.address}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)

    def kill(uploads: int) -> None:
        if uploads == 6:
            process.kill()

    hub.before_upload = kill
    assert process.wait() == -signal.SIGKILL
    there = set(hub.large)
    assert len(hub.commits) == 1
    assert 6 <= len(there) < 14
    hub.before_upload, hub.uploads = lambda _: None, []
    assert publish(hub.repo, build) == 0
    assert not there & set(hub.uploads)
    assert len(hub.commits) == 2
    assert hub.files["uk/20260101-1.0.0/COMPLETED"] == (build / "COMPLETED").read_bytes()


def test_a_card_of_somebody_else_stays(hub: Hub, corpus: Path) -> None:
    hub.files["README.md"] = b"---\nlicense: mit\n---\nMine.\n"
    assert publish(hub.repo, corpus) == 0
    assert hub.files["README.md"] == b"---\nlicense: mit\n---\nMine.\n"


def test_a_card_that_names_what_is_not_there_is_mended(hub: Hub, corpus: Path) -> None:
    publish(hub.repo, corpus / "en")
    card = hub.files["README.md"]
    hub.files["README.md"] = card.replace(b"path: en/2", b"path: ../../2")
    assert publish(hub.repo, corpus / "uk") == 0
    assert configs(hub) == {"uk": "uk/20260101-1.0.0"}


def test_a_dry_run_asks_nothing(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    assert publish("me/texts", corpus, "--dry-run") == 0
    _, _, *lines, last = capsys.readouterr().out.splitlines()
    files = [path for path in corpus.glob("*/20260101-1.0.0/*") if path.is_file()]
    total = sum(path.stat().st_size for path in files)
    assert sum(int(line.split()[1].replace(",", "")) for line in lines) == total
    assert last.split() == [str(len(files)), "files", f"{total:,}"]


@pytest.mark.parametrize("is_dry", [True, False])
@pytest.mark.parametrize("name", ["notes.txt", ".env", "more/notes.txt", ".git/config", "a\x1bb"])
def test_a_file_that_the_manifest_does_not_list_is_not_uploaded(
    hub: Hub,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    is_dry: bool,
) -> None:
    build = shutil.copytree(next(GOLDEN.glob("wiki40b/uk/2*")), tmp_path / "uk" / "20260101-1.0.0")
    assert publish("me/x", build, "--dry-run") == 0
    (build / name).parent.mkdir(exist_ok=True)
    (build / name).write_text("secret")
    assert publish("me/x", build, *(["--dry-run"] if is_dry else [])) == 1
    assert capsys.readouterr().err == (
        f"corpusmill: error: {build}: nothing is uploaded, because these files are not in the manifest:"
        f" {name!r}; move them elsewhere\n"
    )
    assert not hub.uploads


@pytest.mark.parametrize("name", ["notes.txt", ".env", "stats.json", "rejected", "more"])
@pytest.mark.parametrize("target", ["secret.txt", "secrets"])
def test_nothing_behind_a_link_is_uploaded(
    hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, target: str
) -> None:
    build = shutil.copytree(next(GOLDEN.glob("wiki40b/uk/2*")), tmp_path / "uk" / "20260101-1.0.0")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "secrets").mkdir()
    if (build / name).exists():
        (build / name).rename(tmp_path / "moved")
    (build / name).symlink_to(tmp_path / target)
    assert publish("me/x", build, "--dry-run") == 1
    assert publish("me/x", build) == 1
    found = capsys.readouterr()
    message = "a link, which could lead to any file: put the file itself in its place, or remove it"
    message = f"corpusmill: error: {build}/{name}: {message}\n"
    assert (found.out, found.err) == ("", 2 * message)
    assert not hub.uploads


@pytest.mark.parametrize(
    ("repo", "fails", "message"), read_cases("pipelines/hub", "what_the_hub_refuses")
)
def test_what_the_hub_refuses(
    hub: Hub,
    corpus: Path,
    capsys: pytest.CaptureFixture[str],
    repo: str,
    fails: dict[str, int],
    message: str,
) -> None:
    hub.fails = fails
    assert publish(repo, corpus) == 1
    assert re.search(f"^corpusmill: error: {message}", capsys.readouterr().err, re.MULTILINE)
    assert len(hub.commits) == 1


def test_no_hub(
    hub: Hub, corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(HfApi, "repo_info", unreachable)
    assert publish(hub.repo, corpus) == 1
    assert "me/texts: the hub cannot be reached: no route\n" in capsys.readouterr().err


def unreachable(*_: object, **__: object) -> None:
    raise RuntimeError("no route")


def test_a_wrong_token(
    hub: Hub, corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert publish(hub.repo, corpus) == 1
    assert "the hub does not know the token in HF_TOKEN" in capsys.readouterr().err


def test_no_token(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("corpusmill.pipelines.inspect.share_builds.get_token", lambda: None)
    assert publish("me/texts", corpus) == 2
    assert "there is no token for the hub: set HF_TOKEN" in capsys.readouterr().err


def test_what_is_not_whole_is_not_uploaded(
    hub: Hub, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (corpus / "en" / "20260101-1.0.0" / "COMPLETED").unlink()
    assert publish(hub.repo, corpus / "en") == 1
    assert "no finished build in this folder or below" in capsys.readouterr().err
    shard = corpus / "uk" / "20260101-1.0.0" / "train-00000-of-00001.parquet"
    content = shard.read_bytes()
    for wrong, flags in ((content[::-1], []), (content + b"\0", []), (b"", ["--dry-run"])):
        shard.write_bytes(wrong)
        assert publish(hub.repo, corpus / "uk", *flags) == 1
        assert f"{shard}: differs from the manifest" in capsys.readouterr().err
    shard.unlink()
    assert publish(hub.repo, corpus / "uk") == 1
    assert f"{shard}: no such file: the build is damaged" in capsys.readouterr().err
    assert len(hub.commits) == 1


def test_a_withheld_split_is_not_uploaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = make_build(tmp_path, "en", {}, corpus="flores101")
    assert publish("me/texts", build, "--dry-run") == 2
    assert "the build has the split test, which must not be published" in capsys.readouterr().err
    manifest = manifest_of(build)
    manifest["outputs"] = [one for one in manifest["outputs"] if one["split"] != "test"]
    seal(build, manifest)
    assert publish("me/texts", build, "--dry-run") == 1  # the files are still there
    for path in build.glob("*test*"):
        path.unlink()
    assert publish("me/texts", build, "--dry-run") == 0


def test_a_first_look_is_uploaded_only_by_its_own_name(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = corpus / "en" / "20260101-1.0.0"
    manifest = manifest_of(build)
    manifest["settings"] = {"limit": 100}
    seal(build, manifest)
    assert publish("me/texts", corpus, "--dry-run") == 0
    assert "en/20260101-1.0.0/" not in capsys.readouterr().out
    assert publish("me/texts", corpus / "en", "--dry-run") == 1
    assert "made with --limit; to share one, give its own folder" in capsys.readouterr().err
    assert publish("me/texts", build, "--dry-run") == 0
    assert "en/20260101-1.0.0/" in capsys.readouterr().out


def test_one_corpus_a_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for corpus in ("pg19", "wiki40b"):
        make_build(tmp_path, "en", {}, corpus=corpus)
    assert publish("me/texts", tmp_path, "--dry-run") == 2
    assert "all builds in a repository must be of one corpus" in capsys.readouterr().err


@pytest.mark.compat
def test_a_language_is_loaded_from_what_was_uploaded(hub: Hub, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    assert publish(hub.repo, GOLDEN / "wiki40b") == 0
    assert sorted(configs(hub)) == ["en", "ja", "uk"]
    downloaded = hub.write_to(tmp_path / "downloaded")
    loaded = datasets.load_dataset(str(downloaded), "uk", cache_dir=str(tmp_path / "datasets"))
    assert {split: len(rows) for split, rows in loaded.items()} == {
        "train": 14,
        "validation": 1,
        "test": 1,
    }
