"""`corpusmill score`: from a log-likelihood to a score that names its corpus."""

import bz2
import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.inspect.score import score
from corpusmill.pipelines.run.corpora import VERSION, paper_of
from corpusmill.transforms.files.builds.manifest import to_json
from corpusmill.transforms.files.builds.paper_figures import OTHER_TEXT
from corpusmill.transforms.files.read_files import InputError
from tests.makers.finished_builds import make_build, manifest_of, seal
from tests.makers.wiki_builds import Command
from tests.tools.error_of import error_of
from tests.tools.golden_tree import GOLDEN

IDS = {"train": [["Q1"]], "validation": [["Q2"]], "test": [["Q3", "Q4", "Q5"]]}
UK = "wiki40b|lang:uk|dump:20260101|lists:none|v:1.0.0"
TEST = {"articles": 3, "words": 200, "characters": 1000, "pieces": 250}


def stats(**of_test: int) -> dict[str, dict[str, int]]:
    one = {"articles": 1, "words": 5, "characters": 0, "pieces": 9}
    return {"train": one, "validation": one, "test": TEST | of_test}


@pytest.fixture
def uk(tmp_path: Path) -> Path:
    return make_build(tmp_path, "uk", IDS, stats=stats(), signature=UK)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys, "score")


def as_published(build: Path, **others: int) -> Path:
    """Makes the manifest say that a build has as many documents as were published, but for some splits."""
    manifest = manifest_of(build)
    kept = {**paper_of(manifest["signature"]).published(manifest), **others}
    seal(build, manifest | {"counts": {"kept": kept}})
    return build


def digest(build: Path) -> str:
    return hashlib.sha256((build / "manifest.json").read_bytes()).hexdigest()[:8]


def test_bits_per_character_and_all_they_were_made_of(uk: Path, run: Command) -> None:
    as_published(uk)
    shown = run("bpc", "--corpus", uk, "--log-likelihood", -1000 * math.log(2)).out
    head, line, *table = shown.splitlines()[:-2]
    assert head.split() == ["what", "value"]
    assert set(line.strip()) == {"─"}
    assert [re.split(" {3,}", row.strip()) for row in table] == [
        ["corpus", "wiki40b|lang:uk|dump:20260101|lists:none|v:1.0.0"],
        ["split", "test"],
        ["log-likelihood", "-693.147 nats"],
        ["scored", "the whole text (assumed: a sum does not show what is in it)"],
        ["characters", "1,000"],
        ["line feeds, included", "– (not counted by this build)"],
        ["bytes", "– (not counted by this build)"],
        ["pieces", "250"],
        ["words", "200"],
        ["documents", "3"],
        ["bits per character", "1.0000"],
        ["equals word-level perplexity", "32.0000"],
        ["paper: bits per character", "0.884 (Guo et al. 2020, table 7, 32k pieces)"],
        ["paper: bits per character", "1.139 (Guo et al. 2020, table 8, 64k pieces)"],
        ["paper: bits per character", "1.105 (Guo et al. 2020, table 9, 128k pieces)"],
        ["note", OTHER_TEXT],
    ]
    assert shown.endswith(
        "\n\nbpc|wiki40b|lang:uk|dump:20260101|lists:none|v:1.0.0|split:test|chars:1000"
        f"|manifest:{digest(uk)}|corpusmill:{VERSION} = 1.0000\n"
    )


