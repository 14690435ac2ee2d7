"""--dry-run: what is printed, what is not done."""

import argparse
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from corpusmill.pipelines.batch import NamedBuild, look_ahead
from corpusmill.pipelines.lm1b_settings import VERSION
from corpusmill.pipelines.run import dry_run as printed_forecasts
from corpusmill.pipelines.run import forecast
from corpusmill.pipelines.run.corpus_build import Corpus
from corpusmill.pipelines.run.dry_run import parse_prices, print_total
from corpusmill.pipelines.run.forecast import Forecast
from corpusmill.pipelines.run.publish import FinishedError
from corpusmill.pipelines.sample_builds import SAMPLES, sample_news
from tests.makers.finished_builds import seal
from tests.makers.wiki_builds import files_below, run_cli

WIDTH = 80
DUMP = str(SAMPLES / "wikipedia/ukwiki/ukwiki-20260101-pages-articles-multistream.xml.bz2")
NEWS = sorted(map(str, (SAMPLES / "news").glob("news.20??.en.shuffled*")))
ITEMS = sorted(map(str, (SAMPLES / "wikidata").glob("*.json.gz")))
SITE = sorted(map(str, (SAMPLES / "wikimedia/enwikinews").glob("*stream.xml.bz2")))
LIBRARY = str(SAMPLES / "gutenberg/library")
LM1B = ("lm1b", "--input", *NEWS)

# Command → what it says of its inputs.
COMMANDS = {
    "wiki40b": (("wiki40b", "--language", "uk", "--dump", DUMP), "dump +1 file of"),
    "lm1b": (LM1B, f"news +{len(NEWS)} files of"),
    "pg19": (("pg19", "--books", LIBRARY, "--members", "hash"), "books +[0-9]+ files of"),
    "simplebooks": (("simplebooks", "--books", LIBRARY), "books +[0-9]+ files of"),
    "entities": (("entities", "--dump", *ITEMS), "entities +1 file of"),
    "flores101": (("flores101", "source", "--wikinews", *SITE), "wikinews +1 file of"),
}


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


def dry_run(output: Path, *arguments: object) -> int:
    return run_cli(*arguments, "--output", output, "--workers", 2, "--dry-run")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_dry_run_prints_and_writes_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, inputs = COMMANDS[name]
    assert dry_run(tmp_path / "corpora", *arguments) == 0
    printed = capsys.readouterr().out
    shown = " ".join(printed.split())
    assert re.match(rf"would make {tmp_path}/corpora/{name}/", shown)
    for expected in (
        inputs,
        r"(undated|dated [0-9-]+); about [0-9.,]+ [MG]B of text",
        r"in-process, 2 workers, [0-9]+ cores",
        r"processor +[0-9]+ core-seconds: start",
        r"time +about [0-9]+ s, if nothing else runs",
        r"memory +at most [0-9,.]+ [MG]B of the available ",
        r"disk +[0-9,.]+ [MG]B during the build, [0-9,.]+ [MG]B after it; ",
        r"measured: 20[0-9-]+, ",
    ):
        assert re.search(expected, shown), (expected, shown)
    assert all(len(line) <= WIDTH or str(tmp_path) in line for line in printed.splitlines())
    assert not list(tmp_path.iterdir())


