"""Reads damaged inputs of every kind and reports crashes, and cases that take too much time or memory.

    python -m tests.bench.damage RESULTS.jsonl [--cases N] [--seed N] [--kinds NAME ...]
    python -m tests.bench.damage RESULTS.jsonl --case KIND N [--seed N]

Case N of a kind takes one of its samples, damages one of its files, and reads it as corpusmill does (see
damage_samples.py, damage_readers.py). One process runs many cases, so that effects of one case on the next
are found. A case is fine if the damage has no effect, is rejected, or gives an error of corpusmill that names
the file. Anything else is a fault:

    crash   any other exception, or an error that does not name the file
    died    the process has ended
    hang    no answer within a minute
    slow    more than 10 times the time of the undamaged sample, and more than a second
    large   more than 10 times its memory, and more than 200 MB

Time is processor time, so other work on the machine does not matter. Memory is the peak of the process minus
its memory before the case. Each case is a line of the results; a run continues after the last case of an
earlier one, and ends with a table. With CORPUSMILL_DATA, the samples include pieces of real files. `--case`
runs one case, shows its traceback and keeps its files below /tmp/damage.
"""

import argparse
import collections
import faulthandler
import json
import logging
import os
import pathlib
import random
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from corpusmill.pipelines.run.publish import TargetError
from corpusmill.transforms.files.builds.manifest import COMPLETED, MANIFEST, mark_of
from corpusmill.transforms.files.compression import ON_CORRUPT
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.stores import StoreError
from tests.bench import damage_readers as readers
from tests.bench import damage_samples as samples
from tests.bench.damage_samples import Sample
from tests.makers.damaged_files import damage

CASES = 100_000
CASES_OF_PROCESS = 1_000
MOST_SECONDS, MOST_BYTES, MOST_TIMES = 1.0, 200 << 20, 10
HANG_SECONDS = 60
FINE = ("read", "rejected", "error")
FAULTS = ("crash", "died", "hang", "slow", "large")
_PRODUCT_ERRORS = (InputError, BuildError, StoreError, TargetError)
_PLACE = re.compile(
    r"\bbytes? |\bline |row group|\bentry |\[\[|\bpage |\$\.|`|\(at line|position", re.I
)


class Kind(NamedTuple):
    """Files that are read in one way."""

    samples: Callable[[pathlib.Path | None], Iterator[Sample]]
    read: readers.Reader


KINDS: Mapping[str, Kind] = {
    "dump": Kind(samples.dumps, readers.read_dump),
    "sister dump": Kind(samples.sister_dumps, readers.read_sister_dump),
    "SQL table": Kind(samples.sql_tables, readers.read_sql_table),
    "entity dump": Kind(samples.entity_dumps, readers.read_entity_dump),
    "news": Kind(samples.news, readers.read_news),
    "books": Kind(samples.books, readers.read_library),
    "catalogue": Kind(samples.catalogs, readers.read_catalog),
    "book tables": Kind(samples.book_tables, readers.read_book_table),
    "split pins": Kind(samples.pins, readers.read_pins),
    "TOML settings": Kind(samples.settings, readers.read_settings),
    "source sentences": Kind(samples.sources, readers.read_sources),
    "packets": Kind(samples.packets, readers.read_packet),
    "review sheets": Kind(samples.reviews, readers.read_review),
    "translation project": Kind(samples.projects, readers.read_project),
    "scored texts": Kind(samples.scored, readers.read_scored),
    "finished build": Kind(samples.builds, readers.read_build),
    "entity table": Kind(samples.entity_tables, readers.read_entity_table),
    "checksum list": Kind(samples.checksum_lists, readers.read_checksums),
    "log-likelihoods": Kind(samples.log_likelihoods, readers.read_log_likelihoods),
    "stage of a build": Kind(samples.stages, readers.read_stage),
    "refresh state": Kind(samples.refresh_states, readers.read_state),
    "dump folder": Kind(samples.dump_folders, readers.read_dump_folder),
    "mirror": Kind(samples.mirror_pages, readers.read_mirror),
}