@pytest.mark.parametrize("width", [60, 80])
def test_nothing_is_wider_than_the_terminal(
    uk: Path, run: Command, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ["--corpus", uk, "--log-likelihood", -9]
    citation = run("bpc", *flags).out.splitlines()[-1]
    monkeypatch.setenv("COLUMNS", str(width))
    table, lines = run("bpc", *flags).out.split("\n\n")
    assert max(map(len, f"{table}\n{lines}".splitlines())) <= width
    assert "".join(lines.split()) == citation.replace(" ", "")


def test_word_level_perplexity(uk: Path, run: Command) -> None:
    shown = run("perplexity", "--corpus", uk, "--log-likelihood", -1000, "--base", 2).out
    assert re.search("  word-level perplexity +32.0000\n", shown)
    assert re.search("  equals bits per character +1.0000\n", shown)
    assert shown.endswith(
        "perplexity|wiki40b|lang:uk|dump:20260101|lists:none|v:1.0.0|split:test|words:200"
        f"|manifest:{digest(uk)}|corpusmill:{VERSION} = 32.0000\n"
    )


@pytest.mark.parametrize("number", ["-300", "-300.0", "-3e2", "-3.0E+2", "-.3e3", "-3000e-1"])
def test_numbers_may_be_written_in_any_way(uk: Path, number: str, run: Command) -> None:
    assert run("bpc", "--corpus", uk, "--log-likelihood", number, "--base", "10").out.endswith(
        f" = {0.3 * math.log2(10):.4f}\n"
    )


def test_a_perplexity_over_the_pieces_of_the_build(uk: Path, run: Command) -> None:
    assert run("bpc", "--corpus", uk, "--perplexity-per-piece", 16).out.endswith(" = 1.0000\n")


def json_lines(*values: float | list[float]) -> bytes:
    rows = ({"document": at, "log_likelihood": value} for at, value in enumerate(values))
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def test_a_row_for_each_document(uk: Path, tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl.bz2"
    path.write_bytes(bz2.compress(json_lines(-100, -100.0, -100)))
    found = score("bpc", str(uk), "test", log_likelihood=str(path))
    assert found.log_likelihood == pytest.approx(-300)
    assert found.value == pytest.approx(0.3 / math.log(2))


def test_a_list_of_pieces_gives_all_metrics(uk: Path, tmp_path: Path, run: Command) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_bytes(json_lines([-1] * 50, [], [-1] * 200))
    shown = run("bpc", "--corpus", uk, "--log-likelihood", path).out
    assert re.search("  scored +250 log-likelihoods, one per piece\n", shown)
    assert re.search("  equals perplexity per piece +2.7183\n", shown)


def test_a_list_of_words_gives_only_perplexity(uk: Path, tmp_path: Path, run: Command) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_bytes(json_lines([-1] * 50, [], [-1] * 150))
    as_published(uk)
    shown = run("perplexity", "--corpus", uk, "--log-likelihood", path).out
    assert re.search("  word-level perplexity +2.7183\n", shown)
    assert "equals" not in shown
    assert re.search("  paper +– \\(the models of the paper also predict what is between", shown)
    assert "|words:200|scored:words|" in shown
    for metric in ("bpc", "bpb"):
        error = run(metric, "--corpus", uk, "--log-likelihood", path, status=2).err
        assert f"{path}: the lists have one log-likelihood per word" in error


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64(), pa.list_(pa.float32())])
def test_parquet_in_several_files_in_any_order(uk: Path, tmp_path: Path, kind: pa.DataType) -> None:
    for part, documents in enumerate(([2, 0], [1])):
        value: Any = [-1.0] * 100 if pa.types.is_list(kind) else -100.0
        values = [
            [] if document == 1 and pa.types.is_list(kind) else value for document in documents
        ]
        table = pa.table({"document": documents, "log_likelihood": pa.array(values, kind)})
        pq.write_table(table, tmp_path / f"part-{part}.parquet")
    found = score("perplexity", str(uk), "test", log_likelihood=f"{tmp_path}/part-*.parquet")
    assert found.log_likelihood == (-200 if pa.types.is_list(kind) else -300)


@pytest.mark.parametrize("empty", [b"", bz2.compress(b"")])
def test_a_file_without_rows(uk: Path, tmp_path: Path, empty: bytes) -> None:
    (tmp_path / "part-0.jsonl").write_bytes(json_lines(-1, -2, -3))
    (tmp_path / "part-1.jsonl").write_bytes(empty)
    found = score("bpc", str(uk), "test", log_likelihood=f"{tmp_path}/part-*")
    assert found.log_likelihood == -6


