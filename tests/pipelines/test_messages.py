"""Messages of commands about errors: one line, with the place and the way out."""

import importlib.util
import json
import re
import shlex
import socket
from pathlib import Path

import pytest

from corpusmill.pipelines.inspect.verify import Verdict, print_verdict
from corpusmill.pipelines.run import flags
from corpusmill.pipelines.sample_builds import sample_dump
from corpusmill.transforms.files.builds.check_builds import Fault, IdCounts
from corpusmill.transforms.files.builds.ledger import names_of
from corpusmill.transforms.files.records import InputFile
from tests.makers.wiki_builds import Command
from tests.tools.case_tables import read_rows
from tests.tools.pack_samples import SAMPLES

NEWS = str(SAMPLES / "news" / "news.20??.en.shuffled*")
UK = sample_dump("wikipedia", "ukwiki")
BAD_TOML = '[templates]\n"Distance" = {1:number}\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, without a network."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network is asked")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.chdir(tmp_path)
    Path("bad.toml").write_text(BAD_TOML)
    Path("table.csv").write_text("7,2026-11-02,Well\n" * 20)
    return tmp_path


@pytest.mark.parametrize(
    ("what", "status", "line", "printed"),
    read_rows("pipelines/messages"),
    ids=lambda cell: cell[:40],
)
def test_messages(
    what: str, status: str, line: str, printed: str, here: Path, run: Command
) -> None:
    words = shlex.split(line.format(news=shlex.quote(NEWS), uk=UK))
    err = run(*words, status=int(status)).err
    lines = [one for one in err.splitlines(True) if " WARNING " not in one]
    assert re.fullmatch(printed, "".join(lines)), what
    assert not Path("o").exists()


@pytest.mark.skipif(
    importlib.util.find_spec("google.cloud") is not None
    and importlib.util.find_spec("google.cloud.storage") is not None,
    reason='the extra "gcp" is installed',
)
def test_the_extra_of_a_store_is_ours(here: Path, run: Command) -> None:
    said = run("lm1b", "--input", "gs://b/news", "--output", "o", status=2).err
    assert "pip install 'corpusmill[gcp]'" in said
    assert "apache-beam[" not in said


@pytest.mark.parametrize(
    ("flag", "way"),
    [
        ([], "the same command continues"),
        (["--fresh"], "the same command, without --fresh, continues"),
    ],
)
def test_an_interrupt_says_how_to_go_on(
    flag: list[str], way: str, here: Path, monkeypatch: pytest.MonkeyPatch, run: Command
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(flags, "build_corpus", interrupt)
    assert run("lm1b", "--input", NEWS, "--output", "o", *flag, status=130).err == (
        "corpusmill: error: interrupted; nothing unfinished was published;"
        f" {way} from the last finished stage\n"
    )


def test_few_of_many_names_are_listed() -> None:
    files = [InputFile("books", f"{number}.txt", 1, "") for number in range(5_000)]
    assert names_of(files) == "0.txt, 1.txt, 10.txt, 100.txt, 1000.txt and 4,995 more"
    assert names_of(files[:2], ["books"]) == "0.txt, 1.txt"


@pytest.mark.parametrize(
    ("faults", "last"),
    [
        ((), "OK: all is well"),
        (
            (Fault("a/train.parquet", "it is gone"),),
            "FAILED: 1 fault, listed above; copy or build the editions again",
        ),
    ],
)
def test_a_verdict_ends_with_what_it_is(
    faults: tuple[Fault, ...], last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = IdCounts(0, 0, 0, 0)
    print_verdict(Verdict(1, 0, 9, counts, len(faults), faults, ()))
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_damage_is_counted_in_its_own_unit(tmp_path: Path, run: Command) -> None:
    """The last row of a catalogue is cut: an error with the way out, and with that a lost row."""
    catalog = tmp_path / "pg_catalog.csv"
    catalog.write_bytes((SAMPLES / "gutenberg" / "pg_catalog.csv").read_bytes().rstrip(b"\n")[:-9])
    books = SAMPLES / "gutenberg" / "library" / "90001-0.txt"
    build = ["pg19", "--books", books, "--catalog", catalog, "--members", "hash", "--min-words", 1]
    build += ["--workers", "1", "--output", tmp_path, "--accept", "empty-train"]
    message = "the line has no line feed: the file is truncated, or not a table (bytes of the text)"
    for dry_run in ([], ["--dry-run"]):
        err = run(*build, *dry_run, status=1).err
        assert f"{message}; --on-corrupt keep-good" in err
    out = run(*build, "--on-corrupt", "keep-good").out
    assert re.search(r"lost: pg_catalog\.csv, bytes \d+ to \d+, an unknown number of rows: ", out)
    (manifest,) = tmp_path.glob("pg19/*/*/manifest.json")
    (lost,) = json.loads(manifest.read_text())["lost"]
    assert lost["unit"] == "rows"