class Result(NamedTuple):
    """The result of a case."""

    kind: str
    case: int
    sample: str
    file: str  # that was damaged
    how: str
    outcome: str  # of FINE or FAULTS
    seconds: float
    times: float  # of the undamaged sample's
    megabytes: float  # beyond what the process had before
    has_place: bool  # of an error: whether it tells more than the file
    message: str

    def line(self) -> str:
        """A line of the results."""
        return json.dumps(self) + "\n"

    @classmethod
    def parse(cls, line: str) -> "Result":
        """The inverse of `line`."""
        return cls(*json.loads(line))


class Took(NamedTuple):
    """The cost of reading a sample."""

    seconds: float
    bytes: int


class Reading(NamedTuple):
    """The result of a reader."""

    folder: pathlib.Path
    took: Took
    found: readers.Counts
    error: BaseException | None


class Cases:
    """The cases of a seed. What is needed for them is read once.

    Args:
      data: folder of real files; None for the bundled samples alone.
      work: folder for the files that are read.
    """

    def __init__(self, seed: int, data: pathlib.Path | None, work: pathlib.Path):
        self.samples = {name: list(kind.samples(data)) for name, kind in KINDS.items()}
        self._seed = seed
        self._work = work
        self._donors = [
            sample.files[sample.damaged[0]][: 1 << 16]
            for of_kind in self.samples.values()
            for sample in of_kind
        ]
        self._undamaged: dict[tuple[str, str, str], Took] = {}
        self._readings = 0

    def run(self, kind: str, case: int, keep: bool = False) -> Result:
        """Runs a case. `keep` leaves its files, and shows the traceback of an error."""
        chance = random.Random(f"{self._seed} {kind} {case}")
        sample = chance.choice(self.samples[kind])
        name = chance.choice(sample.damaged)
        on_corrupt = chance.choice(ON_CORRUPT)
        damaged = damage(sample.files[name], chance, self._donors)
        files = {**sample.files, name: damaged.data}
        if name == MANIFEST and chance.random() < 0.5:
            files[COMPLETED] = mark_of(damaged.data)
        known = self._undamaged_of(kind, sample, on_corrupt)
        reading = self._read(kind, sample, files, on_corrupt, keep)
        if _is_slow(reading.took, known):  # or a cache was filled
            again = self._read(kind, sample, files, on_corrupt)
            reading = min(reading, again, key=lambda one: one.took.seconds)
        outcome, has_place, message = _judge(reading, known, sample)
        if keep and reading.error:
            traceback.print_exception(reading.error)
        seconds, megabytes = reading.took.seconds, reading.took.bytes / (1 << 20)
        times = seconds / max(known.seconds, 1e-6)
        how = f"{damaged.how}, {on_corrupt}"
        return Result(
            *(kind, case, sample.name, name, how, outcome),
            *(round(seconds, 4), round(times, 1), round(megabytes, 1), has_place, message[:500]),
        )

    def _undamaged_of(self, kind: str, sample: Sample, on_corrupt: str) -> Took:
        key = kind, sample.name, on_corrupt
        if key not in self._undamaged:
            read = [self._read(kind, sample, sample.files, on_corrupt) for _ in range(3)]
            if error := read[-1].error:
                raise AssertionError(f"{key} is not sound: {error}") from error
            took = [one.took for one in read]
            # The first reading also fills caches.
            self._undamaged[key] = Took(
                min(one.seconds for one in took[1:]), max(one.bytes for one in took)
            )
        return self._undamaged[key]

    def _read(
        self,
        kind: str,
        sample: Sample,
        files: samples.Files,
        on_corrupt: str,
        keep: bool = False,
    ) -> Reading:
        self._readings += 1
        folder = self._work / f"{os.getpid()}-{self._readings}"
        samples.write_files(folder, files)
        found, error = readers.Counts(), None
        before = _start_measuring_memory()
        start = time.process_time()
        try:
            found = KINDS[kind].read(folder, sample.damaged[0], on_corrupt)
        except Exception as raised:
            error = raised
        took = Took(time.process_time() - start, max(_peak_bytes() - before, 0))
        if not keep:
            shutil.rmtree(folder)
        return Reading(folder, took, found, error)


