"""Each row names what is there."""

import json
import re
import shutil
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
from corpusmill.transforms.books import simplebooks_rows
from corpusmill.transforms.files.records import SPLITS as TRANSLATION_SPLITS
from corpusmill.transforms.files.records import TITLE_IN_TEXT
from corpusmill.transforms.models.sentence_sampling import PARAGRAPHS
from tests.makers.wiki_builds import Command, run_cli
from tests.pipelines.refresh.dump_server import DumpServer
from tests.pipelines.toy_corpus import LINES, ROW, declared, write_lines
from tests.tools.golden_tree import GOLDEN, TOY, check_golden, tree_of


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


def schema_of(corpus: str) -> pa.Schema:
    """The columns of the golden build of a corpus."""
    return pq.read_schema(min((GOLDEN / corpus).glob("*/*/*-of-*.parquet")))


@pytest.mark.parametrize("corpus", sorted(shapes()))
def test_the_columns_are_those_that_the_corpus_has(corpus: str) -> None:
    shape, schema = shapes()[corpus], schema_of(corpus)
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
    assert layout.column in schema_of(corpus).names
    assert layout.paragraphs in ("", *PARAGRAPHS)


# A sixth corpus: a method file, a sample and a row, and no other edit.


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two editions of the corpus, that this process knows meanwhile."""
    folder = tmp_path_factory.mktemp("toy")
    others = [row._replace(samples="toy_sample:none") for row in CORPORA]
    with declared(folder, others):
        new = [*LINES[1:], LINES[0].replace("river", "brook")]
        for date, lines in (("20260201", new), ("20260101", LINES)):
            write_lines(folder, lines)
            assert build(folder, "--dump-date", date) == 0
        yield folder


def build(toy: Path, *flags: object) -> int:
    given = ("--input", toy / "lines.txt", "--output", toy / "corpora", "--workers", "1")
    return run_cli("toy", *given, *flags)


def edition(toy: Path, date: str = "20260101") -> Path:
    return toy / "corpora/toy/en" / f"{date}-1.0.0"


def rows_of(folder: Path, split: str) -> list[str]:
    table = pq.read_table(folder / f"{split}-00000-of-00001.parquet")
    return [str(text) for text in table["text"].to_pylist()]


def test_a_toy_has_a_command(toy: Path, run: Command) -> None:
    assert re.search(r"\n +toy +builds toy\n", run("--help").out)
    assert "\n  toy          1.0.0\n" in run("--version").out
    text = run("toy", "--help").out
    assert "Toy: the lines of some files, each a document." in text
    assert re.search(r"--every N +which lines are for testing \(default 4\)", text)
    assert "required: --input" in run("toy", "--output", "x", status=2).err
    wrong = run("toy", "--input", "x", "--every", "many", "--output", "x", status=2)
    assert "invalid int value: 'many'" in wrong.err


def test_a_toy_is_that_of_the_golden_tree(toy: Path) -> None:
    check_golden(tree_of(edition(toy)), "en/20260101-1.0.0", TOY)


def test_a_toy_has_rows_a_vocabulary_and_a_card(toy: Path) -> None:
    folder = edition(toy)
    names = {path.name for path in folder.iterdir()}
    assert names == {
        *("train-00000-of-00001.parquet", "toy-train.tfrecord-00000-of-00001"),
        *("test-00000-of-00001.parquet", "toy-test.tfrecord-00000-of-00001"),
        *("COMPLETED", "README.md", "manifest.json", "stats.json", "vocabulary-words.tsv"),
        *("dataset_info.json", "features.json", "rejected"),
    }
    assert rows_of(folder, "train") == sorted(LINES[:-1])
    assert rows_of(folder, "test") == LINES[-1:]
    first, *words = (folder / "vocabulary-words.tsv").read_text("utf-8").splitlines()
    assert first == "the\t12"
    assert words == [f"{word}\t6" for word in "The by little mill red river. to went".split()]
    card = (folder / "README.md").read_text("utf-8")
    assert card.startswith("---\nlicense: other\nlanguage: en\npretty_name: Toy\n")
    assert (
        "Every line is a document.\n\n| split | lines | words | characters | text bytes |" in card
    )
    assert "| read-lines/malformed-utf-8 | 1 |" in card
    assert "No figures of the paper" not in card


def test_a_toy_of_other_settings_is_an_edition_beside_sizes_of_the_paper_without_its_scores(
    toy: Path, run: Command
) -> None:
    assert build(toy, "--upper-case", "--every", "2", "--output", toy / "other") == 0
    folder = toy / "other/toy/en-upper-case-every-2/20260101-1.0.0"
    assert set(rows_of(folder, "test")) <= set(map(str.upper, LINES))
    shown = " ".join(run("report", folder).out.split())
    assert " train 6, test 1 " in shown
    assert " – input of 20260101, --upper-case, --every 2 " in shown


def test_a_toy_is_in_the_demo_and_beside_its_paper_in_the_report(toy: Path, run: Command) -> None:
    output = toy / "demo"
    out = run("demo", "--output", output).out
    assert re.search(r"toy +en +20260101 +lines", out)
    tsv = run("report", output, "--format", "tsv").out
    assert (
        "toy\ten\t20260101\t1.0.0\tlines\ttest\t1\t1\t11\t60\t12.34 perplexity\t\tinput of 20260101\n"
        in tsv
    )
    assert find_sources([str(output)], layouts()).builds.keys() == {"en"}


def test_a_toy_has_a_page_in_the_report(toy: Path, run: Command) -> None:
    run("report", toy / "corpora", "--html", toy / "report.html")
    page = " ".join((toy / "report.html").read_text("utf-8").split())
    for text in (
        "Lines of train: 6 here, 6 in the paper (100 %).",
        "chosen at random, always the same ones. Each line is a sentence.",
        "Words that occur at least 2 times in the training part: 9 (toy-words).",
        "Rank and frequency of words, vocabulary-words.tsv",
        "toy en/20260201-1.0.0",
    ):
        assert text in page


def test_a_toy_is_inspected_and_scored(toy: Path, run: Command) -> None:
    folder = edition(toy)
    assert run("inspect", folder, LINES[0]).out.startswith("kept in train\nbuild: toy|lang:en|")
    assert "rejected" in run("inspect", folder, "lines.txt:351").out
    given = ("--log-likelihood", "-50", "--corpus", folder, "--split", "test")
    out = run("score", "perplexity", *given).out
    assert re.search(r"  word-level perplexity +94\.2032\n", out)
    assert re.search(r"  paper: word-level perplexity +12\.34 \(Toy 2026, table 1\)\n", out)


def test_a_toy_is_compared_and_searched_for_overlap(toy: Path, run: Command) -> None:
    old, new = edition(toy), edition(toy, "20260201")
    shown = run("compare", old, new, "--workers", "1").out
    assert re.search(r"\n *lines +old +new +added +removed ", shown)
    assert re.search(r"\n *total +7 +7 +1 +1 +0 +6 ", shown)
    run("overlap", old, "--with", new, "--output", toy / "overlap", "--workers", "1")
    (pairs,) = (toy / "overlap").glob("pairs-*.parquet")
    assert pq.read_table(pairs).num_rows == 6


def test_lines_are_removed_from_a_toy(toy: Path, run: Command) -> None:
    (toy / "items.txt").write_text(LINES[0], "utf-8")
    given = ("--train", edition(toy), "--eval", toy / "items.txt", "--output", toy / "found")
    remove = ("--remove", "documents", "--editions", toy / "clean", "--workers", "1")
    run("contamination", *given, *remove, status=1)
    (made,) = (mark.parent for mark in (toy / "clean").rglob("COMPLETED"))
    assert rows_of(made, "train") == []  # lines that differ in one of eleven words are copies, too
    assert rows_of(made, "test") == LINES[-1:]  # only train is training data


def test_a_toy_is_verified(toy: Path, run: Command) -> None:
    run("verify", toy / "corpora", "--workers", "1")
    other = shutil.copytree(edition(toy), toy / "wrong/toy/en/20260101-1.0.0")
    stats = json.loads((other / "stats.json").read_text())
    stats["test"]["lines"] = 3
    (other / "stats.json").write_text(json.dumps(stats))
    out = run("verify", other, "--workers", "1", status=1).out
    assert "has 3 lines of test, but 1 were kept" in out


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


def test_a_toy_is_refreshed(toy: Path, tmp_path: Path, run: Command) -> None:
    config = tmp_path / "refresh.toml"
    head = '[refresh]\noutput = "corpora"\ndownloads = "files"\ncontact = "me@example.org"\nworkers = 1\n'
    with DumpServer() as site:
        for date in ("20260101", "20260201"):
            site.put(f"/{date}.txt", "\n".join(LINES).encode())
            files = f'date = "{date}"\nfiles.input = ["{site.url}/{date}.txt"]\n'
            config.write_text(f'{head}[[corpus]]\nkind = "toy"\n{files}build.every = 4\n')
            run("refresh", "--config", config)
    editions = tmp_path / "corpora/toy/en"
    assert (editions / "CURRENT").read_text() == "20260201-1.0.0\n"
    written = config.read_text()
    for wrong, why in (
        (written.replace(date, "today"), "toy: `date` must begin with a year, got 'today'"),
        (re.sub(r'\["http.*\]', "[]", written), "toy: `files` must list at least one address"),
        (written.replace("every", "date"), "there is no setting 'date'"),
    ):
        config.write_text(wrong)
        assert why in run("refresh", "--config", config, "--check", status=2).err
    assert (editions / "changes-20260201-1.0.0.tsv").read_text().count("\n") == 1


def test_the_memory_of_a_toy_is_estimated(
    toy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    greedy = ROW._replace(memory=MemoryModel(10**18, 1, 1.0))
    monkeypatch.setattr(corpora, "CORPORA", (*CORPORA, greedy))
    assert build(toy, "--output", toy / "greedy") == 1
    assert "memory" in capsys.readouterr().err
    assert build(toy, "--output", toy / "greedy", "--ignore-memory") == 0


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
