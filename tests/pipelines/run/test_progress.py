"""The display of a build while it runs."""

import logging
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from corpusmill.pipelines.run import progress
from corpusmill.transforms.files import counters

COUNTS = {
    "read-dump/dump_bytes": 500_000,
    "read-dump/xml_bytes": 6_000_000,
    "read-dump/pages": 1100,
}


def estimate(total_bytes: int = 1_000_000) -> progress.Estimate:
    return progress.Estimate(progress.find_steps("wiki40b", ["clean", "write"]), total_bytes)


def count_all() -> None:
    for name, amount in COUNTS.items():
        stage, _, what = name.partition("/")
        counters.count(stage, what, amount)
    counters.flush()


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_without_a_terminal_lines_are_logged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.01)
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.02)
    caplog.set_level(logging.INFO, "corpusmill.pipelines.run.progress")
    with progress.shown("wiki40b uk", estimate()):
        progress.enter_stage("clean")
        count_all()
        wait_for(lambda: "0.5 of 1.0 MB of the dump" in caplog.text)
        folder = os.environ[counters.PROGRESS_DIR]
    assert not Path(folder).exists()
    assert counters.PROGRESS_DIR not in os.environ
    line = next(line for line in caplog.messages if "0.5 of" in line)
    assert re.fullmatch(
        r"wiki40b uk: clean: reading: 0.5 of 1.0 MB of the dump, 1,100 pages; 0:\d\d(, about .*)?",
        line,
    )


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_on_a_terminal_lines_are_drawn_unless_it_is_to_be_quiet(
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    level: int,
) -> None:
    caplog.set_level(level, "corpusmill.pipelines.run.progress")
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.01)
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "80"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    drawn = ""

    def draws(text: str) -> bool:
        nonlocal drawn
        drawn += capsys.readouterr().err
        return text in drawn

    with progress.shown("wiki40b uk", estimate()):
        progress.enter_stage("clean")
        count_all()
        if level == logging.INFO:
            wait_for(lambda: draws("0.5 of 1.0 MB of the dump, 1,100 pages"))
    if level > logging.INFO:
        assert not draws("wiki40b")


DOING = progress.Doing(
    stage="write",
    step="learning a vocabulary",
    number=2,
    stages=2,
    done=1_234_567,
    total=9_876_543,
    unit="different words",
    beside="1,234,567 sentences",
    share=0.125,
    seconds=10.0,
    left=4321.0,
)


@pytest.mark.parametrize("width", [40, 60, 80, 90, 120])
@pytest.mark.parametrize("label", ["wiki40b uk", f"flores101 en-domains-news-{'sentences-' * 20}"])
def test_no_number_is_cut(width: int, label: str) -> None:
    console = Console(width=width, color_system=None, force_terminal=True)
    with console.capture() as capture:
        for line in progress.draw_lines(label, DOING, 3725.0, width):
            console.print(line)
    drawn = capture.get()
    assert max(map(len, drawn.splitlines())) <= width
    assert "1:02:05, about 1:12:01 left" in drawn
    counted = "1,234,567 of 9,876,543 different words, 1,234,567 sentences"
    assert (counted if width >= 60 else "1,234,567 of 9,876,543") in drawn


def test_a_failure_inside_the_block_comes_through() -> None:
    with pytest.raises(RuntimeError, match="boom"), progress.shown("x", estimate()):
        raise RuntimeError("boom")
    assert counters.PROGRESS_DIR not in os.environ