def _is_slow(took: Took, known: Took) -> bool:
    return took.seconds > MOST_SECONDS and took.seconds > MOST_TIMES * known.seconds


def _judge(reading: Reading, known: Took, sample: Sample) -> tuple[str, bool, str]:
    """(outcome, whether an error tells a place, message)."""
    error = reading.error
    text = str(error) if error else ""
    place = str(reading.folder)
    has_place = bool(error) and bool(_PLACE.search(text.replace(place, "")))
    names = (place, readers.MIRROR, *(pathlib.PurePath(name).name for name in sample.files))
    is_product = isinstance(error, _PRODUCT_ERRORS) or type(error) is ValueError
    if error and not (is_product and any(name in text for name in names)):
        frames = traceback.extract_tb(error.__traceback__)
        own = [
            one for one in frames if "/pipelines/" in one.filename or "/transforms/" in one.filename
        ]
        at = ", ".join(f"{pathlib.Path(one.filename).name}:{one.lineno}" for one in own[-3:])
        return "crash", has_place, f"{type(error).__name__} at {at}: {text}"
    if _is_slow(reading.took, known):
        return "slow", has_place, text
    if reading.took.bytes > MOST_BYTES and reading.took.bytes > MOST_TIMES * known.bytes:
        return "large", has_place, text
    if error:
        return "error", has_place, text
    noted = ("rejected", "lost", "faults", "unterminated")
    outcome = "rejected" if any(reading.found[name] for name in noted) else "read"
    return outcome, has_place, " ".join(f"{name}={n}" for name, n in reading.found.items())


