"""A build of Wiki-40B that is killed when all is cleaned goes on from there."""

import os
import sys
from pathlib import Path

import pytest

from corpusmill.pipelines.wiki40b import Wiki40b
from corpusmill.pipelines.wiki40b_settings import VERSION
from tests.makers.wiki_builds import Build, WikiFiles, run_cli, with_bulk
from tests.tools.processes import kill_when

ROOT = Path(__file__).parents[2]


def flags(uk: WikiFiles, output: Path) -> list[str]:
    """Returns the arguments of `corpusmill`."""
    files = ["--dump", str(uk.multistream), "--page-props", str(uk.stem("page_props.sql.gz"))]
    how = ["--vocabulary-size", "0", "--workers", "1"]
    return ["wiki40b", "--language", "uk", *files, "--output", str(output), *how]


def build(uk: WikiFiles, output: Path) -> Build:
    """Builds to the end."""
    assert run_cli(*flags(uk, output)) == 0
    return Build(output / "wiki40b" / "uk" / f"20260101-{VERSION}")


def damage_unseen(path: Path) -> None:
    """Overwrites bytes in the middle of a file, whose size and time stay as they were."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(before.st_size // 3)
        file.write(bytes(64))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.slow
def test_a_build_killed_in_its_last_stage_does_not_read_the_dump_again(
    uk: WikiFiles,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    uk = WikiFiles(uk.folder, with_bulk(uk.wiki, 3_600_000))  # the damage is not near the end
    uk.write_multistream()
    uk.write_page_props()
    undisturbed = build(uk, tmp_path / "undisturbed")
    output = tmp_path / "output"
    command = [sys.executable, "-m", "corpusmill", *flags(uk, output)]
    kill_when(lambda: any(output.glob("wiki40b/*/.*.stages/02-write-*")), command, cwd=ROOT)
    assert not list(output.rglob("COMPLETED"))
    damage_unseen(uk.multistream)
    assert run_cli(*flags(uk, tmp_path / "other")) == 1  # who reads the dump cannot miss it
    assert "last whole page" in capsys.readouterr().err
    with caplog.at_level("INFO"):
        resumed = build(uk, output)
    assert "stage 1 of 2, clean: already finished" in caplog.text
    assert resumed.tree() == undisturbed.tree()
    resumed.check_files()
    assert {path.name for path in resumed.folder.parent.iterdir()} == {
        resumed.folder.name,
        "README.md",
    }


def test_the_stages_by_name(uk: WikiFiles) -> None:
    """Their names are part of those of folders that wait to be found by the next run."""
    corpus = Wiki40b(uk.config(dump=uk.multistream))
    assert [stage.name for stage in corpus.stages()] == ["clean", "write"]
