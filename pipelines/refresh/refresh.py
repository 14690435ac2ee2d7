"""Refreshes every corpus of a configuration in order. If a corpus fails, the others are still refreshed.

Writes metrics in the text format of Prometheus, for the textfile collector of the node exporter.
"""

import logging
import pathlib
import signal
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import requests
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Info,
    disable_created_metrics,
    generate_latest,
)

from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.stores import is_local
from corpusmill.transforms.files.write_files import write_whole

from ..run import editions
from . import refresh_corpus
from .config import (
    CURRENT_TABLE,
    NO_TABLE,
    CorpusTable,
    Recipe,
    RefreshConfig,
    Settings,
    check_means,
    in_order,
    recipe_of,
)
from .fetch import folder_of, remove_downloads
from .http_requests import name_ourselves, open_session
from .sources import RemoteDump, hide_passwords
from .state import CorpusState, StateFolder

PREFIX = "corpusmill_refresh"
_Metric = TypeVar("_Metric", Gauge, Counter, Info)

_TIMES = {
    "last_run": "When the corpus was last refreshed, with or without success.",
    "last_success": "When a refresh of the corpus last succeeded, with or without a new edition.",
    "last_failure": "When a refresh of the corpus last failed.",
    "last_published": "When an edition last became the current one.",
}


_OF_RUN = {
    "run_end_timestamp_seconds": "When the last run ended.",
    "run_duration_seconds": "How long the last run took.",
    "run_exit_status": "Exit status of the last run, 0 for success.",
}


def write_metrics(path: str, run: Sequence[float], states: Mapping[str, CorpusState]) -> None:
    """Writes metrics to the file `path`, which is replaced as a whole.

    If this fails, raises OSError and leaves the old file unchanged.

    Args:
      path: path of the file.
      run: values of the metrics about the whole run: its end in seconds since 1970, its duration in seconds,
        and its exit status.
      states: name of a corpus → its state, from which the metrics about the corpus are made.
    """
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()

    def define(kind: type[_Metric], name: str, about: str, *labels: str) -> _Metric:
        return kind(f"{PREFIX}_{name}", about, labels, registry=registry)

    for (name, about), value in zip(_OF_RUN.items(), run, strict=True):
        define(Gauge, name, about).set(value)
    times = {
        field: define(Gauge, f"{field}_timestamp_seconds", about, "name")
        for field, about in _TIMES.items()
    }
    failed = define(Gauge, "failed", "Whether the last refresh of the corpus failed.", "name")
    failures = define(Counter, "failures", "Refreshes of the corpus that failed.", "name")
    fetched = define(Counter, "downloaded_bytes", "Bytes downloaded for the corpus.", "name")
    about = "How long a step took when it was last done."
    seconds = define(Gauge, "step_duration_seconds", about, "name", "step")
    about = "Documents of the edition that was last compared with the one before it."
    documents = define(Gauge, "documents", about, "name", "edition", "change")
    info = define(Info, "edition", "The current edition.", "name")
    for label, state in states.items():
        for field, metric in times.items():
            if getattr(state, field):  # the time 0 means never
                metric.labels(label).set(getattr(state, field))
        failed.labels(label).set(bool(state.error))
        failures.labels(label).inc(state.failures)
        fetched.labels(label).inc(state.downloaded_bytes)
        for step, value in sorted(state.seconds.items()):
            seconds.labels(label, step).set(value)
        for change, count in sorted(state.documents.items()):
            documents.labels(label, state.compared, change).set(count)
        if state.current:
            edition = {"edition": state.current, "signature": state.signature}
            info.labels(label).info({**edition, "folder": state.edition_folder})
    if is_local(path):
        pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, generate_latest(registry))


FAILED = "failed"
NEWER = "newer"  # there is a newer dump
_ATTEMPTS_TO_LOOK = 2  # fewer than in a refresh, because a user waits
LOG = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """The result of refreshing one corpus."""

    corpus: str  # the label of its table
    status: str  # PUBLISHED, NEWER, UP_TO_DATE, WAITING or FAILED
    result: str  # the folder of the current edition, or the reason why there is no newer one


