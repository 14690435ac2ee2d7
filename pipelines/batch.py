"""Runs several builds one after the other. If a build fails, the next one is still run."""

import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from corpusmill.pipelines.inspect.build_sizes import find_sizes
from corpusmill.pipelines.inspect.report import render_text
from corpusmill.pipelines.run.corpus_build import CorpusBuild
from corpusmill.pipelines.run.editions import write_cards
from corpusmill.pipelines.run.forecast import print_total
from corpusmill.pipelines.run.publish import EXPLAINED, FinishedError, is_built
from corpusmill.transforms.files.errors import LOOKED_AHEAD, end_if_failed
from corpusmill.transforms.files.terminal import draw, screen_columns
from corpusmill.transforms.wikipedia.find_dumps import MissingWiki

BUILT = "built"
ALREADY_THERE = "already there"
FAILED = "failed"
MISSING = "missing"
STATUSES = (BUILT, ALREADY_THERE, FAILED, MISSING)


class NamedBuild(NamedTuple):
    """A build to run in a batch."""

    label: str  # "uk 20230501"
    target: str  # the folder of the build
    make: Callable[[], CorpusBuild]  # checks the inputs; may raise
    # runs the build that `make` returns; if the batch has `replace`, replaces a finished build
    run: Callable[[Any], Any]


class Outcome(NamedTuple):
    """The result of one build."""

    label: str
    target: str  # the folder of the build; "" if its dump is missing
    status: str  # one of STATUSES
    message: str = ""  # why the build failed or its dump is missing


def run_batch(builds: Sequence[NamedBuild], *, replace: bool = False) -> list[Outcome]:
    """Runs all builds that are not finished, and logs each result as soon as it is known.

    An error in a build does not stop the batch; only an interrupt such as Ctrl-C does.

    Args:
      replace: Whether finished builds are built again. If not, a finished build counts as failed if its
        version, settings or inputs differ from those of the requested build.
    """
    log = logging.getLogger(__name__)
    outcomes = []
    for number, build in enumerate(builds, 1):
        log.info("%s: build %d of %d", build.label, number, len(builds))
        outcome = _run_build(build, replace)
        level = logging.ERROR if outcome.status == FAILED else logging.INFO
        log.log(level, "%s: %s: %s", build.label, outcome.status, outcome.message or build.target)
        outcomes.append(outcome)
    write_cards(one.target for one in outcomes if one.status == ALREADY_THERE)
    return outcomes


def look_ahead(
    builds: Sequence[NamedBuild], missing: Sequence[MissingWiki], *, missing_is_failure: bool
) -> None:
    """Prints the forecast cost of each build that is not finished, and the total.

    Args:
      builds: Builds whose `run` prints and returns a Forecast, and raises FinishedError for a finished
        build.
      missing: Wikis whose dump was not found. They are printed, too.
      missing_is_failure: Whether a missing dump is a failure.

    Raises BuildError if a build would fail, or could not be forecast.
    """
    forecasts, failed = [], []
    for build in builds:
        try:
            forecasts.append(build.run(build.make()))
        except FinishedError:
            print(f"{build.label}: {ALREADY_THERE}: {build.target}")
        except EXPLAINED as error:
            print(f"{build.label}: {error}")
            failed.append(build.label)
    for one in missing:
        print(f"{one.language}: {MISSING}: {one.reason}")
    print_total(forecasts)
    if missing_is_failure:
        failed += [one.language for one in missing]
    end_if_failed(failed, len(builds) + len(missing), "builds would fail", LOOKED_AHEAD)


def _run_build(build: NamedBuild, replace: bool) -> Outcome:
    try:
        corpus = build.make()
        if not replace and is_built(build.target, corpus):
            return Outcome(build.label, build.target, ALREADY_THERE)
        build.run(corpus)
    except EXPLAINED as error:
        return Outcome(build.label, build.target, FAILED, str(error))
    except Exception as error:
        logging.getLogger(__name__).exception("%s", build.label)
        return Outcome(build.label, build.target, FAILED, _one_line(error))
    return Outcome(build.label, build.target, BUILT)


def _one_line(error: Exception) -> str:
    """Returns an error as one line: its type and the last line of its message.

    The message of an error in a worker contains a whole traceback, so only its last line is useful.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else 'see the traceback'}"


# The end of a batch.


def print_sizes(outcomes: Sequence[Outcome]) -> None:
    """Prints the sizes of the finished builds."""
    finished = [one.target for one in outcomes if one.status in (BUILT, ALREADY_THERE)]
    if finished:
        sys.stdout.write(render_text(find_sizes(finished), screen_columns()) + "\n")


def conclude(
    outcomes: Sequence[Outcome], *, missing_is_failure: bool, as_json: bool = False
) -> None:
    """Prints a line per build.

    Args:
      missing_is_failure: Whether a missing dump is a failure.
      as_json: Whether to print the outcomes as one line of JSON.

    Raises BuildError if a build has failed.
    """
    if as_json:
        print(json.dumps({"outcomes": [one._asdict() for one in outcomes]}, ensure_ascii=False))
    else:
        sys.stdout.write(describe_outcomes(outcomes))
    failures = {FAILED, MISSING} if missing_is_failure else {FAILED}
    failed = [one.label for one in outcomes if one.status in failures]
    end_if_failed(failed, len(outcomes), "builds failed")


def describe_outcomes(outcomes: Sequence[Outcome]) -> str:
    """Returns a table of the builds, and a last line with the number of builds per status."""
    rows = [(one.label, one.status, one.message or one.target) for one in outcomes]
    table = draw(("build", "status", "result"), rows, key=3, width=screen_columns())
    counts = Counter(one.status for one in outcomes)
    summary = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    return f"{table}{summary}\n"
