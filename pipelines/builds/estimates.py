"""The steps of a build, and how long they will still take.

steps.toml knows what steps cost beside each other; how fast this machine is, and how much there is to do, a
build finds out as it runs.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from transforms.text.files.toml_tables import read_table

INPUT = "input"
STEADY_SECONDS = 3.0
"""Of the table's own speed that count beside what was measured."""
STEADY_SHARE = 0.15
"""Of a step, at the speed that was expected, that counts beside what was measured of it."""
OVERDUE = 0.2
"""Of the time that a step has taken, while it cannot be seen how far it is."""
FADING = 0.8
"""Of the weight of a step that has the step before it: the machine may have become faster or slower."""
LEAST_SECONDS = 1.0
"""That are left as long as the build is not over."""
TOLD_FROM = 0.03
"""Share of a build before which nothing is known."""


class Step(NamedTuple):
    """A row of steps.toml."""

    stage: str
    step: str
    done: str = ""
    begun: str = ""
    total: Sequence[str] = ()
    unit: str = ""
    beside: str = ""
    fixed: float = 0.0
    cost: float = 0.0
    per: str = ""
    expect: float = 0.0
    most: str = ""
    serial: bool = False
    when: str = ""


class Doing(NamedTuple):
    """The current activity of a build."""

    stage: str
    step: str
    number: int  # of the stage
    stages: int
    done: int
    total: int  # 0 where it is not known
    unit: str  # "" where nothing is counted
    beside: str  # "1,234 pages"
    share: float  # of the step; 0 where it is not known
    seconds: float  # since the step began
    left: float | None  # seconds until the end of the build, if that can be said


def find_steps(corpus: str, stages: Sequence[str], settings: Any = None) -> list[Step]:
    """The steps of the stages; of a corpus that the table does not have, one a stage.

    Args:
      settings: of the corpus, which decide what is done.
    """
    table = _table().get(corpus) or {stages[0]: [_READING]}
    steps = []
    for stage in stages:
        rows = [Step(stage, **row) for row in table.get(stage, [_WORKING])]
        steps += [row for row in rows if _is_wanted(row.when, settings)]
    return steps


_READ = "*/dump_bytes"  # by any stage
_READING: Mapping[str, Any] = {
    "step": "reading",
    "done": _READ,
    "total": [INPUT],
    "unit": "bytes of the input",
    "fixed": 5.0,
    "expect": 1.0,
    "cost": 0.1,
}
_WORKING: Mapping[str, Any] = {"step": "working", "fixed": 5.0}


def _is_wanted(when: str, settings: Any) -> bool:
    name, _, value = when.lstrip("!").partition("=")
    if not name:
        return True
    found = getattr(settings, name, None)
    return (str(found) == value if value else bool(found)) != when.startswith("!")


def _table() -> Mapping[str, Any]:
    return read_table(__package__, "steps.toml")


