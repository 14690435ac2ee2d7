"""Measures whole builds of One Billion Word, compared with the original scripts, single stages, and memory.

    python -m tests.bench.lm1b [--megabytes N] [--workers N] [--scripts DIR] [--reference-megabytes N]

Makes lines of news by recombining real ones (from CORPUSMILL_DATA, or else from the sample), builds the
corpus with all its files with the command line, and prints MB of raw lines per second, the ratio to the
scripts, and the peak memory of all processes. The scripts process a part only, because their time is
proportional to the size; a build of that part must give the same shards. Run it on an idle machine.
"""

import argparse
import datetime
import functools
import gzip
import hashlib
import itertools
import os
import pathlib
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import psutil

from corpusmill.transforms.files.line_blocks import (
    FEATURE,
    count_lines,
    cut_block,
    lines_of,
    make_table,
    measure_lines,
)
from corpusmill.transforms.files.read_lines import plan_units, read_unit, screen_block
from corpusmill.transforms.files.records import LineShard
from corpusmill.transforms.files.tfrecord import encode_texts
from corpusmill.transforms.files.work_units import BLOCK_BYTES, LineBlock
from corpusmill.transforms.models.word_vocabulary import count_words
from corpusmill.transforms.news.line_tokenizer import LineTokenizer
from corpusmill.transforms.news.shuffle import (
    LineSample,
    LineSampler,
    cut_sorted,
    deal_lines,
    first_ranks,
    merge_pieces,
    plan_ranges,
    sort_block,
    split_shard,
)
from corpusmill.transforms.news.sort_lines import RANGE_BYTES, RUN_BYTES
from corpusmill.transforms.news.write_lines import GROUP_BYTES, write_shard
from tests.makers.news_lines import YEARS, read_odd_lines, recombined_lines, sample_lines
from tests.tools import original_scripts
from tests.tools.pack_samples import SAMPLES
from tests.tools.real_data import DATA

SCRIPTS = os.environ.get("CORPUSMILL_LM1B_SCRIPTS", "")
WATCH_SECONDS = 0.5  # looking more often would take time from the build
SHARDS, HELDOUT_SHARDS = 100, 50
OPENERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "plain": ("", open),
    "gz": (
        ".gz",
        functools.partial(gzip.open, compresslevel=1),
    ),  # better packed is unpacked as fast
}

Result = TypeVar("Result")


class Run(NamedTuple):
    """The cost of one build."""

    seconds: float
    cpu_seconds: float  # of all processes, which a busy machine changes less
    peak_resident: int  # bytes of all processes together; what they share counts for each
    peak_proportional: int  # bytes; what they share counts once. 0 where the system does not tell


class News(NamedTuple):
    """Files of lines."""

    paths: list[pathlib.Path]  # one a year
    megabytes: float
    lines: int


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=400, help="of raw lines")
    parser.add_argument("--workers", type=int, default=2, help="of the builds")
    parser.add_argument("--packing", choices=OPENERS, default="gz", help="of the raw lines")
    parser.add_argument(
        "--scripts", default=SCRIPTS, help="scripts/ of the original; else only ours"
    )
    parser.add_argument("--reference-megabytes", type=int, default=40, help="for the scripts")
    parser.add_argument(
        "--stage-megabytes", type=int, default=64, help="for the stages; 0 for none"
    )
    parser.add_argument("--rounds", type=int, default=1, help="builds of all; the best counts")
    parser.add_argument("--no-build", action="store_true", help="only the scripts and the stages")
    settings = parser.parse_args()
    print_machine()
    with tempfile.TemporaryDirectory(prefix="corpusmill-bench-") as folder:
        measure(pathlib.Path(folder), settings)


def print_machine() -> None:
    """Prints where and when."""
    model = platform.processor() or platform.machine()
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(": ")[2] if names else model
    memory = psutil.virtual_memory().total / 1e9
    today = datetime.datetime.now(datetime.UTC).date()
    load = os.getloadavg()[0]
    print(f"{today}, {model}, {os.cpu_count()} cores, {memory:.0f} GB; load {load:.1f}")