def test_builds_of_builds(demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (news,) = (demo / "lm1b").glob(f"*/*-{VERSION}")
    for given in (
        ("subwords", "--corpora", demo / "lm1b"),
        ("multilingual", "--corpora", demo / "wiki40b"),
        ("ngrams", "--corpus", news),
    ):
        assert dry_run(tmp_path / "corpora", *given) == 0
        assert re.search("processor +[0-9]+ core-seconds", capsys.readouterr().out)
    assert not list(tmp_path.iterdir())


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
    status: int, arguments: tuple[object, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dry_run(tmp_path / "corpora", *arguments) == status
    dry = capsys.readouterr()
    assert run_cli(*arguments, "--output", tmp_path / "corpora", "--workers", 2) == status
    assert dry.err == capsys.readouterr().err != ""
    assert dry.out == ""


def test_a_build_that_does_not_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (forecast, printed_forecasts):
        monkeypatch.setattr(module, "memory_limit", lambda: 10**6)
    assert dry_run(tmp_path / "corpora", *LM1B) == 1
    shown = capsys.readouterr()
    assert "memory" in shown.out
    assert "the in-process runner needs about" in shown.err
    monkeypatch.setattr("corpusmill.transforms.files.stores.free_bytes", lambda _: 10**3)
    assert dry_run(tmp_path / "corpora", *LM1B, "--ignore-memory") == 0
    assert "0 MB are free, probably too little" in " ".join(capsys.readouterr().out.split())


def test_a_finished_build_is_refused_as_in_a_build(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (finished,) = (demo / "lm1b").glob(f"*/*-{VERSION}")
    target = tmp_path / finished.relative_to(demo)
    target.mkdir(parents=True)
    for name in ("COMPLETED", "manifest.json"):
        shutil.copy(finished / name, target)
    before = files_below(tmp_path)
    arguments = (
        "lm1b",
        "--input",
        *sample_news().input,
        "--shards",
        10,
        "--heldout-shards",
        5,
        "--dump-date",
        "2007-2011",
    )
    edition = target.parent.name.partition("en")[2].lstrip("-")
    assert edition == "shards-10-heldout-shards-5"
    assert_same_refusal(tmp_path, arguments, "a finished build; use another --output", capsys)
    assert dry_run(tmp_path, *arguments, "--replace") == 0
    assert capsys.readouterr().out.split()[:2] == ["would", "replace"]
    assert files_below(tmp_path) == before


def assert_same_refusal(
    output: Path, arguments: Sequence[object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dry run and the run itself end with the same error, which says this of the folder."""
    assert dry_run(output, *arguments) == 1
    dry = capsys.readouterr()
    assert run_cli(*arguments, "--output", output, "--workers", 2) == 1
    assert dry.out == ""
    assert dry.err.splitlines()[-1] == capsys.readouterr().err.splitlines()[-1]
    assert f" contains {said}" in dry.err.splitlines()[-1]
    assert dry.err.endswith("--replace to build it again\n")


def test_files_that_no_build_wrote_are_refused_as_in_a_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dry_run(tmp_path, *LM1B) == 0
    target = Path("".join(capsys.readouterr().out.split("from")[0].split()[2:]).rstrip(","))
    target.mkdir(parents=True)
    (target / "notes.txt").touch()
    assert dry_run(tmp_path, *LM1B) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert run_cli(*LM1B, "--output", tmp_path, "--workers", 2) == 1
    assert said == capsys.readouterr().err.splitlines()[-1]
    assert "has files that no build wrote" in said


@pytest.mark.parametrize("name", COMMANDS)
def test_a_finished_build_with_other_settings_is_an_error(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, _ = COMMANDS[name]
    assert dry_run(tmp_path, *arguments) == 0
    target = Path("".join(capsys.readouterr().out.split("from")[0].split()[2:]).rstrip(","))
    target.mkdir(parents=True)
    names = {
        "corpus": name,
        "edition": target.parent.name,
        "dump_date": "20260101",
        "signature": name,
    }
    seal(target, {**names, "version": "0.0.1", "settings": {}, "inputs": [], "outputs": []})
    assert_same_refusal(tmp_path, arguments, "a build of another version (0.0.1 → ", capsys)
    assert dry_run(tmp_path, *arguments, "--replace") == 0


def test_an_entity_table_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("wiki40b", "--language", "uk", "--dump", DUMP, "--entities", *ITEMS)
    assert dry_run(tmp_path / "corpora", *arguments) == 0
    targets = re.findall(r"would make\s+\S+/corpora/([a-z0-9]+)/", capsys.readouterr().out)
    assert targets == ["entities", "wiki40b"]
    assert not list(tmp_path.iterdir())


def test_a_batch_says_which_builds_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(_: object) -> None:
        raise FinishedError("there")

    look_ahead(
        [NamedBuild("uk", "a/uk", lambda: cast(Corpus, None), refuse)], (), missing_is_failure=True
    )
    expected = "uk: already there: a/uk\ntotal of 0 builds: 0.00 core-hours, 0 MB on disk\n"
    assert capsys.readouterr().out == expected


def test_many_languages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dumps = tmp_path / "dumps"
    for dbname in ("ukwiki", "jawiki"):
        folder = dumps / dbname / "20260101"
        folder.mkdir(parents=True)
        for path in (SAMPLES / "wikipedia" / dbname).glob("*.bz2"):
            (folder / path.name).symlink_to(path)
    arguments = ("wiki40b", "--languages", "uk,ja,pl", "--dumps", dumps)
    assert (
        dry_run(tmp_path / "corpora", *arguments) == 1
    )  # as in a build, of a language that is named
    shown, errors = capsys.readouterr()
    said = "corpusmill: error: 1 of 3 builds would fail: pl; "
    assert errors.splitlines()[-1].startswith(said)
    assert re.findall(r"would make\s+\S+/wiki40b/([a-z]+)/", shown) == ["uk", "ja"]
    assert re.search("^pl: missing: ", shown, re.MULTILINE)
    assert re.search(
        "^total of 2 builds: [0-9.]+ core-hours, [0-9.]+ MB on disk$", shown, re.MULTILINE
    )
    assert not (tmp_path / "corpora").exists()


@pytest.mark.parametrize(
    ("free_gb", "said"),
    [
        (
            14.0,
            "2 builds: 0.00 core-hours, 7.0 GB on disk",
        ),  # one after the other: 7 + 6 during one
        (12.0, "2 builds: 0.00 core-hours, 7.0 GB on disk; only 12.0 GB are free"),
        (None, "2 builds: 0.00 core-hours, 7.0 GB on disk"),  # an object store
    ],
)
def test_the_disk_must_hold_all_builds_together(
    free_gb: float | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    free = None if free_gb is None else int(free_gb * 1e9)
    builds = [
        SimpleNamespace(parts=[], peak_bytes=peak, kept_bytes=kept, free_bytes=free)
        for peak, kept in ((9e9, 3e9), (8e9, 4e9))
    ]
    print_total(cast(list[Forecast], builds))
    assert capsys.readouterr().out == f"total of {said}\n"


def test_each_worker_decompresses_a_gz(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rates of a second for each byte show it: the file has a few."""
    given = (*COMMANDS["entities"][0], "--output", tmp_path / "corpora", "--dry-run")
    rates = forecast.load_rates()
    of = {
        key: rate._replace(core_seconds=rate.core_seconds * (1e6 if key[1] == "gz" else 1))
        for key, rate in rates.of.items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forecast, "load_rates", lambda: rates._replace(of=of))
        found = []
        for workers in (1, 3):
            assert run_cli(*given, "--workers", workers) == 0
            shown = " ".join(capsys.readouterr().out.split())
            found.append(float(re.findall(" gz ([0-9,]+)", shown)[0].replace(",", "")))
    assert found[1] == pytest.approx(3 * found[0], rel=0.05)


# Spark and Dataflow.

IN_BUCKETS = (
    "--runner",
    "DataflowRunner",
    "--project=my-project",
    "--region=us-central1",
    "--temp_location=gs://b/t",
)
CLUSTER = ("--runner", "SparkRunner", "--spark_master_url=spark://host:7077")


def hours_of(shown: str) -> float:
    (seconds,) = re.findall("processor +([0-9,]+) core-seconds", shown)
    return float(seconds.replace(",", "")) / 3600


def test_dataflow_has_a_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dry_run(tmp_path / "corpora", *LM1B, *IN_BUCKETS) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "DataflowRunner processor" in shown
    assert "vCPU-hours x $0.056 + " in shown
    assert "GB-hours of memory x $0.003557 + " in shown
    assert re.search(
        r"GB shuffled x \$0.011 = \$[0-9.]+ prices of us-central1, as Apache Beam", shown
    )
    assert (
        dry_run(tmp_path / "corpora", *LM1B, *IN_BUCKETS, "--prices", "vcpu=3600", "memory=0") == 0
    )
    shown = " ".join(capsys.readouterr().out.split())
    (total,) = re.findall(r"vCPU-hours x \$3600 .* = \$([0-9.,]+)", shown)
    assert float(total.replace(",", "")) == pytest.approx(hours_of(shown) * 3600, abs=1.5)
    assert not list(tmp_path.iterdir())


def test_a_spark_cluster_has_no_price_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dry_run(tmp_path / "corpora", *LM1B, *CLUSTER) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(r"Spark cluster processor .* cluster-start [0-9]+, cluster-work [0-9]+", shown)
    assert "vCPU-hours x (--prices vcpu=USD)" in shown
    assert "= $" not in shown
    assert dry_run(tmp_path / "corpora", *LM1B, *CLUSTER, "--prices", "vcpu=0.05") == 0
    assert re.search(r"vCPU-hours x \$0.05 = \$0.0[0-9]", " ".join(capsys.readouterr().out.split()))


def test_spark_on_this_machine_has_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dry_run(tmp_path / "corpora", *LM1B, "--runner", "SparkRunner") == 0
    shown = capsys.readouterr().out
    assert "Spark on this machine, 2 workers" in shown
    assert re.search("spark-start [0-9]+, spark-work [0-9]+", " ".join(shown.split()))
    assert re.search("time +about", shown)
    assert "price" not in shown


@pytest.mark.parametrize("text", ["vcpu", "vcpu=", "vcpu=-1", "gpu=1", "vcpu=cheap"])
def test_prices_are_named_numbers(text: str) -> None:
    assert parse_prices("disk=0.5") == ("disk", 0.5)
    with pytest.raises(argparse.ArgumentTypeError, match="must be NAME=USD"):
        parse_prices(text)


def test_the_table_has_every_command() -> None:
    rates = forecast.load_rates()
    for name in (*COMMANDS, "subwords", "multilingual", "ngrams"):
        work = rates.find(name, forecast.WORK)
        assert work, name
        assert work.core_seconds > 0, name
        assert work.peak >= work.kept >= 0, name