class Estimate:
    """Estimates the progress of a build from the counts of its workers.

    Args:
      total_bytes: of the input.
      settings: of the corpus.
    """

    def __init__(
        self, steps: Sequence[Step], total_bytes: int, workers: int = 1, settings: Any = None
    ):
        self._steps = steps
        self._stages = list(dict.fromkeys(step.stage for step in steps))
        self._bytes = 0 if getattr(settings, "limit", 0) else total_bytes  # how far is not known
        self._workers = workers
        self._settings = settings
        self._now = 0  # index of the step
        self._begun = 0.0  # when it began
        self._before: Mapping[str, int] = {}  # what was counted when it began
        self._took: dict[int, float] = {}  # index → seconds, of the steps that this run has done
        self._seen: set[str] = set()  # stages that were not found finished
        self._counts: Mapping[str, int] = {}

    def update(
        self, counts: Mapping[str, int], stage: str, seconds: float
    ) -> list[tuple[str, float]]:
        """Takes what is counted so far; returns the steps that have ended, each with its seconds.

        Args:
          stage: that runs; "" before the first.
          seconds: since the build began.
        """
        read = sum(count for name, count in counts.items() if name.endswith("/dump_bytes"))
        self._counts = counts = {**counts, _READ: read}
        self._seen.add(stage)
        ended: list[tuple[str, float]] = []
        found = self._find(stage)
        if found != self._now:
            if self._counts.get(self._steps[self._now].done):
                took = seconds - self._begun
                ended.append((self._describe(self._now, took), took))
            between = range(self._now, found)
            self._took |= {one: 0.0 for one in between if self._steps[one].stage in self._seen}
            self._took[self._now] = seconds - self._begun
            self._now, self._begun, self._before = found, seconds, dict(counts)
        return ended

    def _find(self, stage: str) -> int:
        """The step that has begun last."""
        own = [index for index, step in enumerate(self._steps) if step.stage == stage]
        if not own:
            return self._now
        begun = [index for index in own if self._is_begun(self._steps[index])]
        last = max(begun, default=own[0])
        is_done = last in begun and self._share(last) >= 1
        if is_done and last + 1 in own and not self._steps[last + 1].done:
            last += 1
        return max(last, self._now)

    def _is_begun(self, step: Step) -> bool:
        return any(self._counts.get(name) for name in (step.done, step.begun))

    def _share(self, index: int) -> float:
        """Returns the share of a step that is done, 0 to 1; 0 if it is not known."""
        total = self._total(index)
        return min(self._counts.get(self._steps[index].done, 0) / total, 1.0) if total else 0.0

    def _total(self, index: int) -> int:
        for name in self._steps[index].total:
            if known := self._known(name):
                return known
        return 0

    def _known(self, name: str) -> int:
        if name == INPUT:
            return self._bytes
        return self._counts.get(name, 0) or int(getattr(self._settings, name, 0) or 0)

    # Time.

    def _model(self, index: int) -> float:
        """Seconds of a step at the speed of the table."""
        step = self._steps[index]
        size = self._size(step.per or step.done, step.expect) / 1e6
        if step.most:
            size = min(size, float(getattr(self._settings, step.most, size)) / 1e6)
        return step.fixed + step.cost * size / (1 if step.serial else self._workers)

    def _size(self, name: str, expect: float) -> float:
        """Returns the expected final value of a counter, as far as it can be estimated."""
        if name == INPUT:
            return self._bytes
        count, share = self._counts.get(name, 0), self._share(self._now)
        before = self._before.get(name, 0)
        if count > before and 0 < share < 1:
            return before + (count - before) / share
        return count or expect * self._bytes

    def doing(self, seconds: float) -> Doing:
        """Returns the current activity."""
        step, since = self._steps[self._now], seconds - self._begun
        beside, _, unit = step.beside.partition(" ")
        return Doing(
            stage=step.stage,
            step=step.step,
            number=self._stages.index(step.stage) + 1,
            stages=len(self._stages),
            done=self._counts.get(step.done, 0),
            total=self._total(self._now),
            unit=step.unit,
            beside=f"{self._counts.get(beside, 0):,} {unit}" if beside else "",
            share=self._share(self._now),
            seconds=since,
            left=self._left(seconds, since),
        )

    def _left(self, seconds: float, since: float) -> float | None:
        now, share = self._now, self._share(self._now)
        weights = {index: FADING ** (now - index - 1) for index in self._took}
        modelled = sum(weight * self._model(index) for index, weight in weights.items())
        taken = sum(weight * self._took[index] for index, weight in weights.items())
        speed = (taken + STEADY_SECONDS) / (modelled + STEADY_SECONDS)
        model = self._model(now)
        expected = speed * model
        if share:  # nothing is counted before what does not depend on the size is done
            fixed = min(self._steps[now].fixed, model)
            share = (fixed + share * (model - fixed)) / (model or 1.0)
        if share:
            whole = (since + STEADY_SHARE * expected) / (share + STEADY_SHARE)
        else:
            whole = max(expected, (1 + OVERDUE) * since)
        if share or since > expected:
            done = (share or 1.0) * model
            speed = (taken + since + STEADY_SECONDS) / (modelled + done + STEADY_SECONDS)
        later = sum(self._model(index) for index in range(now + 1, len(self._steps)))
        left = max(whole - since + speed * later, LEAST_SECONDS)
        is_known = seconds / (seconds + left or 1) >= TOLD_FROM and any(self._counts.values())
        return left if is_known else None

    # Words.

    def _describe(self, index: int, seconds: float) -> str:
        """A line about a step that has ended."""
        step = self._steps[index]
        beside, _, unit = step.beside.partition(" ")
        counted = [_amount(self._counts.get(step.done, 0), 0, step.unit)]
        counted += [f"{self._counts.get(beside, 0):,} {unit}"] if beside else []
        return f"{step.stage}: {step.step}: {', '.join(counted)}, {seconds:.0f} s"


def describe_counts(doing: Doing) -> str:
    """Describes the finished part of a step, in its unit."""
    if not doing.unit:
        return ""
    if not doing.done and doing.total:  # it can be seen only when it ends
        return _amount(doing.total, 0, doing.unit)
    counted = _amount(doing.done, doing.total, doing.unit)
    return f"{counted}, {doing.beside}" if doing.beside else counted


def _amount(done: int, total: int, unit: str) -> str:
    kind, _, of_what = unit.partition(" ")
    if kind == "bytes":
        of = f" of {total / 1e6:,.1f}" if total else ""
        return f"{done / 1e6:,.1f}{of} MB {of_what}"
    of = f" of {total:,}" if total else ""
    return f"{done:,}{of} {unit}"


def describe_seconds(seconds: float) -> str:
    """A duration as a clock shows it: "0:59", "1:02:03"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