def test_a_file_that_leaves_text_out(uk: Path, tmp_path: Path, run: Command) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_bytes(json_lines(-1, -1))
    assert run("bpc", "--corpus", uk, "--log-likelihood", path, status=2).err == (
        f"corpusmill: error: {path}: 1 of 3 documents are missing, the first is 2\n"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"-12.5\n", "text, but must be rows with document and log_likelihood"),
        (
            b'{"document": 0}\n{"document": 1}\n',
            "row 0: not a row of log-likelihoods: Object missing required field `log_likelihood`",
        ),
        (json_lines(-1) + b'{"document', "line at byte 38: Unterminated string"),
        (
            json_lines(-1) + b'{"document": 1, "log_likelihood": null}\n',
            "row 38: not a row of log-l",
        ),
        (b"\x89PNG", "the file is a PNG image; "),
        (b"PAR1 and no more", "not a valid Parquet file: "),
        (bz2.compress(json_lines(-1, -1, -1))[:-9], "damaged or truncated: "),
    ],
)
def test_files_that_are_no_rows(uk: Path, tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "scores"
    path.write_bytes(content)
    said = error_of(InputError, score, "bpc", str(uk), "test", log_likelihood=str(path))
    assert said.startswith(f"{path}: {message}")


NOT_A_ROW = "row 0: not a row of log-likelihoods: "


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"document": [0]}, "missing columns: log_likelihood"),
        ({"document": ["0"], "log_likelihood": [-1.0]}, f"{NOT_A_ROW}Expected `int`, got `str`"),
        ({"document": [0], "log_likelihood": [None]}, f"{NOT_A_ROW}Expected `float | array`"),
        ({"document": [0], "log_likelihood": [[-1.0, None]]}, f"{NOT_A_ROW}Expected `float`"),
    ],
)
def test_tables_that_are_no_rows(
    uk: Path, tmp_path: Path, table: dict[str, list[Any]], message: str
) -> None:
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table(table), path)
    said = error_of(InputError, score, "bpc", str(uk), "test", log_likelihood=str(path))
    assert said.startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("flags", "status", "message"),
    [
        (["--log-likelihood", "300"], 2, "300.0 is not a log-likelihood: it must be finite and"),
        (["--log-likelihood", "nan"], 2, "nan is not a log-likelihood"),
        (
            ["--log-likelihood", "/no/file"],
            1,
            "/no/file: neither a number nor a file: no such file",
        ),
        (["--perplexity-per-piece", "0.5"], 2, "0.5 is not a perplexity, which is at least 1"),
        (
            ["--log-likelihood", "-1", "--split", "validation"],
            2,
            "bits per character cannot be computed: the build did not count the characters of",
        ),
        (
            ["--log-likelihood", "-1", "--split", "dev"],
            2,
            "no such split: 'dev'; there are train, validation, test",
        ),
        (["--log-likelihood", "-1", "--base", "7"], 2, "invalid choice: '7'"),
        (["--log-likelihood"], 2, "expected one argument"),
        ([], 2, "one of the arguments --log-likelihood --perplexity-per-piece is required"),
    ],
)
def test_what_cannot_be_scored(
    uk: Path, flags: list[str], status: int, message: str, run: Command
) -> None:
    assert message in run("bpc", "--corpus", uk, *flags, status=status).err


@pytest.mark.parametrize(
    ("corpus", "status", "message"),
    [
        ("flores101/en-*", 2, "did not count the bytes of test; it can be scored with bpc and"),
        ("ngrams/*", 1, "a build of ngrams has no text to score a model on: use one of wiki40b,"),
    ],
)
def test_what_can_be_scored_is_named(run: Command, corpus: str, status: int, message: str) -> None:
    [folder] = GOLDEN.glob(f"{corpus}/2*")
    flags = ["bpb", "--corpus", folder, "--log-likelihood", -1]
    assert message in run(*flags, status=status).err


def test_a_build_without_counts_of_characters_is_scored_by_words(uk: Path, run: Command) -> None:
    without_stats(uk, {name: count for name, count in TEST.items() if name != "characters"})
    flags = ["--corpus", uk, "--log-likelihood", -1]
    assert "did not count the characters of test; it can be" in run("bpc", *flags, status=2).err
    shown = run("perplexity", *flags).out
    assert re.search("  characters +– ", shown)
    assert "equals bits per character" not in shown