def look_ahead(config: RefreshConfig) -> list[Outcome]:
    """Plans a refresh of each corpus from the dumps that are on the sites, for `corpusmill refresh
    --dry-run`. Returns what a refresh would do, or the error that prevents it.

    Nothing is downloaded or changed. Raises ValueError for invalid settings of a corpus.
    """
    settings = config.refresh
    session = open_session(name_ourselves(settings.contact), attempts=_ATTEMPTS_TO_LOOK)
    found = []
    for table in in_order(config.corpus):
        recipe = recipe_of(table, settings)
        try:
            outcome = _look_ahead(recipe, settings, session)
        except Exception as error:
            outcome = FAILED, refresh_corpus.describe(error, [])
        found.append(Outcome(table.label, *outcome))
    return found


def _look_ahead(recipe: Recipe, settings: Settings, session: requests.Session) -> tuple[str, str]:
    """Returns the status that a corpus would have, and the edition that would be made.

    Raises BuildError if this machine has too little disk space or memory for it.
    """
    table = recipe.table
    state = StateFolder(settings.state).load(table.label, sets_aside=False)
    if not (plans := refresh_corpus.plan_corpus(recipe, settings.output, state, session)):
        return refresh_corpus.WAITING, "no dump is finished yet"

    def check(plan: refresh_corpus.Plan) -> refresh_corpus.Plan:
        if not refresh_corpus.is_made(plan, settings.output):
            check_means(table.kind, plan.dumps, settings)
        return plan

    plan = plans[0]
    if not plan.is_newer:
        return refresh_corpus.UP_TO_DATE, f"{plan.folder}/{plan.current}"
    plan = refresh_corpus.first_made(plans, check, table.label)
    files = [file for dump in plan.dumps for file in dump.all_files]
    size = sum(max(file.size, 0) for file in files)
    place = f"{plan.folder}/{plan.edition}" if plan.folder else plan.edition
    after = f", after {plan.current}" if plan.current else ""
    return NEWER, f"would make {place}{after}, from {len(files)} files of {size:,} bytes"


def refresh(config: RefreshConfig, check_lock: Callable[[], None]) -> list[Outcome]:
    """Refreshes all corpora, and writes the metrics even after an error.

    Args:
      check_lock: function that is called before each step. It raises an error if the lock, which the caller
        must hold, was lost.

    Raises ValueError for invalid settings of a corpus, before anything is done.
    """
    return _Refresh(config, check_lock).run()


