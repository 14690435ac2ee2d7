"""Refreshes one corpus from the newest finished dump of its sources.

The dump is downloaded and the corpus built from it. The build is checked and compared with the current
edition; then it becomes the current edition. Each step stores its result in files, so if a refresh is killed,
the next run continues at the same step.

Describes errors in one line for the log of a refresh.
"""

import contextlib
import dataclasses
import itertools
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import requests
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files import errors
from corpusmill.transforms.files.builds.finished_builds import open_build, read_manifest
from corpusmill.transforms.files.builds.ledger import find_small
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.stores import free_bytes

from ..inspect.compare import EditionChanges, compare_builds
from ..run import editions
from ..run.corpora import rows
from ..run.editions import write_cards
from ..run.launch import launch
from ..run.publish import EXPLAINED, is_completed, remove_build
from .config import Recipe, Settings, check_means, check_room
from .fetch import fetch_dump
from .sites import find_offers
from .sources import RemoteDump, hide_passwords
from .state import CorpusState, StateFolder, check_edition, count_changes, find_fault

INTERRUPTED = "interrupted; the next run continues where this one stopped"

# pairs (flag of a command, key of refresh.toml)
_IN_THE_FILE: Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = (
    (re.compile(r"--workers (\d+)"), r"workers = \1"),
    (re.compile(r"--runner (\w+)"), r'runner = "\1"'),
    (re.compile(r"--workers\b"), "workers"),
    (re.compile(r"--ignore-memory\b"), "ignore_memory = true"),
    (re.compile(r"--accept ([\w -]+)"), lambda found: f"accept = {json.dumps(found[1].split())}"),
)
_DISK_FULL = re.compile(errors.TEXTS)


def is_expected(error: BaseException) -> bool:
    """Returns True if the error's message explains it to users, so that no traceback is needed."""
    return isinstance(error, EXPLAINED) or is_disk_full(error)