def test_an_unfinished_build(uk: Path, run: Command) -> None:
    (uk / "COMPLETED").unlink()
    message = f"corpusmill: error: {uk}: no finished build in this folder or below\n"
    assert run("bpc", "--corpus", uk, "--log-likelihood", -1, status=1).err == message


def test_the_folder_of_an_edition_stands_for_its_build(uk: Path, run: Command) -> None:
    flags = ["bpc", "--log-likelihood", -1, "--corpus"]
    assert run(*flags, uk.parent).out == run(*flags, uk).out


# Builds whose manifest has no counts: those of stats.json.


def without_stats(uk: Path, of_test: dict[str, Any]) -> Path:
    manifest = manifest_of(uk)
    del manifest["stats"]
    seal(uk, manifest)
    (uk / "stats.json").write_text(to_json(stats() | {"test": of_test}))
    return uk


def test_counts_beside_the_manifest(uk: Path) -> None:
    before = score("bpc", str(uk), "test", log_likelihood="-300")
    after = score("bpc", str(without_stats(uk, TEST)), "test", log_likelihood="-300")
    assert after.value == before.value
    assert after.normalisers == before.normalisers


def test_a_build_without_pieces(uk: Path, run: Command) -> None:
    without_stats(uk, {name: count for name, count in TEST.items() if name != "pieces"})
    assert run("bpc", "--corpus", uk, "--perplexity-per-piece", 16, status=2).err == (
        "corpusmill: error: the number of pieces is not known: the build has no SentencePiece model"
        " (it needs the package sentencepiece): give log-likelihoods instead\n"
    )
    shown = run("bpc", "--corpus", uk, "--log-likelihood", -300).out
    assert re.search("  pieces +– \\(no SentencePiece model\\)\n", shown)
    assert "per piece" not in shown


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            json.dumps(stats(articles=4)),
            "says that the split test has 4 documents, but the manifest says 3",
        ),
        ("{", "not JSON: "),
        ("[" * 100_000, "not JSON: "),
        ("[]", "no such split: 'test'"),
        (
            '{"test": {"words": "x"}}',
            "the counts of the split test lack the keys characters, words, articles",
        ),
        (None, "the build is damaged: "),
    ],
)
def test_counts_that_do_not_fit(uk: Path, content: str | None, message: str) -> None:
    without_stats(uk, TEST)
    (uk / "stats.json").unlink()
    if content:
        (uk / "stats.json").write_text(content)
    said = error_of(InputError, score, "bpc", str(uk), "test", log_likelihood="-300")
    assert said.startswith(f"{uk}/stats.json: {message}")


# The builds of the demo.

DEMO = [
    ("lm1b", "paper_test"),
    ("lm1b", "test"),
    ("pg19", "validation"),
    ("simplebooks", "train_2"),
    ("flores101", "devtest"),
]


def demo_split(demo: Path, corpus: str, split: str) -> tuple[Path, list[str]]:
    """Returns the folder of the build, and the texts of the split."""
    [folder] = (path.parent for path in (demo / corpus).glob("**/COMPLETED"))
    table = pq.read_table(sorted(folder.glob(f"{split}-*.parquet")))
    return folder, table.column("book_text" if corpus == "pg19" else "text").to_pylist()


@pytest.mark.parametrize(("corpus", "split"), [("wiki40b/uk", "train"), *DEMO])
def test_every_corpus_and_split_of_the_demo_can_be_scored(
    demo: Path, tmp_path: Path, corpus: str, split: str
) -> None:
    """A model that knows the bytes and no more: eight bits each, however they are counted."""
    folder, texts = demo_split(demo, corpus, split)
    is_line = corpus == "lm1b"  # whose line feeds are counted, and not in the tables
    path = tmp_path / "rows.jsonl"
    bytes_of = [len(text.encode()) + is_line for text in texts]
    path.write_bytes(json_lines(*(-8.0 * count for count in bytes_of)))
    found = score("bpc", str(folder), split, log_likelihood=str(path), base="2")
    counts = found.normalisers
    assert found.value == pytest.approx(8 * sum(bytes_of) / counts.characters)
    assert counts.documents == len(texts)
    assert counts.words > 10
    if counts.text_bytes:
        of_bytes = score("bpb", str(folder), split, log_likelihood=str(path), base="2")
        assert of_bytes.value == pytest.approx(8)
    if counts.ends:
        lines = len(texts) if is_line else sum(text.count("\n") for text in texts)
        assert counts.ends == counts.line_feeds == lines


