"""--dry-run: what is printed, what is not done."""

import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from corpusmill.pipelines.batch import NamedBuild, look_ahead
from corpusmill.pipelines.lm1b_settings import VERSION
from corpusmill.pipelines.run import forecast
from corpusmill.pipelines.run import forecast as printed_forecasts
from corpusmill.pipelines.run.corpus_build import CorpusBuild
from corpusmill.pipelines.run.forecast import Forecast, print_total
from corpusmill.pipelines.run.publish import FinishedError
from corpusmill.pipelines.sample_builds import SAMPLES, sample_news
from tests.makers.finished_builds import seal
from tests.makers.wiki_builds import Command, Ran, files_below

WIDTH = 80
DUMP = str(SAMPLES / "wikipedia/ukwiki/ukwiki-20260101-pages-articles-multistream.xml.bz2")
NEWS = sorted(map(str, (SAMPLES / "news").glob("news.20??.en.shuffled*")))
ITEMS = sorted(map(str, (SAMPLES / "wikidata").glob("*.json.gz")))
SITE = sorted(map(str, (SAMPLES / "wikimedia/enwikinews").glob("*stream.xml.bz2")))
LIBRARY = str(SAMPLES / "gutenberg/library")
LM1B = ("lm1b", "--input", *NEWS)

# Command → what it says of its inputs.
COMMANDS = {
    "wiki40b": (("wiki40b", "--language", "uk", "--dump", DUMP), "dump: 1 file of"),
    "lm1b": (LM1B, f"news: {len(NEWS)} files of"),
    "pg19": (("pg19", "--books", LIBRARY, "--members", "hash"), "books: [0-9]+ files of"),
    "simplebooks": (("simplebooks", "--books", LIBRARY), "books: [0-9]+ files of"),
    "entities": (("entities", "--dump", *ITEMS), "entities: 1 file of"),
    "flores101": (("flores101", "source", "--wikinews", *SITE), "wikinews: 1 file of"),
}


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


def dry_run(run: Command, output: Path, *arguments: object, status: int = 0) -> Ran:
    return run(*arguments, "--output", output, "--workers", 2, "--dry-run", status=status)


def shown_by(ran: Ran) -> str:
    return " ".join(ran.out.split())


def target_of(ran: Ran) -> Path:
    """The folder that a build would make."""
    return Path("".join(ran.out.split("from")[0].split()[2:]).rstrip(","))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_dry_run_prints_and_writes_nothing(name: str, tmp_path: Path, run: Command) -> None:
    arguments, inputs = COMMANDS[name]
    ran = dry_run(run, tmp_path / "corpora", *arguments)
    shown = shown_by(ran)
    assert re.match(rf"would make {tmp_path}/corpora/{name}/", shown)
    for expected in (
        inputs,
        r"text +(undated|dated [0-9-]+); about [0-9.,]+ (?:[kMG]B|bytes)",
        r"in-process, 2 workers, [0-9]+ cores",
        r"processor +[0-9]+ core-seconds: start",
        r"time +about [0-9]+ s, if nothing else runs",
        r"memory +at most [0-9,.]+ (?:[kMG]B|bytes) of the available ",
        r"disk +[0-9,.]+ (?:[kMG]B|bytes) during the build, [0-9,.]+ (?:[kMG]B|bytes) after it; ",
        r"measured: 20[0-9-]+, ",
    ):
        assert re.search(expected, shown), (expected, shown)
    assert all(len(line) <= WIDTH or str(tmp_path) in line for line in ran.out.splitlines())
    assert not list(tmp_path.iterdir())


def test_builds_of_builds(demo: Path, tmp_path: Path, run: Command) -> None:
    (news,) = (demo / "lm1b").glob(f"*/*-{VERSION}")
    for given in (
        ("subwords", "--corpora", demo / "lm1b"),
        ("subwords", "--corpora", demo / "wiki40b", "--articles", 10),
        ("ngrams", "--corpus", news),
    ):
        shown = dry_run(run, tmp_path / "corpora", *given).out
        assert re.search("processor +[0-9]+ core-seconds", shown)
    assert not list(tmp_path.iterdir())