def measure(folder: pathlib.Path, settings: argparse.Namespace) -> None:
    """One benchmark."""
    source = source_lines()
    part = write_news(source, folder / "part", settings.reference_megabytes, "plain")
    scripts_speed = 0.0
    if settings.scripts:
        scripts_speed = measure_scripts(pathlib.Path(settings.scripts), part, folder / "scripts")
    if not settings.no_build:
        measure_builds(source, part, folder, settings, scripts_speed)
    if settings.stage_megabytes:
        stage = write_news(source, folder / "stage", settings.stage_megabytes, settings.packing)
        measure_stages(stage, folder / "stages")


def measure_scripts(scripts: pathlib.Path, news: News, folder: pathlib.Path) -> float:
    """Prints and gives MB/s of get-data.sh, whose two Perl scripts run at the same time."""
    texts = {year: [path.read_bytes()] for year, path in zip(YEARS, news.paths, strict=True)}
    start, cpu_start = time.perf_counter(), cpu_of_children()
    original_scripts.run_scripts(scripts, texts, folder, timeout_seconds=news.megabytes * 10)
    seconds, cpu_seconds = time.perf_counter() - start, cpu_of_children() - cpu_start
    print(f"the scripts, {described(news)}: {speed_of(news, seconds, cpu_seconds)}")
    return news.megabytes / seconds


def cpu_of_children() -> float:
    """Seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def speed_of(news: News, seconds: float, cpu_seconds: float) -> str:
    """Returns the speed of reading lines, by the clock and by the cores' time."""
    by_clock, by_cpu = news.megabytes / seconds, news.megabytes / cpu_seconds
    return f"{seconds:.1f} s, {by_clock:.2f} MB/s ({by_cpu:.2f} MB for a second of a core)"


def measure_builds(
    source: Sequence[bytes],
    part: News,
    folder: pathlib.Path,
    settings: argparse.Namespace,
    scripts_speed: float,
) -> None:
    """Prints time and memory of `corpusmill lm1b`, and whether the shards are those of the scripts."""
    print_run("a part of the lines", part, build(part, folder / "built-part", settings.workers))
    if scripts_speed:
        compare_shards(folder / "scripts", built(folder / "built-part"))
    whole = write_news(source, folder / "whole", settings.megabytes, settings.packing)
    runs = [
        build(whole, folder / f"built-{number}", settings.workers)
        for number in range(settings.rounds)
    ]
    speed = print_run("all lines", whole, min(runs))
    if scripts_speed:
        print(f"ratio to the scripts: {speed / scripts_speed:.1f}")


def print_run(label: str, news: News, run: Run) -> float:
    """Prints what a build took; gives its MB/s."""
    speed = news.megabytes / run.seconds
    sizes = [
        f"{name} {size / 1e6:.0f} MB ({size / 1e6 / news.megabytes:.2f} x the input)"
        for name, size in (("resident", run.peak_resident), ("proportional", run.peak_proportional))
        if size
    ]
    speeds = speed_of(news, run.seconds, run.cpu_seconds)
    print(f"corpusmill lm1b, {label}, {described(news)}: {speeds}")
    print(f"  peak memory of all processes: {', '.join(sizes)}")
    return speed


def described(news: News) -> str:
    """The size of the input, and how it is packed."""
    packing = "gzip" if news.paths[0].suffix == ".gz" else "plain"
    return f"{news.megabytes:.0f} MB in {news.lines} lines ({packing})"


def compare_shards(reference: pathlib.Path, ours: pathlib.Path) -> None:
    """Compares the MD5 of all text shards. Raises RuntimeError if one is missing or differs."""
    theirs, found = (md5_of_shards(folder) for folder in (reference, ours))
    wrong = [name for name in theirs.keys() | found if theirs.get(name) != found.get(name)]
    if wrong:
        raise RuntimeError(f"{len(wrong)} of {len(theirs)} shards differ, {min(wrong)} among them")
    print(f"all {len(theirs)} shards are those of the scripts")


def md5_of_shards(folder: pathlib.Path) -> dict[str, str]:
    """Name → MD5 of the text shards."""
    shards = original_scripts.shards_of(folder)
    return {name: hashlib.md5(shard).hexdigest() for name, shard in shards.items()}


