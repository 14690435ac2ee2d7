"""Helpers that the tests of deploy/ share."""

from pathlib import Path

from corpusmill.pipelines.refresh.refresh_commands import LOCKED
from tests.makers.wiki_builds import run_cli

DEPLOY = Path(__file__).parents[2] / "deploy"
COMMAND = "/opt/corpusmill/bin/corpusmill"
CONFIG = "/etc/corpusmill/refresh.toml"
CALL = f"{COMMAND} refresh --config {CONFIG}"
OK, FAILED, WRONG, ANOTHER_IS_AT_WORK, STOPPED = 0, 1, 2, LOCKED, 143


def stand_in(folder: Path, status: int) -> Path:
    """A program that prints how it was called, and ends with a status."""
    path = folder / f"exit-{status}"
    path.write_text(f'#!/bin/sh\necho "called: $*"\nexit {status}\n', "utf-8")
    path.chmod(0o755)
    return path


def check_config(path: Path) -> int:
    """The exit status of `corpusmill refresh --check`."""
    return run_cli("refresh", "--config", path, "--check")