def refusal(run: Command, output: Path, *arguments: object, status: int = 1) -> str:
    """The error of a dry run, which is that of the run itself."""
    dry = dry_run(run, output, *arguments, status=status)
    real = run(*arguments, "--output", output, "--workers", 2, status=status)
    assert dry.err.splitlines()[-1] == real.err.splitlines()[-1]
    assert dry.out == ""
    return dry.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("status", "arguments"),
    [
        (1, ("lm1b", "--input", "absent-*.gz")),
        (1, ("wiki40b", "--language", "uk", "--dump", "absent.xml.bz2")),
        (1, ("wiki40b", "--language", "el", "--dump", DUMP)),
        (1, ("pg19", "--books", "absent")),
        (1, (*LM1B, "--language", "uk")),
        (2, (*LM1B, "--shards", 1)),
    ],
)
def test_errors_are_those_of_a_build(
    status: int, arguments: tuple[object, ...], tmp_path: Path, run: Command
) -> None:
    refusal(run, tmp_path / "corpora", *arguments, status=status)


def test_a_build_that_does_not_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Command
) -> None:
    for module in (forecast, printed_forecasts):
        monkeypatch.setattr(module, "memory_limit", lambda: 10**6)
    ran = dry_run(run, tmp_path / "corpora", *LM1B, status=1)
    assert "memory" in ran.out
    assert "the in-process runner needs about" in ran.err
    monkeypatch.setattr("corpusmill.transforms.files.stores.free_bytes", lambda _: 10**3)
    ran = dry_run(run, tmp_path / "corpora", *LM1B, "--ignore-memory")
    assert "1.0 kB are free, probably too little" in shown_by(ran)


def test_a_finished_build_is_refused_as_in_a_build(
    demo: Path, tmp_path: Path, run: Command
) -> None:
    (finished,) = (demo / "lm1b").glob(f"*/*-{VERSION}")
    target = tmp_path / finished.relative_to(demo)
    target.mkdir(parents=True)
    for name in ("COMPLETED", "manifest.json"):
        shutil.copy(finished / name, target)
    before = files_below(tmp_path)
    sizes = ("--shards", 10, "--heldout-shards", 5)
    arguments = ("lm1b", "--input", *sample_news().input, *sizes, "--dump-date", "2007-2011")
    assert target.parent.name == "en-shards-10-heldout-shards-5"
    said = refusal(run, tmp_path, *arguments)
    assert " contains a finished build; use another --output" in said
    assert said.endswith("--replace to build it again")
    assert dry_run(run, tmp_path, *arguments, "--replace").out.split()[:2] == ["would", "replace"]
    assert files_below(tmp_path) == before


def test_files_that_no_build_wrote_are_refused_as_in_a_build(tmp_path: Path, run: Command) -> None:
    target = target_of(dry_run(run, tmp_path, *LM1B))
    target.mkdir(parents=True)
    (target / "notes.txt").touch()
    assert "has files that no build wrote" in refusal(run, tmp_path, *LM1B)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_finished_build_with_other_settings_is_an_error(
    name: str, tmp_path: Path, run: Command
) -> None:
    arguments, _ = COMMANDS[name]
    target = target_of(dry_run(run, tmp_path, *arguments))
    target.mkdir(parents=True)
    names = {"corpus": name, "edition": target.parent.name, "signature": name}
    others = {"dump_date": "20260101", "version": "0.0.1"}
    seal(target, {**names, **others, "settings": {}, "inputs": [], "outputs": []})
    said = refusal(run, tmp_path, *arguments)
    assert " contains a build of another version (0.0.1 → " in said
    assert said.endswith("--replace to build it again")
    dry_run(run, tmp_path, *arguments, "--replace")


def test_an_entity_table_comes_first(tmp_path: Path, run: Command) -> None:
    arguments = ("wiki40b", "--language", "uk", "--dump", DUMP, "--entities", *ITEMS)
    ran = dry_run(run, tmp_path / "corpora", *arguments)
    targets = re.findall(r"would make\s+\S+/corpora/([a-z0-9]+)/", ran.out)
    assert targets == ["entities", "wiki40b"]
    assert not list(tmp_path.iterdir())


def test_a_batch_says_which_builds_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(_: object) -> None:
        raise FinishedError("there")

    build = NamedBuild("uk", "a/uk", lambda: cast(CorpusBuild, None), refuse)
    look_ahead([build], (), missing_is_failure=True)
    expected = "uk: already there: a/uk\ntotal of 0 builds: 0.00 core-hours, 0 bytes on disk\n"
    assert capsys.readouterr().out == expected