@pytest.mark.parametrize(("corpus", "split"), [*DEMO, ("simplebooks", "validation")])
def test_a_number_per_word_is_divided_by_the_words_it_was_given_for(
    demo: Path, tmp_path: Path, run: Command, corpus: str, split: str
) -> None:
    """All log-likelihoods are -4.5, so every true perplexity is e^4.5, and a diluted one is refused."""
    folder, texts = demo_split(demo, corpus, split)
    path = tmp_path / "rows.jsonl"
    has_ends = corpus in ("lm1b", "simplebooks")
    ends = [max(text.count("\n"), 1) if has_ends else 0 for text in texts]
    lists = [[-4.5] * (len(text.split()) + end) for text, end in zip(texts, ends, strict=True)]
    path.write_bytes(json_lines(*lists))
    flags = ["perplexity", "--corpus", folder, "--split", split, "--log-likelihood", path]
    assert run(*flags).out.endswith(" = 90.0171\n")
    if has_ends:
        path.write_bytes(json_lines(*([-4.5] * len(text.split()) for text in texts)))
        assert f"but none for the {sum(ends):,} ends of lines" in run(*flags, status=2).err


def test_perplexity_is_also_over_the_words_of_the_paper(tmp_path: Path, run: Command) -> None:
    counts = {"books": 100, "words": 7_000_000, "characters": 40_000_000}
    signature = "pg19|lang:en|members:released|before:1919|min-words:200|v:1.3.0"
    build = make_build(
        tmp_path, "en", {}, corpus="pg19", stats={"test": counts}, signature=signature
    )
    flags = ["--corpus", build, "--log-likelihood", -2 * 6_966_499]
    numbers = "train 0 of 28,602, validation 0 of 50, test 0 of 100"
    for metric, name in (("perplexity", "paper, and its number of words"), ("bpc", "paper")):
        why_not = f"  {name} +– \\(not the published numbers of documents: {numbers}\\)\n"
        assert re.search(why_not, run(metric, *flags).out)
    over = f"  word-level perplexity over the 6,966,499 words of the paper   {math.exp(2):.4f}\n"
    shown = run("perplexity", "--corpus", as_published(build, train=28_601), *flags[2:]).out
    assert over in shown
    assert re.search("  paper +– .*train 28,601 of 28,602", shown)
    shown = run("perplexity", "--corpus", as_published(build), *flags[2:]).out
    assert over in shown
    assert "  33.6 (Rae et al. 2020, Compressive Transformer, 36 layers)\n" in shown


NEWS = {
    "heldout_shards": [],
    "paper_test": {"sentences": 2, "words": 5, "characters": 12, "text_bytes": 13},
}


@pytest.mark.parametrize(
    ("setting", "why_not"),
    [
        ("lang:en|perl:5.14|map-unknown:yes", ""),
        ("lang:de", "--language de"),
        ("lang:en|lower-case:yes", "--lower-case"),
        ("lang:en|shards:10|heldout-shards:5", "--shards 10, --heldout-shards 5"),
    ],
)
def test_scores_of_the_paper_stand_beside_its_settings_only(
    tmp_path: Path, run: Command, setting: str, why_not: str
) -> None:
    signature = f"lm1b|{setting}|v:1.0.0"
    build = make_build(tmp_path, "en", {}, corpus="lm1b", stats=NEWS, signature=signature)
    as_published(build)
    flags = ["--corpus", build, "--split", "paper_test", "--log-likelihood", -30]
    shown = run("perplexity", *flags).out
    assert "|words:5+ends:2|" in shown
    assert shown.endswith(f" = {math.exp(30 / 7):.4f}\n")
    has_figures = "67.6 (Chelba et al. 2013, table 1, interpolated Kneser-Ney 5-gram)\n" in shown
    assert has_figures == (not why_not)
    assert (OTHER_TEXT in shown) == (not why_not)
    assert shown.count(f" – (not the paper's settings: {why_not})\n") == bool(why_not)
