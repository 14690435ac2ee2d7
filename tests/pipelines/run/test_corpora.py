"""Each row names what is there."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines import dataflow_template
from corpusmill.pipelines.cli import make_parser
from corpusmill.pipelines.refresh.config import CorpusTable
from corpusmill.pipelines.run import corpora
from corpusmill.pipelines.run.corpora import CORPORA, CorpusRow, MemoryModel, layouts, load, shapes
from corpusmill.pipelines.run.progress import Estimate, describe_counts, find_steps
from corpusmill.pipelines.subwords import find_sources
from corpusmill.transforms.books import book_accounts, simplebooks_rows
from corpusmill.transforms.files import line_blocks
from corpusmill.transforms.files.records import SPLITS as TRANSLATION_SPLITS
from corpusmill.transforms.files.records import TITLE_IN_TEXT, CorpusShape, Layout
from corpusmill.transforms.models.sentence_sampling import PARAGRAPHS
from corpusmill.transforms.translation import select_sentences
from corpusmill.transforms.wikipedia import article_rows
from corpusmill.transforms.wikipedia.entity_table import table_schema
from tests.makers.wiki_builds import run_cli
from tests.pipelines.refresh.dump_server import DumpServer
from tests.pipelines.toy_corpus import METHOD, SAMPLE


@pytest.mark.parametrize("row", CORPORA, ids=lambda row: row.name)
def test_a_row_names_a_method(row: CorpusRow) -> None:
    method = row.load()
    build = getattr(method, row.build)
    assert callable(build.stages)
    assert getattr(method, row.settings).__dataclass_fields__
    assert build.release.version in build.release.notes
    assert callable(load(row.samples))
    assert not row.refresh or issubclass(load(row.refresh), CorpusTable)


@pytest.mark.parametrize("row", CORPORA, ids=lambda row: row.name)
def test_a_row_is_a_command(row: CorpusRow) -> None:
    with pytest.raises(SystemExit) as ended:
        make_parser().parse_args([row.name, "--help"])
    assert ended.value.code == 0


SCHEMAS = {
    "wiki40b": article_rows.SCHEMA,
    "pg19": book_accounts.SCHEMA,
    "simplebooks": simplebooks_rows.SCHEMA,
    "flores101": select_sentences.SCHEMA,
    "lm1b": line_blocks.SCHEMA,
    "entities": table_schema(["ukwiki"]),
}


@pytest.mark.parametrize("corpus", sorted(shapes()))
def test_the_columns_are_those_that_the_corpus_has(corpus: str) -> None:
    shape, schema = shapes()[corpus], SCHEMAS[corpus]
    columns = {shape.id, *shape.texts, *shape.facts, shape.title} - {"", TITLE_IN_TEXT}
    assert columns <= set(schema.names)
    if shape.id:
        kinds = (pa.types.is_string, pa.types.is_integer)
        assert any(is_kind(schema.field(shape.id).type) for is_kind in kinds)


def test_splits_are_those_that_hold_each_document_once() -> None:
    assert shapes()["flores101"].splits == TRANSLATION_SPLITS
    assert simplebooks_rows.TRAIN_2 not in shapes()["simplebooks"].splits
    assert set(shapes()["simplebooks"].splits) < set(simplebooks_rows.SPLITS_WITH_SMALL)


@pytest.mark.parametrize("corpus", layouts())
def test_a_layout_names_a_column_and_a_rule(corpus: str) -> None:
    layout = layouts()[corpus]
    assert layout.column in SCHEMAS[corpus].names
    assert layout.paragraphs in ("", *PARAGRAPHS)


# A sixth corpus: a method file, a row and a sample, and no other edit.

TOY = CorpusRow(
    "toy",
    "toy_method",
    "Toy",
    "ToyConfig",
    MemoryModel(1, 1, 1.0),
    samples="toy_sample:toy",
    shape=CorpusShape("lines", "id", "", ("text",), splits=("train", "test")),
    layout=Layout("text", ""),
)
LINES = [f"Line {number}." for number in range(1, 9)]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a sample of the corpus, that this process knows meanwhile."""
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "toy_method.py").write_text(METHOD, "utf-8")
    (folder / "toy_sample.py").write_text(SAMPLE, "utf-8")
    (folder / "lines.txt").write_text("\n".join(LINES), "utf-8")
    monkeypatch.syspath_prepend(str(folder))
    others = (row._replace(samples="toy_sample:none") for row in CORPORA)
    monkeypatch.setattr(corpora, "CORPORA", (*others, TOY))
    yield folder
    for name in ("toy_method", "toy_sample"):
        sys.modules.pop(name, None)


def build(toy: Path, *flags: object) -> int:
    given = ("--input", toy / "lines.txt", "--output", toy / "corpora", "--workers", "1")
    return run_cli("toy", *given, *flags)


