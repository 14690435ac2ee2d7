"""Messages of commands about errors: one line, with the place and the way out."""

import importlib.util
import json
import re
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from corpusmill.pipelines.inspect.verify import Verdict, print_verdict
from corpusmill.pipelines.run import flags
from corpusmill.pipelines.sample_builds import sample_dump
from corpusmill.transforms.files.builds.check_builds import Fault, IdCounts
from corpusmill.transforms.files.builds.ledger import names_of
from corpusmill.transforms.files.records import InputFile
from tests.makers.wiki_builds import run_cli
from tests.tools.pack_samples import SAMPLES

NEWS = str(SAMPLES / "news" / "news.20??.en.shuffled*")
UK = sample_dump("wikipedia", "ukwiki")
BAD_TOML = '[templates]\n"Distance" = {1:number}\n'
LANGUAGE = ["wiki40b", "--language", "uk", "--dump", UK]

FOREIGN = (
    r"corpusmill: error: language is uk \(Ukrainian\), but (\d+) of \1 passages at the beginnings of"
    r" the files are in another one, most of them in English\. If this is intended, add"
    r" --accept other-language\n"
)

CASES = {  # name → arguments, exit status, the whole of what is printed
    "a flag without its word": (
        ["lm1b", "--input"],
        2,
        r"corpusmill lm1b: error: argument --input: expected at least one argument\n"
        r"corpusmill lm1b --help explains the flags\n",
    ),
    "a flag that is missing": (
        ["lm1b", "--output", "o"],
        2,
        r"corpusmill lm1b: error: the following arguments are required: --input\n"
        r"corpusmill lm1b --help explains the flags\n",
    ),
    "a flag that is missing, since it is misspelled": (
        ["lm1b", "--imput", "x", "--output", "o"],
        2,
        r"corpusmill lm1b: error: the following arguments are required: --input; no such flag: --imput;"
        r" did you mean --input or --limit\?\n"
        r"corpusmill lm1b --help explains the flags\n",
    ),
    "a table of templates that is no TOML": (
        [*LANGUAGE, "--templates", "bad.toml", "--output", "o"],
        1,
        r"corpusmill: error: bad\.toml: .*\(at line 2, column \d+\)\n",
    ),
    "Dataflow without its flags": (
        ["lm1b", "--input", "gs://b/news", "--output", "gs://b/o", "--runner", "DataflowRunner"],
        2,
        r"corpusmill: error: DataflowRunner needs --project, the id of a Google Cloud project\n",
    ),
    "news in another language": (
        ["lm1b", "--input", NEWS, "--language", "uk", "--output", "o"],
        1,
        FOREIGN,
    ),
    "a table in place of news": (
        ["lm1b", "--input", "table.csv", "--output", "o"],
        1,
        r"corpusmill: error: table\.csv: expected one sentence per line, but the beginning of the file is"
        r" a table: 20 of 20 rows have 3 fields, divided by a comma\. If this is intended, add"
        r" --accept other-format\n",
    ),
    "the first lines of news in another language": (
        ["lm1b", "--input", NEWS, "--language", "uk", "--output", "o", "--limit", "9"],
        1,
        FOREIGN,
    ),
    "a language that is nearly one": (
        ["lm1b", "--input", NEWS, "--language", "Germann", "--output", "o"],
        2,
        r"corpusmill lm1b: error: argument --language: no such language: 'Germann'; did you mean German\?\n"
        r"corpusmill lm1b --help explains the flags\n",
    ),
    "a code that no language has": (
        ["lm1b", "--input", NEWS, "--language", "xx", "--output", "o"],
        1,
        r"corpusmill: error: no language has the code 'xx'\. If this is intended, add"
        r" --accept other-language\n",
    ),
    "a doubt that is none": (
        ["lm1b", "--input", NEWS, "--output", "o", "--accept", "all"],
        2,
        r"corpusmill lm1b: error: argument --accept: invalid choice: 'all' .*\n.* explains the flags\n",
    ),
}


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


@pytest.mark.parametrize("name", CASES)
def test_messages(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, status, printed = CASES[name]
    assert run_cli(*arguments) == status
    lines = [one for one in capsys.readouterr().err.splitlines(True) if " WARNING " not in one]
    assert re.fullmatch(printed, "".join(lines))
    assert not Path("o").exists()


@pytest.mark.skipif(
    importlib.util.find_spec("google.cloud") is not None
    and importlib.util.find_spec("google.cloud.storage") is not None,
    reason='the extra "gcp" is installed',
)
def test_the_extra_of_a_store_is_ours(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli("lm1b", "--input", "gs://b/news", "--output", "o") == 2
    said = capsys.readouterr().err
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
    flag: Sequence[str],
    way: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(flags, "build_corpus", interrupt)
    assert run_cli("lm1b", "--input", NEWS, "--output", "o", *flag) == 130
    assert capsys.readouterr().err == (
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
    print_verdict(Verdict(1, 0, 0, 9, counts, len(faults), faults, ()))
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_damage_is_counted_in_its_own_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last row of a catalogue is cut: an error with the way out, and with that a lost row."""
    catalog = tmp_path / "pg_catalog.csv"
    catalog.write_bytes((SAMPLES / "gutenberg" / "pg_catalog.csv").read_bytes().rstrip(b"\n")[:-9])
    books = SAMPLES / "gutenberg" / "library" / "90001-0.txt"
    build = [
        "pg19",
        "--books",
        books,
        "--catalog",
        catalog,
        "--members",
        "hash",
        "--min-words",
        "1",
    ]
    build += ["--workers", "1", "--output", tmp_path, "--accept", "empty-train"]
    message = "the line has no line feed: the file is truncated, or not a table (bytes of the text)"
    for dry_run in ([], ["--dry-run"]):
        assert run_cli(*build, *dry_run) == 1
        assert f"{message}; --on-corrupt keep-good" in capsys.readouterr().err
    assert run_cli(*build, "--on-corrupt", "keep-good") == 0
    assert re.search(
        r"lost: pg_catalog\.csv, bytes \d+ to \d+, an unknown number of rows: ",
        capsys.readouterr().out,
    )
    (manifest,) = tmp_path.glob("pg19/*/*/manifest.json")
    (lost,) = json.loads(manifest.read_text())["lost"]
    assert lost["unit"] == "rows"
