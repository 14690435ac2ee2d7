"""One corpus, made as new as its sources are.

The newest finished dump is downloaded and built, the build is checked and compared with the current edition,
and only then named the current one. Each step leaves files that the next run finds: a process may be killed
between any two, and the same call again goes on where it was.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
import requests
from apache_beam.io.filesystems import FileSystems

from pipelines.builds import editions
from pipelines.builds.folder_cards import write_cards
from pipelines.builds.launch import launch
from pipelines.builds.publish import is_completed, remove_build
from pipelines.engines.errors import BuildError
from pipelines.inspect.compare import EditionChanges
from pipelines.refresh.acceptance import (
    EngineFlags,
    check_edition,
    compare_editions,
    count_changes,
    find_fault,
)
from pipelines.refresh.config import CorpusTable, Settings
from pipelines.refresh.downloads import fetch_dump
from pipelines.refresh.free_space import check_free_space
from pipelines.refresh.memory_check import check_memory_of
from pipelines.refresh.recipes import Recipe
from pipelines.refresh.remote import RemoteDump
from pipelines.refresh.sites import newest_dump
from pipelines.refresh.state import CorpusState, StateFolder
from transforms.files.open_input import InputError

PUBLISHED = "published"
UP_TO_DATE = "up to date"
WAITING = "waiting"  # no dump is finished yet


class Plan(NamedTuple):
    """What the sources have, and what there is."""

    dumps: tuple[RemoteDump, ...]
    edition: str  # that the dumps give: "20261101-1.3.0"
    folder: str  # of the editions, below the output: "wiki40b/uk"; "" where only the build can tell
    current: str  # the edition that is the current one; "" for none

    @property
    def date(self) -> str:
        """Of several wikis the slowest decides: there is no edition of a round until all have it."""
        return min(dump.date for dump in self.dumps)

    @property
    def is_newer(self) -> bool:
        """Whether the edition is to be made."""
        return not self.current or editions.age_of(self.edition) > editions.age_of(self.current)


def plan_corpus(
    recipe: Recipe, output: str, state: CorpusState, session: requests.Session
) -> Plan | None:
    """Asks the sites; None where one has no finished dump yet. Raises SiteError."""
    dumps = []
    for source in recipe.sources:
        dump = newest_dump(source, session)
        if dump is None:
            return None
        dumps.append(dump)
    folder = recipe.edition_folder or state.edition_folder
    current = editions.read_current(join(output, folder)) if folder else ""
    plan = Plan(tuple(dumps), "", folder, current)
    return plan._replace(edition=editions.name_of(plan.date, recipe.version))


def is_made(plan: Plan, output: str) -> bool:
    """Whether the edition is there already, as far as its folder is known."""
    return bool(plan.folder) and is_completed(join(output, plan.folder, plan.edition))


def check_means(corpus: str, plan: Plan, settings: Settings) -> None:
    """Raises BuildError for an edition that cannot be made here, for want of room or memory."""
    check_room(settings)
    check_memory_of(corpus, plan.dumps, settings)


def check_room(settings: Settings) -> None:
    """Raises BuildError where a disk has less room than the settings ask for."""
    check_free_space([settings.downloads, settings.output], settings.min_free_bytes)


def join(output: str, *names: str) -> str:
    """A place below the output; names may have slashes."""
    path: str = FileSystems.join(output, *"/".join(names).split("/"))
    return path


class CorpusRun:
    """One corpus in one run. What is learned of it is in `state`, and saved where a crash would lose it.

    Args:
      state: what is remembered of the corpus.
      joined: gives the folder of the build that is joined, or "". It is asked only before a build.
    """

    def __init__(
        self,
        table: CorpusTable,
        recipe: Recipe,
        settings: Settings,
        state: CorpusState,
        states: StateFolder,
        session: requests.Session,
        joined: Callable[[], str],
    ):
        self.state = state
        self.plan: Plan | None = None
        self._table, self._recipe, self._settings = table, recipe, settings
        self._states, self._session = states, session
        self._joined = joined
        self._flags = EngineFlags(settings.runner, settings.workers or None, settings.beam_flags)
        self._log = logging.getLogger(__name__)
        self._lock = threading.Lock()
        self._fetched_bytes = 0

    def run(self) -> tuple[str, str]:
        """Does what is to be done; returns the status, and the current edition.

        Raises whatever a step raises, and BuildError for an edition that is not fit to be the current one.
        """
        output = self._settings.output
        with self._timed("plan"):
            self.plan = plan = plan_corpus(self._recipe, output, self.state, self._session)
        if plan is None:
            return WAITING, "no dump is finished yet"
        status = UP_TO_DATE
        if plan.is_newer:
            plan = self._make(plan)
        if plan.is_newer:
            self._accept(plan)
            plan, status = plan._replace(current=plan.edition), PUBLISHED
        self._settle(plan)
        return status, join(output, plan.folder, plan.current)

    def save(self, **changes: Any) -> None:
        """Changes fields of the state, and writes it. Raises OSError."""
        self.state = msgspec.structs.replace(self.state, **changes)
        self._states.save(self._table.label, self.state)

    def _make(self, plan: Plan) -> Plan:
        """Downloads and builds the edition, unless an earlier run has; returns the plan with its folder."""
        settings = self._settings
        if is_made(plan, settings.output):
            return plan
        check_means(self._recipe.corpus, plan, settings)
        files = self._download(plan)
        corpus = self._recipe.make(files, plan.date, self._joined())
        folder = "/".join(corpus.path[:-1])
        if not is_completed(join(settings.output, *corpus.path)):
            check_room(settings)
            self.save(edition_folder=folder, settings=dict(self._table.build))
            with self._timed("build"):
                launch(
                    corpus,
                    settings.output,
                    **self._flags._asdict(),
                    ignore_memory=settings.ignore_memory,
                )
        current = editions.read_current(join(settings.output, folder))
        return plan._replace(folder=folder, edition=corpus.path[-1], current=current)

    def _download(self, plan: Plan) -> dict[str, list[str]]:
        files: dict[str, list[str]] = {}
        before = self.state.downloaded_bytes
        try:
            with self._timed("download"):
                for dump in plan.dumps:
                    self._log.info("%s: %s of %s", self._table.label, dump.source, dump.date)
                    fetched = fetch_dump(dump, self._settings, self._count)
                    for role, paths in fetched.items():
                        files[self._recipe.setting_of(dump.source, role)] = paths
        finally:
            self._update(downloaded_bytes=before + self._fetched_bytes)
        return files

    def _count(self, fetched: int) -> None:
        with self._lock:
            self._fetched_bytes += fetched

    def _accept(self, plan: Plan) -> None:
        """Makes the edition the current one. Raises BuildError where it is not fit for that."""
        folder = join(self._settings.output, plan.folder)
        new = join(folder, plan.edition)
        if self._settings.verify:
            with self._timed("verify"):
                self._verify(folder, plan.edition)
        documents: dict[str, int] = {}
        fault = ""
        if plan.current:
            with self._timed("compare"):
                changes = self._compare(folder, plan)
            documents = count_changes(changes)
            fault = find_fault(changes, self._table.allow_moves, self._settings.max_removed_share)
        self._update(compared=plan.edition, compared_with=plan.current, documents=documents)
        if fault:
            self.save(rejected={**self.state.rejected, plan.edition: fault})
            stays = f"; {plan.current} stays the current edition" if plan.current else ""
            raise BuildError(f"{new} is not accepted: {fault}{stays}")
        self.save()
        editions.set_current(folder, plan.edition)

    def _compare(self, folder: str, plan: Plan) -> EditionChanges:
        """Raises BuildError; where it is the current edition that cannot be read, with the way out."""
        old, new = join(folder, plan.current), join(folder, plan.edition)
        report = join(folder, editions.report_of(plan.edition))
        try:
            return compare_editions(old, new, self._flags, report)
        except (BuildError, InputError) as error:
            if old not in str(error):
                raise
            raise BuildError(
                f"{error}; if {old} is damaged, remove the file {join(folder, editions.CURRENT)}: the"
                f" next run then makes {plan.edition} the current edition, compared with none"
            ) from error

    def _verify(self, folder: str, edition: str) -> None:
        """Raises BuildError for an edition that is not what its manifest says; it is removed."""
        target = join(folder, edition)
        fault = check_edition(target, self._flags, join(folder, editions.verdict_of(edition)))
        if fault:
            remove_build(target)
            write_cards([target])
            raise BuildError(
                f"{target} was damaged ({fault}) and is removed; the next run builds it anew"
            )

    def _settle(self, plan: Plan) -> None:
        """What follows from a current edition: what is too old goes, and the state says what there is."""
        folder = join(self._settings.output, plan.folder)
        removed = editions.prune(folder, self._settings.keep, self.state.rejected)
        for name in (*removed, *editions.remove_leftovers(folder)):
            self._log.info("%s: removed %s", self._table.label, join(folder, name))
        write_cards([join(folder, plan.current)])
        if self.state.settings and dict(self.state.settings) != dict(self._table.build):
            self._log.warning(
                "%s: `build` has changed since the last build; it counts from the next dump on",
                self._table.label,
            )
        if self.state.current != plan.current:
            self._update(last_published=time.time())
        rejected = {
            name: why
            for name, why in self.state.rejected.items()
            if editions.age_of(name) > editions.age_of(plan.current)
        }
        self._update(
            edition_folder=plan.folder,
            current=plan.current,
            signature=editions.signature_of(folder, plan.current),
            rejected=rejected,
        )

    def _update(self, **changes: Any) -> None:
        self.state = msgspec.structs.replace(self.state, **changes)

    @contextlib.contextmanager
    def _timed(self, step: str) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
        finally:
            seconds = round(time.monotonic() - start, 3)
            self._update(seconds={**self.state.seconds, step: seconds})
