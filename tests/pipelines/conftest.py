"""Fixtures that the tests of pipelines share."""

from pathlib import Path

import pytest

from tests.makers.wiki_builds import Command, WikiFiles, sample_wiki


@pytest.fixture
def uk(tmp_path: Path) -> WikiFiles:
    """The sample of the Ukrainian wiki as a multistream dump with its index, free to be changed."""
    folder = tmp_path / "ukwiki"
    folder.mkdir()
    files = WikiFiles(folder, sample_wiki("uk"))
    files.write_multistream()
    return files


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command."""
    return Command(capsys)