def _start_measuring_memory() -> int:
    """Forgets the peak of the process; gives the bytes that it holds."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    return _status_bytes("VmRSS")


def _peak_bytes() -> int:
    return _status_bytes("VmHWM")


def _status_bytes(name: str) -> int:
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) << 10


# Processes.


def run_cases(cases: Cases, wanted: Sequence[tuple[str, int]]) -> Iterator[Result]:
    """Runs cases in processes that are reused; one that ends or hangs is a result, and another goes on."""
    left = collections.deque(wanted)
    while left:
        batch = [left.popleft() for _ in range(min(CASES_OF_PROCESS, len(left)))]
        done = 0
        for result in _run_batch(cases, batch):
            done += 1
            yield result
        if done < len(batch):
            left.extendleft(reversed(batch[done:]))


def _run_batch(cases: Cases, batch: Sequence[tuple[str, int]]) -> Iterator[Result]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _be_child(cases, batch, writing)
    os.close(writing)
    done, begun = 0, b""
    while done < len(batch):
        is_there = select.select([reading], [], [], HANG_SECONDS)[0]
        data = os.read(reading, 1 << 16) if is_there else b""
        if not data:
            break
        *lines, begun = (begun + data).split(b"\n")
        for line in lines:
            done += 1
            yield Result.parse(line.decode())
    os.close(reading)
    if is_there:
        status = os.waitpid(child, 0)[1]
        outcome, message = "died", f"exit status {os.waitstatus_to_exitcode(status)}"
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        outcome, message = "hang", f"no answer in {HANG_SECONDS} s"
    if done < len(batch):
        yield Result(*batch[done], "", "", "", outcome, 0.0, 0.0, 0.0, False, message)


def _be_child(cases: Cases, batch: Sequence[tuple[str, int]], writing: int) -> None:
    status = 1
    try:
        logging.disable(logging.CRITICAL)
        faulthandler.enable()
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        with os.fdopen(writing, "w") as stream:
            for kind, case in batch:
                stream.write(cases.run(kind, case).line())
                stream.flush()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


# The table.


def print_table(results: Sequence[Result]) -> None:
    """A row for each kind, and the faults by what they have in common."""
    print(
        "| kind | cases | read | rejected | errors | without place | faults | slowest | largest |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    by_kind = {kind: [one for one in results if one.kind == kind] for kind in KINDS}
    for kind, of_kind in {**by_kind, "all": list(results)}.items():
        if not of_kind:
            continue
        counts = collections.Counter(one.outcome for one in of_kind)
        placeless = sum(one.outcome == "error" and not one.has_place for one in of_kind)
        faults = sum(counts[outcome] for outcome in FAULTS)
        slowest = max(of_kind, key=_slowness)
        largest = max(one.megabytes for one in of_kind)
        cells = (
            *(kind, f"{len(of_kind):,}", f"{counts['read']:,}", f"{counts['rejected']:,}"),
            *(f"{counts['error']:,}", f"{placeless:,}", f"{faults:,}"),
            *(f"{slowest.seconds:.2f} s, {slowest.times:.1f}×", f"{largest:.0f} MB"),
        )
        print(f"| {' | '.join(cells)} |")
    found: dict[tuple[str, str, str], list[Result]] = {}
    for one in results:
        if one.outcome in FAULTS:
            alike = one.message.partition(": ")[0] if one.outcome == "crash" else ""
            found.setdefault((one.outcome, one.kind, alike), []).append(one)
    for (outcome, kind, alike), those in sorted(found.items(), key=lambda item: -len(item[1])):
        first = those[0]
        print(f"{len(those):6} {outcome}, {kind}: {alike}")
        print(
            f"       --case {kind!r} {first.case}: {first.file} {first.how}: {first.message[:300]}"
        )


def _slowness(one: Result) -> tuple[bool, float]:
    """Below a tenth of a second, the times of the undamaged sample say little."""
    is_measurable = one.seconds > 0.1
    return is_measurable, one.times if is_measurable else one.seconds


def main() -> None:
    """Runs what is missing in the results, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--case", nargs=2, metavar=("KIND", "N"))
    given = parser.parse_args()
    data = pathlib.Path(os.environ["CORPUSMILL_DATA"]) if "CORPUSMILL_DATA" in os.environ else None
    memory = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="damage-", dir=memory) as work:
        if given.case:
            cases = Cases(given.seed, data, pathlib.Path("/tmp/damage"))
            print(cases.run(given.case[0], int(given.case[1]), keep=True).line())
            return
        cases = Cases(given.seed, data, pathlib.Path(work))
        _end_last_line(given.results)
        done = _results(given.results)
        per_kind = -(-given.cases // len(given.kinds))
        wanted = [(kind, case) for case in range(per_kind) for kind in given.kinds]
        missing = [key for key in wanted if key not in done]
        start = time.monotonic()
        with given.results.open("a", buffering=1) as stream:
            for number, result in enumerate(run_cases(cases, missing), 1):
                stream.write(result.line())
                if not number % 1000:
                    took = time.monotonic() - start
                    print(f"{number:,} of {len(missing):,} in {took:,.0f} s", file=sys.stderr)
        found = _results(given.results)
        print_table([found[key] for key in wanted if key in found])


def _end_last_line(path: pathlib.Path) -> None:
    """Takes away the line that a killed run has begun."""
    if path.exists():
        content = path.read_bytes()
        path.write_bytes(content[: content.rfind(b"\n") + 1])


def _results(path: pathlib.Path) -> dict[tuple[str, int], Result]:
    lines = path.read_text("ascii").splitlines() if path.exists() else []
    return {(one.kind, one.case): one for one in map(Result.parse, lines)}


if __name__ == "__main__":
    main()