def source_lines() -> list[bytes]:
    """The lines to recombine: real ones, where there are any."""
    paths = sorted((DATA / "news").glob("news.20*.en.shuffled.gz"))
    print(f"lines recombined from: {DATA / 'news' if paths else 'the bundled sample'}")
    if paths:
        return [line for path in paths for line in lines_of(gzip.decompress(path.read_bytes()))]
    rejected = {odd.line for odd in read_odd_lines(SAMPLES / "news") if odd.is_rejected}
    lines = itertools.chain.from_iterable(sample_lines(SAMPLES / "news").values())
    return [line for line in lines if line not in rejected]


def write_news(source: Sequence[bytes], folder: pathlib.Path, megabytes: int, packing: str) -> News:
    """Makes a file of lines for each year."""
    folder.mkdir(parents=True)
    suffix, opened = OPENERS[packing]
    paths = [folder / f"news.{year}.en.shuffled{suffix}" for year in YEARS]
    blocks = recombined_lines(source, megabytes * 1_000_000)
    lines = written = 0
    for number, path in enumerate(paths, start=1):
        with opened(path, "wb") as stream:
            while written < megabytes * 1_000_000 * number / len(paths):
                block = next(blocks)
                text = b"\n".join([*block, b""])
                stream.write(text)
                lines, written = lines + len(block), written + len(text)
    return News(paths, written / 1e6, lines)


def build(news: News, output: pathlib.Path, workers: int) -> Run:
    """Runs the command line tool, as a user does."""
    command = [sys.executable, "-m", "corpusmill", "lm1b", "--output", str(output)]
    command += ["--workers", str(workers), "--input", *map(str, news.paths)]
    log = output.with_suffix(".log")
    start, cpu_start = time.perf_counter(), cpu_of_children()
    with (
        log.open("wb") as stream,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        ) as process,
    ):
        peak = {"rss": 0, "pss": 0}
        watcher = threading.Thread(target=watch_memory, args=(process.pid, peak), daemon=True)
        watcher.start()
        status = process.wait()
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {status}: {log.read_text()[-2000:]}")
    return Run(seconds, cpu_of_children() - cpu_start, peak["rss"], peak["pss"])


def built(output: pathlib.Path) -> pathlib.Path:
    """The folder of the one build in `output`."""
    (completed,) = output.rglob("COMPLETED")
    return completed.parent


def watch_memory(pid: int, peak: dict[str, int]) -> None:
    """Keeps the peaks of the memory of a process and its children, by the names psutil has for them."""
    while psutil.pid_exists(pid):
        try:
            processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            sizes = [process.memory_full_info() for process in processes]
            for name, highest in peak.items():
                peak[name] = max(highest, sum(getattr(size, name, 0) for size in sizes))
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        time.sleep(WATCH_SECONDS)


class Clock:
    """Runs stages and prints what each takes; what else the machine does counts little."""

    def __init__(self, megabytes: float):
        self._megabytes = megabytes
        self._seconds = 0.0

    def time(self, label: str, run: Callable[[], Result], counts: bool = True) -> Result:
        """Prints the speed of a stage, in MB of raw lines per second of this process."""
        start = time.process_time()
        result = run()
        seconds = time.process_time() - start
        self._seconds += seconds * counts
        print(f"  {label:20} {self._megabytes / seconds:7.1f}", flush=True)
        return result

    def print_sum(self) -> None:
        """Prints what all stages took together."""
        print(f"  {'all of these':20} {self._megabytes / self._seconds:7.1f}")


def measure_stages(news: News, folder: pathlib.Path) -> None:
    """Prints MB of raw lines per second of each stage's own functions, on one core."""
    print(f"stages on one core, {described(news)}, in MB of raw lines per second:")
    clock = Clock(news.megabytes)
    paths = [str(path) for path in news.paths]
    blocks = clock.time("read lines", lambda: read_blocks(paths))
    runs = clock.time("sort runs", lambda: [sort_block(run) for run in joined(blocks)])
    sample = clock.time("sample lines", lambda: sample_blocks(runs))
    splitters = plan_ranges(sample, RANGE_BYTES)
    cut = clock.time("cut runs", lambda: [cut_run(run, splitters) for run in runs])
    pieces = [b"".join(pieces) for _, pieces in sorted(gathered(cut).items())]
    ranges = clock.time("merge ranges", lambda: [sort_block(of_range) for of_range in pieces])
    shards = shuffle(clock, tokenize_ranges(clock, ranges))
    write_shards(clock, shards, folder)
    clock.print_sum()