class _Refresh:
    """One run of the command `corpusmill refresh`, which refreshes all corpora in order."""

    def __init__(self, config: RefreshConfig, check_lock: Callable[[], None]):
        self._settings = config.refresh
        self._check_lock = check_lock
        self._recipes = [recipe_of(table, config.refresh) for table in in_order(config.corpus)]
        self._states = StateFolder(config.refresh.state)
        self._session = open_session(name_ourselves(config.refresh.contact))
        self._known: dict[str, CorpusState] = {}
        self._unfinished: list[RemoteDump] = []  # dumps whose downloads the next run needs
        self._unknown: set[str] = set()  # sources that could not be queried

    def run(self) -> list[Outcome]:
        """Refreshes all corpora, removes downloads and writes the metrics; see `refresh`."""
        start, status = time.monotonic(), 0
        try:
            outcomes = [self._refresh(recipe) for recipe in self._recipes]
            status = int(any(one.status == FAILED for one in outcomes))
            self._check_lock()
            if not self._settings.keep_downloads:
                self._remove_downloads()
        except BaseException as error:
            status = _status_of(error)
            raise
        finally:
            self._tell((time.time(), time.monotonic() - start, status))
        return outcomes

    def _refresh(self, recipe: Recipe) -> Outcome:
        """Refreshes one corpus. Returns its outcome; an error is logged and becomes part of the outcome."""
        label, joined = recipe.table.label, lambda: self._joined(recipe.table)
        try:
            run = refresh_corpus.CorpusRun(
                recipe, self._settings, self._states, self._session, joined, self._check_lock
            )
        except OSError as error:  # the state file is not changed
            message, now = f"the state cannot be read: {error}", time.time()
            state = CorpusState(last_run=now, last_failure=now, failures=1, error=message)
            self._known[label] = state
            return self._conclude(recipe, (), FAILED, message)
        status, message = FAILED, refresh_corpus.INTERRUPTED  # kept only after Ctrl-C or SIGTERM
        try:
            status, message = run.run()
        except Exception as error:
            if not refresh_corpus.is_expected(error):
                LOG.error("%s: %s", label, hide_passwords(traceback.format_exc()))
            message = refresh_corpus.describe(
                error, [self._settings.output, self._settings.downloads]
            )
        finally:
            self._save(label, run, status, message)
        return self._conclude(recipe, run.plans, status, message)

    def _conclude(
        self, recipe: Recipe, plans: Sequence[refresh_corpus.Plan], status: str, message: str
    ) -> Outcome:
        """Logs and returns the outcome of a corpus.

        If the corpus failed or waits for a dump, its downloads are kept for the next run.

        Args:
          recipe: The sources of the corpus, and the function that builds it.
          plans: The possible refreshes of the corpus, each with the dumps that it uses; () if the sources
            could not be queried.
          status: A status such as "published".
          message: The error, or the folder of the current edition.
        """
        if status in (FAILED, refresh_corpus.WAITING):
            if plans:
                self._unfinished += [dump for plan in plans for dump in plan.dumps]
            else:
                self._unknown |= {source.name for source in recipe.sources}
        outcome = Outcome(recipe.table.label, status, message)
        LOG.log(logging.ERROR if status == FAILED else logging.INFO, "%s: %s: %s", *outcome)
        return outcome

    def _save(self, label: str, run: refresh_corpus.CorpusRun, status: str, message: str) -> None:
        """Saves the outcome of a corpus in its state file. Errors while writing, such as a full disk, are
        only logged.

        Args:
          label: The name of the corpus.
          run: The refresh of the corpus, which has ended.
          status: A status such as "published".
          message: The error, if `status` is FAILED.

        Raises BusyError if another refresh has taken over the lock, because that refresh may write the same
        file.
        """
        now = time.time()
        changes: dict[str, Any] = {"last_run": now, "error": message if status == FAILED else ""}
        if status == FAILED:
            changes |= {"last_failure": now, "failures": run.state.failures + 1}
        elif status != refresh_corpus.WAITING:
            # While waiting, it is unknown whether the edition is up to date.
            changes["last_success"] = now
        try:
            self._check_lock()
            run.save(**changes)
        except OSError as cause:
            LOG.error("%s: the state could not be written: %s", label, cause)
        self._known[label] = run.state

    def _joined(self, table: CorpusTable) -> str:
        """Returns the folder of the build that a corpus uses as an input, such as the entity table; "" if it
        needs none.

        Raises BuildError if that build does not exist yet.
        """
        named: str = getattr(table, table.joins, NO_TABLE)
        if named != CURRENT_TABLE:
            return "" if named == NO_TABLE else named
        for other in self._recipes:
            if other.table.kind == table.joins:
                folder = refresh_corpus.join(self._settings.output, other.edition_folder)
                if current := editions.read_current(folder):
                    return refresh_corpus.join(folder, current)
                makes = f"[[corpus]] {other.table.label} must be published first"
                raise BuildError(f"there is no build of {table.joins} yet: {makes}")
        return ""

    def _remove_downloads(self) -> None:
        """Removes downloads, except those that a failed or waiting corpus still needs."""
        all_sources = {source.name for one in self._recipes for source in one.sources}
        sources = sorted(all_sources - self._unknown)
        wanted = {folder_of(self._settings.downloads, dump) for dump in self._unfinished}
        try:
            for folder in remove_downloads(self._settings.downloads, sources, wanted):
                LOG.info("removed the downloads in %s", folder)
        except (OSError, InputError) as error:
            LOG.warning("downloads could not be removed: %s", error)

    def _tell(self, run: Sequence[float]) -> None:
        """Writes the metrics of all corpora. For a corpus that this run has not reached, writes its previous
        state.
        """
        try:
            states = {
                label: self._known.get(label) or self._states.load(label, sets_aside=False)
                for label in (recipe.table.label for recipe in self._recipes)
            }
            write_metrics(self._settings.metrics, run, states)
        except OSError as error:
            LOG.error("%s: the metrics could not be written: %s", self._settings.metrics, error)


def _status_of(error: BaseException) -> int:
    """Returns the exit status of a process that ends because of `error`: usually 1, after Ctrl-C 130."""
    if isinstance(error, KeyboardInterrupt):
        return 128 + signal.SIGINT
    if isinstance(error, SystemExit) and isinstance(error.code, int):  # SIGTERM
        return error.code
    return 1