def test_a_named_language_without_a_dump_fails_as_in_a_build(tmp_path: Path, run: Command) -> None:
    dumps = tmp_path / "dumps"
    for dbname in ("ukwiki", "jawiki"):
        folder = dumps / dbname / "20260101"
        folder.mkdir(parents=True)
        for path in (SAMPLES / "wikipedia" / dbname).glob("*.bz2"):
            (folder / path.name).symlink_to(path)
    arguments = ("wiki40b", "--languages", "uk,ja,pl", "--dumps", dumps)
    shown, errors = dry_run(run, tmp_path / "corpora", *arguments, status=1)
    said = "corpusmill: error: 1 of 3 builds would fail: pl; "
    assert errors.splitlines()[-1].startswith(said)
    assert re.findall(r"would make\s+\S+/wiki40b/([a-z]+)/", shown) == ["uk", "ja"]
    assert "\npl: missing: " in shown
    assert re.search(
        "\ntotal of 2 builds: [0-9.]+ core-hours, [0-9.]+ (?:[kM]B|bytes) on disk\n", shown
    )
    assert not (tmp_path / "corpora").exists()


@pytest.mark.parametrize(
    ("free", "said"),
    [
        (14 * 10**9, ""),  # one after the other: 7 + 6 during one
        (12 * 10**9, "; only 12.0 GB are free"),
        (None, ""),  # an object store
    ],
)
def test_the_disk_must_hold_all_builds_together(
    free: int | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    builds = [
        SimpleNamespace(parts=[], peak_bytes=peak, kept_bytes=kept, free_bytes=free)
        for peak, kept in ((9e9, 3e9), (8e9, 4e9))
    ]
    print_total(cast(list[Forecast], builds))
    total = f"total of 2 builds: 0.00 core-hours, 7.0 GB on disk{said}\n"
    assert capsys.readouterr().out == total


def test_each_worker_decompresses_a_gz(
    tmp_path: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rates of a second for each byte show it: the file has a few."""
    given = (*COMMANDS["entities"][0], "--output", tmp_path / "corpora", "--dry-run")
    rates = forecast.load_rates()
    of = {
        key: rate._replace(core_seconds=rate.core_seconds * (1e6 if key[1] == "gz" else 1))
        for key, rate in rates.of.items()
    }
    monkeypatch.setattr(forecast, "load_rates", lambda: rates._replace(of=of))
    shown = [shown_by(run(*given, "--workers", workers)) for workers in (1, 3)]
    one, three = (float(re.findall(" gz ([0-9,]+)", text)[0].replace(",", "")) for text in shown)
    assert three == pytest.approx(3 * one, rel=0.05)


# Spark and Dataflow.

IN_BUCKETS = (
    *("--runner", "DataflowRunner", "--project=my-project"),
    *("--region=us-central1", "--temp_location=gs://b/t"),
)
CLUSTER = ("--runner", "SparkRunner", "--spark_master_url=spark://host:7077")


def test_dataflow_has_a_price(tmp_path: Path, run: Command) -> None:
    shown = shown_by(dry_run(run, tmp_path / "corpora", *LM1B, *IN_BUCKETS))
    assert "DataflowRunner processor" in shown
    assert "vCPU-hours x $0.056 + " in shown
    assert "GB-hours of memory x $0.003557 + " in shown
    source = "at the prices of us-central1, as Apache Beam"
    assert re.search(rf"GB shuffled x \$0.011 = \$[0-9.]+, {source}", shown)
    assert not list(tmp_path.iterdir())


def test_a_spark_cluster_has_no_price(tmp_path: Path, run: Command) -> None:
    shown = shown_by(dry_run(run, tmp_path / "corpora", *LM1B, *CLUSTER))
    assert re.search(r"Spark cluster processor .* cluster-start [0-9]+, cluster-work [0-9]+", shown)
    assert re.search(r"cost 0\.0[0-9] vCPU-hours", shown)
    assert "$" not in shown


def test_spark_on_this_machine_has_a_time(tmp_path: Path, run: Command) -> None:
    shown = shown_by(dry_run(run, tmp_path / "corpora", *LM1B, "--runner", "SparkRunner"))
    assert "Spark on this machine, 2 workers" in shown
    assert re.search("spark-start [0-9]+, spark-work [0-9]+ time about", shown)
    assert "price" not in shown


def test_the_table_has_every_command() -> None:
    rates = forecast.load_rates()
    for name in (*COMMANDS, "subwords", "ngrams"):
        work = rates.find(name, forecast.WORK)
        assert work, name
        assert work.core_seconds > 0, name
        assert work.peak >= work.kept >= 0, name