def test_a_toy_has_a_command(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli("--help") == 0
    assert re.search(r"\n +toy +builds toy\n", capsys.readouterr().out)
    assert run_cli("toy", "--help") == 0
    text = capsys.readouterr().out
    assert "Toy: the lines of some files, each a document." in text
    assert re.search(r"--every N +which lines are for testing \(default 4\)", text)
    assert run_cli("toy", "--output", "x") == 2
    assert "required: --input" in capsys.readouterr().err
    assert run_cli("toy", "--input", "x", "--every", "many", "--output", "x") == 2
    assert "invalid int value: 'many'" in capsys.readouterr().err
    capsys.readouterr()
    assert build(toy, "--upper-case", "--every", "2") == 0
    rows = pq.read_table(
        toy / "corpora/toy/en-upper-case/20260101-1.0.0/test-00000-of-00001.parquet"
    )
    assert rows["text"].to_pylist() == ["LINE 2.", "LINE 4.", "LINE 6.", "LINE 8."]
    assert "8 lines read" in capsys.readouterr().out


def test_a_toy_is_in_the_demo_and_the_report(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = toy / "demo"
    assert run_cli("demo", "--output", output) == 0
    assert re.search(r"toy +en +20260101 +lines +train 6, test 2", capsys.readouterr().out)
    assert run_cli("report", output, "--format", "tsv") == 0
    assert "toy\ten\t20260101\t1.0.0\tlines\ttest\t2" in capsys.readouterr().out
    assert find_sources([str(output)], layouts()).builds.keys() == {"en"}


def test_a_toy_is_verified_and_compared(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build(toy) == 0
    (toy / "lines.txt").write_text("\n".join([*LINES[:7], "Another line."]), "utf-8")
    assert build(toy, "--dump-date", "20260201") == 0
    old, new = sorted((toy / "corpora/toy/en").glob("*-1.0.0"))
    capsys.readouterr()
    assert run_cli("compare", old, new, "--workers", "1") == 0
    shown = capsys.readouterr().out
    assert re.search(r"\n *lines +old +new +added +removed ", shown)
    assert re.search(r"\n *total +8 +8 +1 +1 +0 +7 ", shown)
    assert run_cli("verify", toy / "corpora", "--workers", "1") == 0
    (new / "stats.json").write_text('{"train": {"lines": 6}, "test": {"lines": 3}}', "utf-8")
    assert run_cli("verify", toy / "corpora", "--workers", "1") == 1
    assert "has 3 lines of test, but 2 were kept" in capsys.readouterr().out


def test_a_toy_is_refreshed(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = toy / "refresh.toml"
    head = '[refresh]\noutput = "corpora"\ndownloads = "files"\ncontact = "me@example.org"\nworkers = 1\n'
    with DumpServer() as site:
        for date in ("20260101", "20260201"):
            site.put(f"/{date}.txt", "\n".join(LINES).encode())
            files = f'date = "{date}"\nfiles.input = ["{site.url}/{date}.txt"]\n'
            config.write_text(f'{head}[[corpus]]\nkind = "toy"\n{files}build.every = 2\n')
            assert run_cli("refresh", "--config", config) == 0
    editions = toy / "corpora/toy/en"
    assert (editions / "CURRENT").read_text() == "20260201-1.0.0\n"
    written = config.read_text()
    for wrong, why in (
        (written.replace(date, "today"), "toy: `date` must begin with a year, got 'today'"),
        (re.sub(r'\["http.*\]', "[]", written), "toy: `files` must list at least one address"),
        (written.replace("every", "date"), "there is no setting 'date'"),
    ):
        config.write_text(wrong)
        assert run_cli("refresh", "--config", config, "--check") == 2
        assert why in capsys.readouterr().err
    assert (editions / "changes-20260201-1.0.0.tsv").read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("corpus", "text_megabytes", "workers", "measured_megabytes"),
    [
        ("wiki40b", 308, 2, 800),
        ("wiki40b", 614, 2, 894),
        ("wiki40b", 580, 1, 393),
    ],
)
def test_estimates_of_memory_cover_what_was_measured(
    corpus: str, text_megabytes: int, workers: int, measured_megabytes: int
) -> None:
    """tests/bench/README.md has how."""
    estimate = corpora.rows()[corpus].memory.needed(text_megabytes * 10**6, workers)
    assert measured_megabytes * 10**6 <= estimate < 1.6 * measured_megabytes * 10**6


def test_english_wikipedia_needs_a_few_gigabytes() -> None:
    assert corpora.rows()["wiki40b"].memory.needed(146 * 10**9, workers=2) < 5 * 10**9


def test_the_memory_of_a_toy_is_estimated(
    toy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    greedy = TOY._replace(memory=MemoryModel(10**18, 1, 1.0))
    monkeypatch.setattr(corpora, "CORPORA", (*CORPORA, greedy))
    assert build(toy) == 1
    assert "memory" in capsys.readouterr().err
    assert build(toy, "--ignore-memory") == 0


def test_a_toy_has_a_form_of_dataflow(toy: Path) -> None:
    assert "toy" in dataflow_template.commands()
    fields = {one["name"]: one for one in dataflow_template.metadata_of("toy")["parameters"]}
    assert {"input", "dump_date", "upper_case", "every", "output", "jobs_runner"} <= fields.keys()
    assert fields["upper_case"]["paramType"] == "BOOLEAN"
    values = {"command": "toy", "input": "a 'b c'", "output": "o", "jobs_runner": "in-process"}
    line = ["toy", "--input", "a", "b c", "--output", "o", "--runner", "in-process"]
    assert dataflow_template.command_line(values, []) == line


def test_a_toy_shows_its_progress() -> None:
    counts = {
        "read-toy/lines": 8,
        "read-toy/text_bytes": 2_000_000,
        "read-toy/dump_bytes": 7_000_000,
    }
    found = Estimate(find_steps("toy", ["write"]), 7_000_000)
    found.update(counts, "write", 1.0)
    assert describe_counts(found.doing(2.0)) == "7.0 of 7.0 MB of the input"