def tokenize_ranges(clock: Clock, ranges: Sequence[bytes]) -> list[bytes]:
    """The stages that work on blocks of sorted lines."""
    tokenizer = LineTokenizer()
    clock.time(
        "(normalize)", lambda: [tokenizer.normalize(block) for block in ranges], counts=False
    )
    tokenized = clock.time("normalize, tokenize", lambda: [tokenizer(block) for block in ranges])
    clock.time("measure lines", lambda: [measure_lines(block) for block in tokenized])
    clock.time("count words", lambda: [count_words(block) for block in tokenized])
    return tokenized


def shuffle(clock: Clock, ranges: Sequence[bytes]) -> list[LineShard]:
    """Dealing lines to shards, and ordering the shards."""
    ranks = first_ranks({index: count_lines(block) for index, block in enumerate(ranges)})
    dealt = clock.time(
        "generate and deal",
        lambda: [
            list(deal_lines(block, ranks[index], SHARDS)) for index, block in enumerate(ranges)
        ],
    )
    pieces = gathered(dealt)
    blocks = clock.time("order shards", lambda: [merge_pieces(pieces[shard]) for shard in pieces])
    heldout = split_shard(blocks[list(pieces).index(0)], HELDOUT_SHARDS)
    shards = [
        LineShard("train", shard, SHARDS, block)
        for shard, block in zip(pieces, blocks, strict=True)
    ]
    return shards + [
        LineShard("heldout", shard, HELDOUT_SHARDS, block) for shard, block in enumerate(heldout)
    ]


def write_shards(clock: Clock, shards: Iterable[LineShard], folder: pathlib.Path) -> None:
    """Writing all files of the shards, and that of which it consists."""
    folder.mkdir()
    parts = [part for one in shards for part in cut_block(one.block, GROUP_BYTES)]
    lines = [lines_of(part) for part in parts]
    clock.time("(Arrow tables)", lambda: [make_table(part) for part in parts], counts=False)
    clock.time("(TFRecords)", lambda: [encode_texts(FEATURE, part) for part in lines], counts=False)
    clock.time(
        "write all files", lambda: [write_shard(one, str(folder), "lm1b", "en") for one in shards]
    )


def read_blocks(paths: Sequence[str]) -> list[bytes]:
    """The lines of all files."""
    events = (
        (planned.file, event) for planned in plan_units(paths, 1) for event in read_unit(planned)
    )
    return [screen_block(file, event)[0] for file, event in events if isinstance(event, LineBlock)]


def sample_blocks(blocks: Iterable[bytes]) -> LineSample:
    """Returns the sample of the lines by which a worker plans the ranges."""
    sampler = LineSampler()
    for block in blocks:
        sampler.add(block, len(block))
    return sampler.sample()


def joined(blocks: Sequence[bytes]) -> Iterator[bytes]:
    """Blocks as large as a worker sorts at once."""
    step = RUN_BYTES // BLOCK_BYTES
    for start in range(0, len(blocks), step):
        yield b"".join(blocks[start : start + step])


def cut_run(run: bytes, splitters: list[bytes]) -> list[tuple[int, bytes]]:
    """(range, its lines) of a sorted run."""
    return [(index, run[start:end]) for index, start, end in cut_sorted(run, splitters)]


def gathered(keyed: Iterable[Iterable[tuple[int, bytes]]]) -> dict[int, list[bytes]]:
    """Groups pieces as the engine's GroupByKey does."""
    found: dict[int, list[bytes]] = {}
    for key, piece in itertools.chain.from_iterable(keyed):
        found.setdefault(key, []).append(piece)
    return found


if __name__ == "__main__":
    main()
