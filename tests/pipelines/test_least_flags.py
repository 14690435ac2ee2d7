"""Every command, with the fewest flags that its help allows, on the bundled samples."""

import argparse
import glob
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpusmill.pipelines.cli import make_parser
from corpusmill.pipelines.sample_builds import SAMPLES
from tests.makers.wiki_builds import Command
from tests.tools.case_tables import read_cases

TYPED = read_cases("pipelines/least_flags", "typed")
TYPED_BY_FIXTURES = ["demo"]


def commands_of(row: str) -> Iterator[tuple[list[str], int]]:
    """Arguments and status of each line."""
    for line in filter(str.strip, row.splitlines()):
        words = shlex.split(line)
        status = int(words.pop(0)) if words[0].isdigit() else 0
        yield words, status


@pytest.mark.slow
@pytest.mark.parametrize("row", TYPED, ids=lambda row: " ".join(row.split()[:2]))
def test_a_command_as_it_is_typed(
    row: str, tmp_path: Path, demo: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine of one core: builds by several workers are the matter of other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    for words, status in commands_of(row):
        typed = [word.format(samples=SAMPLES, demo=demo) for word in words]
        expanded = [path for word in typed for path in sorted(glob.glob(word)) or [word]]  # noqa: PTH207
        assert "Traceback" not in run(*expanded, status=status).err


def test_no_command_is_left_out() -> None:
    typed = {" ".join(words) for row in TYPED for words, _ in commands_of(row)}
    for name in set(leaves(make_parser())) - set(TYPED_BY_FIXTURES):
        assert any(words.startswith(name) for words in typed), name


def leaves(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Names of the commands below a parser, "flores101 check"."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                inner = list(leaves(below))
                yield from (f"{name} {one}" for one in inner) if inner else [name]
