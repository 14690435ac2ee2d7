"""Helpers that the tests of deploy/ share."""

import shutil
import subprocess
from pathlib import Path

import pytest

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


def run_tool(
    name: str, package: str, *arguments: object, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs a program of the machine; skips the test where it is not installed.

    Args:
      package: what installs it, for the reason.
      given: its standard input.
    """
    program = shutil.which(name)
    if not program:
        pytest.skip(f"{name} is not installed ({package})")
    command = [program, *map(str, arguments)]
    return subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, timeout=60
    )


def check_config(path: Path) -> int:
    """The exit status of `corpusmill refresh --check`."""
    return run_cli("refresh", "--config", path, "--check")
