"""The steps of a build, and how long they will still take."""

import types
from collections.abc import Iterator
from typing import Any

import pytest

from corpusmill.pipelines.run.corpora import rows
from corpusmill.pipelines.run.progress import (
    Estimate,
    Step,
    describe_counts,
    describe_seconds,
    find_steps,
)
from tests.tools.case_tables import read_cases

STEPS = (
    Step("read", "starting", fixed=1.0),
    Step(
        *("read", "reading", "r/bytes"),
        total=["input"],
        unit="bytes of the files",
        beside="r/lines lines",
        per="r/text",
        expect=2.0,
        cost=1.0,
    ),
    Step("write", "sorting", fixed=2.0),
    Step(
        *("write", "learning", "l/articles", "l/begun"),
        total=["l/begun"],
        unit="articles",
        fixed=2.0,
        serial=True,
    ),
    Step("write", "writing", "w/lines", total=["r/lines"], unit="lines", per="r/text", cost=1.0),
)
READ = {"r/bytes": 4_000_000, "r/text": 8_000_000, "r/lines": 4000}


@pytest.mark.parametrize(
    ("stage", "counts", "step", "counted"), read_cases("pipelines/estimates", "what_is_going_on")
)
def test_what_is_going_on(stage: str, counts: dict[str, int], step: str, counted: str) -> None:
    found = Estimate(STEPS, 4_000_000)
    found.update(counts, stage, 5.0)
    doing = found.doing(6.0)
    assert (doing.stage, doing.step, doing.stages) == (stage, step, 2)
    assert describe_counts(doing) == counted


def run(
    slow: float, starting: float, unexpected: float = 1.0
) -> Iterator[tuple[float, dict[str, int], str]]:
    """(seconds, counts, stage) of a build whose machine takes `slow` times as long as the table says.

    Args:
      starting: seconds of the first step.
      unexpected: how many times more text the files hold than the table expects.
    """
    text = 8_000_000 * unexpected
    reading, writing = (slow * text / 1e6 for _ in range(2))
    clock = 0.0

    def at(part: float, seconds: float) -> int:
        return int(part * min(max(clock, 0) / seconds, 1))

    for tick in range(int(2 * (starting + reading + writing + 4 * slow))):
        now = tick / 2
        clock = now - starting
        counts = {
            "r/bytes": at(4_000_000, reading),
            "r/text": at(text, reading),
            "r/lines": at(4000, reading),
        }
        stage = "read" if clock < reading else "write"
        clock -= reading + 2 * slow
        counts |= {"l/begun": 1700} if clock > 0 else {}
        clock -= 2 * slow
        counts |= {"w/lines": at(4000, writing)} if clock > 0 else {}
        yield now, counts, stage


@pytest.mark.parametrize(
    ("slow", "starting", "unexpected"),
    [(1, 1, 1), (20, 20, 1), (2, 1, 1), (5, 9, 1), (5, 5, 3), (5, 5, 0.5)],
)
def test_from_a_fifth_on_the_time_left_is_known(
    slow: float, starting: float, unexpected: float
) -> None:
    found = Estimate(STEPS, 4_000_000)
    ticks = list(run(slow, starting, unexpected))
    end = ticks[-1][0]
    for now, counts, stage in ticks:
        found.update(counts, stage, now)
        left = found.doing(now).left
        if 0.2 * end <= now <= 0.95 * end:
            assert left is not None
            assert left == pytest.approx(end - now, rel=0.5), now


def test_it_is_never_said_to_be_over_before_the_end() -> None:
    found = Estimate(STEPS, 4_000_000)
    for now, counts, stage in run(1, 1):
        found.update(counts, stage, now)
    left = found.doing(now + 60).left
    assert left is not None
    assert left > 0


def test_stages_that_were_found_finished_cost_no_time() -> None:
    found = Estimate(STEPS, 4_000_000)
    ended = found.update(READ, "write", 1.0)
    assert ended == []
    left = found.doing(2.0).left
    assert left is not None
    assert 5 < left < 15


def test_a_step_that_has_ended_is_told() -> None:
    found = Estimate(STEPS, 4_000_000)
    found.update({}, "read", 0.5)
    found.update(READ | {"r/lines": 3900}, "read", 1.0)
    assert found.update(READ | {"r/lines": 3900}, "write", 9.0) == []
    ((told, seconds),) = found.update(READ, "write", 9.5)  # its last counts come late
    assert told == "read: reading: 4.0 MB of the files, 4,000 lines, 8 s"
    assert seconds == 8.0


def test_a_total_may_be_the_difference_of_two_counts() -> None:
    step = Step("read", "stripping", "s/books", total=["r/books - c/dropped"], unit="books")
    found = Estimate([step], 1)
    found.update({"r/books": 10, "c/dropped": 2, "s/books": 4}, "read", 1.0)
    assert describe_counts(found.doing(2.0)) == "4 of 8 books"


@pytest.mark.parametrize(("sample", "left"), [(0, 40.0), (250_000, 2.0), (10**9, 40.0)])
def test_a_setting_bounds_what_is_expected(sample: int, left: float) -> None:
    steps = (
        Step("read", "reading", "r/bytes", total=["input"], expect=1.0, cost=1.0),
        Step("read", "learning", "l/words", expect=0.4, most="sample", each=4000.0, cost=1.0),
    )
    found = Estimate(steps, 100_000_000, 1, settings(sample=sample))
    found.update({"r/bytes": 99_999_999}, "read", 100.0)
    assert found.doing(100.0).left == pytest.approx(left, rel=0.1)


def settings(**values: Any) -> types.SimpleNamespace:
    return types.SimpleNamespace(**values)


@pytest.mark.parametrize(
    ("values", "steps"),
    [
        ({"vocabulary_size": 100}, ["starting", "learning a vocabulary"]),
        ({"vocabulary_size": 0}, ["starting"]),
        ({"newer_than": ("x",)}, ["starting", "reading what is older"]),
    ],
)
def test_steps_depend_on_settings(values: dict[str, Any], steps: list[str]) -> None:
    names = [one.step for one in find_steps("wiki40b", ["clean", "write"], settings(**values))]
    optional = ("starting", "learning a vocabulary", "reading what is older")
    assert [name for name in names if name in optional] == steps


@pytest.mark.parametrize("row", rows().values(), ids=lambda row: row.name)
def test_every_stage_of_every_corpus_has_steps(row: Any) -> None:
    build, _ = row.classes()
    stages = [stage.name for stage in build.stages(object.__new__(build))]
    steps = find_steps(build.release.corpus, stages, settings(deduplicate="raw"))
    assert [*dict.fromkeys(step.stage for step in steps)] == stages
    assert "working" not in [step.step for step in steps]


def test_a_stage_that_the_table_does_not_have_is_a_step() -> None:
    steps = find_steps("toy", ["read", "write"])
    assert [one.step for one in steps] == ["reading", "working"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00"), (59.6, "1:00"), (3599, "59:59"), (3725, "1:02:05")]
)
def test_durations(seconds: float, text: str) -> None:
    assert describe_seconds(seconds) == text
