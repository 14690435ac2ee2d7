"""Errors in cleaning up do not hide the reason for it."""

import logging
from pathlib import Path

import pytest

from corpusmill.pipelines.run.run_stages import StageFolders, stage_folders
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.stores import StoreError
from corpusmill.transforms.files.write_files import errors_logged

LEFT = "files that are no longer needed were not removed"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (StoreError("s3://b/k", "access is denied"), f"{LEFT}: s3://b/k: access is denied"),
        (InputError("s3://b/k", "no such file"), f"{LEFT}: s3://b/k: no such file"),
        (OSError("no space"), f"{LEFT}: no space"),
    ],
)
def test_what_stays_is_logged(
    error: Exception, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), errors_logged():
        raise error
    assert caplog.messages == [line]


def test_an_interrupt_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt), errors_logged():
        raise KeyboardInterrupt


def test_an_interrupted_build_is_interrupted_though_its_stages_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: StageFolders) -> None:
        raise StoreError("gs://b/k", "the store fails")

    monkeypatch.setattr(StageFolders, "remove_unfinished", refuse)
    with pytest.raises(KeyboardInterrupt), stage_folders(str(tmp_path / "target")):
        raise KeyboardInterrupt