def is_disk_full(error: BaseException | None) -> bool:
    """Returns True if a full disk caused the error. Errors of workers are recognised by their text."""
    while error:
        if getattr(error, "errno", None) in errors.NUMBERS or _DISK_FULL.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def describe(error: BaseException, folders: Sequence[str]) -> str:
    """Returns a description of an error in one line, without passwords.

    Args:
      folders: output folders. If a disk is full, the free disk space of these folders is reported.
    """
    if is_disk_full(error):
        room = ", ".join(
            f"{folder} has {free:,} bytes left"
            for folder in folders
            if (free := free_bytes(folder)) is not None
        )
        return f"the disk is full: {room}; nothing is lost: free some space, and the next run continues"
    text = hide_passwords(str(error))
    for flag, setting in _IN_THE_FILE:
        text = flag.sub(setting, text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if isinstance(error, EXPLAINED):
        return " ".join(lines)
    return f"{type(error).__name__}: {lines[-1] if lines else 'see the traceback'}"


PUBLISHED = "published"
UP_TO_DATE = "up to date"
WAITING = "waiting"  # no dump is finished yet
MOST_PLANS = 16
LOG = logging.getLogger(__name__)


class Plan(NamedTuple):
    """A possible refresh of a corpus: the dumps to build from, the resulting edition, and the current
    edition.
    """

    dumps: Sequence[RemoteDump]
    date: str  # date of the oldest dump, so that all sources have data of this date
    edition: str  # name of the edition to build from the dumps: "20261101-1.3.0"
    folder: str  # parent folder of the editions: "wiki40b/uk"; "" if only the build determines it
    current: str  # name of the current edition; "" for none

    @property
    def is_newer(self) -> bool:
        """True if the resulting edition is newer than the current one, so that it must be built."""
        return not self.current or editions.edition_age(self.edition) > editions.edition_age(
            self.current
        )


def plan_corpus(
    recipe: Recipe, output: str, state: CorpusState, session: requests.Session
) -> list[Plan]:
    """Returns plans for the finished dumps on the sites, the newest first.

    The caller uses the next plan if the files of the first one are missing or damaged. Returns an empty list
    if a source has no finished dump yet. Raises SiteError if a source cannot be queried.

    Args:
      output: output folder of all corpora.
      state: state of the corpus after the previous run.
    """
    offers = [find_offers(source, session) for source in recipe.sources]
    folder = recipe.edition_folder or state.edition_folder
    current = editions.read_current(join(output, folder)) if folder else ""
    plans = []
    for dumps in itertools.islice(itertools.product(*offers), MOST_PLANS):
        date = min(dump.date for dump in dumps)
        plans.append(Plan(dumps, date, editions.name_of(date, recipe.version), folder, current))
    return sorted(plans, key=lambda plan: plan.date, reverse=True)


def is_made(plan: Plan, output: str) -> bool:
    """Returns True if the output folder already contains the edition of a plan.

    Returns False if it does not, or if only a build can determine the folder of the edition.
    """
    return bool(plan.folder) and is_completed(join(output, plan.folder, plan.edition))


def first_made(plans: Sequence[Plan], make: Callable[[Plan], Plan], label: str) -> Plan:
    """Tries plans in order until one succeeds. Plans that are not newer than the current edition are skipped.

    Args:
      plans: plans in the order of preference. At least one must be newer than the current edition.
      make: function that carries out a plan. The result of its first successful call is returned.
      label: name of the corpus, for log messages.

    If all calls fail, raises the first BuildError or InputError of `make`.
    """
    errors: list[Exception] = []
    for plan in plans:
        if plan.is_newer:
            if errors:
                message = "%s: the edition could not be made: %s; trying the next dump"
                LOG.warning(message, label, describe(errors[-1], []))
            try:
                return make(plan)
            except (BuildError, InputError) as error:
                errors.append(error)
    raise errors[0]


def join(output: str, *names: str) -> str:
    """Joins a path and names. The names may contain slashes."""
    return str(FileSystems.join(output, *"/".join(names).split("/")))


@dataclasses.dataclass
class CorpusRun:
    """The refresh of one corpus. Raises OSError if the state of the corpus cannot be read.

    The attribute `state` is saved whenever information would otherwise be lost in a crash.

    Args:
      states: folder that contains the states of all corpora.
      joined: function that returns the folder of another build that the corpus uses as an input. It returns
        "" if the corpus needs none. It is called only before a build.
      check_lock: function that is called before each step. It raises BusyError if another refresh has taken
        over the lock.
    """

    recipe: Recipe
    settings: Settings
    states: StateFolder
    session: requests.Session
    joined: Callable[[], str]
    check_lock: Callable[[], None]
    plans: Sequence[Plan] = ()

    def __post_init__(self) -> None:
        self.table = self.recipe.table
        self.state = self.states.load(self.table.label)

    def run(self) -> tuple[str, str]:
        """Refreshes the corpus if there is a newer dump. Returns (status, folder of the current edition).

        The status is PUBLISHED or UP_TO_DATE. If no dump is finished yet, it is WAITING, and the second
        element is a message instead of a folder.

        Raises the errors of the steps, and BuildError if the new edition is not accepted.
        """
        output = self.settings.output
        with self._timed("plan"):
            self.plans = plan_corpus(self.recipe, output, self.state, self.session)
        if not self.plans:
            return WAITING, "no dump is finished yet"
        plan, status = self.plans[0], UP_TO_DATE
        if plan.is_newer:
            plan = first_made(self.plans, self._make, self.table.label)
        if plan.is_newer:
            self._accept(plan)
            plan, status = plan._replace(current=plan.edition), PUBLISHED
        self._settle(plan)
        return status, join(output, plan.folder, plan.current)

    def save(self, **changes: Any) -> None:
        """Changes fields of the corpus's state, and writes the state to its file.

        Raises OSError if it cannot be written.
        """
        self._update(**changes)
        self.states.save(self.table.label, self.state)

    def _make(self, plan: Plan) -> Plan:
        """Downloads the dumps and builds the edition, unless it is already built. Returns the plan, with the
        folder of the edition filled in.
        """
        settings = self.settings
        if is_made(plan, settings.output):
            return plan
        check_means(self.table.kind, plan.dumps, settings)
        corpus = self.recipe.make(self._download(plan), plan.date, self.joined())
        folder = "/".join(corpus.path[:-1])
        if not is_completed(join(settings.output, *corpus.path)):
            check_room(settings)
            self.save(edition_folder=folder, settings=dict(self.table.build))
            with self._timed("build"):
                launch(
                    corpus,
                    settings.output,
                    **settings.engine,
                    ignore_memory=settings.ignore_memory,
                    accept=self.table.accept,
                    is_sample=True,  # small builds are allowed here and refused in _accept
                )
        current = editions.read_current(join(settings.output, folder))
        return plan._replace(folder=folder, edition=corpus.path[-1], current=current)

    def _download(self, plan: Plan) -> dict[str, list[str]]:
        files: dict[str, list[str]] = {}
        lock = threading.Lock()

        def count(fetched: int) -> None:
            with lock:
                self._update(downloaded_bytes=self.state.downloaded_bytes + fetched)

        with self._timed("download"):
            for dump in plan.dumps:
                LOG.info("%s: %s of %s", self.table.label, dump.source, dump.date)
                for role, paths in fetch_dump(dump, self.settings, count).items():
                    files[self.table.setting_of(dump.source, role)] = paths
        return files

    def _accept(self, plan: Plan) -> None:
        """Checks an edition and makes it the current one. Raises BuildError if it is not accepted."""
        folder = join(self.settings.output, plan.folder)
        if self.settings.verify:
            with self._timed("verify"):
                self._verify(folder, plan.edition)
        documents, fault = dict[str, int](), self._find_want(join(folder, plan.edition))
        if plan.current:
            with self._timed("compare"):
                changes = self._compare(folder, plan)
            documents = count_changes(changes)
            fault = fault or find_fault(
                changes, self.table.allow_moves, self.settings.max_removed_share
            )
        self._update(compared=plan.edition, compared_with=plan.current, documents=documents)
        if fault:
            self.save(rejected={**self.state.rejected, plan.edition: fault})
            stays = "there is no current edition"
            if plan.current:
                stays = f"{plan.current} remains the current edition"
            raise BuildError(f"{join(folder, plan.edition)} is not accepted: {fault}; {stays}")
        self.save()
        self.check_lock()
        editions.set_current(folder, plan.edition)

    def _find_want(self, folder: str) -> str:
        """Returns the reasons why an edition has too few documents, or too many rejected ones, to be
        published; "" if there is no reason.
        """
        unit = rows()[self.table.kind].unit
        if remarks := "; ".join(find_small(read_manifest(folder), unit, self.table.usual)):
            keys = "set `min_documents` or `max_rejected_shares` in its [[corpus]]"
            return f"{remarks}; to accept the edition, {keys}"
        return ""

    def _compare(self, folder: str, plan: Plan) -> EditionChanges:
        """Compares the new edition with the current one.

        Raises BuildError or InputError if one of the two cannot be read. If the current edition cannot be
        read, the message explains what to do.
        """
        old, new = join(folder, plan.current), join(folder, plan.edition)
        report = join(folder, editions.report_of(plan.edition))
        try:
            return compare_builds(old, new, **self.settings.engine, report=report)
        except (BuildError, InputError) as error:
            if old not in str(error):
                raise
            raise BuildError(
                f"{error}; if {old} is damaged, remove the file {join(folder, editions.CURRENT)}: the"
                f" next run then publishes {plan.edition} without a comparison"
            ) from error

    def _verify(self, folder: str, edition: str) -> None:
        """Checks an edition against its manifest. If the edition is damaged, removes it and raises
        BuildError.
        """
        target = join(folder, edition)
        report = join(folder, editions.verdict_of(edition))
        if fault := check_edition(target, self.settings.engine, report):
            remove_build(target)
            write_cards([target])
            raise BuildError(
                f"{target} was damaged ({fault}) and has been removed; the next run builds it again"
            )

    def _settle(self, plan: Plan) -> None:
        """Cleans up after an edition has become current: removes old editions and updates the state."""
        self.check_lock()
        folder = join(self.settings.output, plan.folder)
        removed = editions.prune(folder, self.settings.keep, self.state.rejected)
        for name in (*removed, *editions.remove_leftovers(folder)):
            LOG.info("%s: removed %s", self.table.label, join(folder, name))
        write_cards([join(folder, plan.current)])
        if self.state.settings and dict(self.state.settings) != dict(self.table.build):
            what = "`build` has changed since the last build; the change takes effect with the next dump"
            LOG.warning("%s: %s", self.table.label, what)
        if self.state.current != plan.current:
            self._update(last_published=time.time())
        rejected = {
            name: why
            for name, why in self.state.rejected.items()
            if editions.edition_age(name) > editions.edition_age(plan.current)
        }
        self._update(
            edition_folder=plan.folder,
            current=plan.current,
            signature=open_build(join(folder, plan.current)).signature,
            rejected=rejected,
        )

    def _update(self, **changes: Any) -> None:
        self.state = msgspec.structs.replace(self.state, **changes)

    @contextlib.contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        self.check_lock()
        start = time.monotonic()
        try:
            yield
        finally:
            self._update(seconds={**self.state.seconds, step: round(time.monotonic() - start, 3)})
