"""`corpusmill contamination`: evaluation sets and training data of all kinds, and a known truth."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.inspect.contamination import (
    Contamination,
    SplitCounts,
    find_contamination,
)
from corpusmill.pipelines.inspect.inspect_commands import Search
from corpusmill.transforms.duplicates import find_contamination as find_module
from tests.makers.edition_builds import article, make_edition
from tests.makers.sentence_builds import make_sentence_build
from tests.makers.wiki_builds import Command
from tests.tools import planted_leaks
from tests.tools.case_tables import read_cases
from tests.tools.real_data import needs_real_data

SENTENCE = "The old bridge across the river in Tarnholt was closed on Monday after the flood."
NEWS = "Few of the other words in here are new ."
FLORES = ("Стара бруківка на річці, що тече повз місто, була закрита в понеділок.", SENTENCE)


def search(*arguments: Any, **means: Any) -> Contamination:
    """Runs in this process, unless `means` say otherwise."""
    return find_contamination(Search(*arguments), **{"workers": 1, **means})


def write_rows(path: Path, rows: list[dict[str, Any]]) -> str:
    """Rows as Parquet or JSON lines, by the name of the file."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=50)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def read_report(path: Path) -> list[dict[str, Any]]:
    """The rows of a report."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


KINDS: dict[str, Callable[[str, random.Random], str]] = {
    "whole": planted_leaks.same,
    "inside": planted_leaks.same,
    "cut": lambda text, _: text[: len(text) // 2],
    "changed": planted_leaks.change,
    "quoted": lambda text, _: f"“{text.upper()}”",
    "in lines": planted_leaks.wrap,
    "short line": lambda text, _: f"\n{text}\n",
}


class Item(NamedTuple):
    id: str
    kind: str  # a key of KINDS; "" for an item that is in no document
    text: str
    document: str


def made_truth(folder: Path) -> tuple[list[Item], list[str], str]:
    """Planted items; training data in two files of two kinds, and the evaluation set."""
    chance = random.Random(0)
    documents = [" ".join(f"d{number}w{place}" for place in range(60)) for number in range(140)]
    items = []
    for number, place in enumerate(chance.sample(range(len(documents)), 98)):
        kind = list(KINDS)[number % len(KINDS)]
        text = " ".join(f"t{number}w{at}" for at in range(24))
        text = f"Short {number} is, well" if kind == "short line" else text
        if number < 70:
            words = [] if kind == "whole" else documents[place].split()
            words.insert(chance.randrange(61), KINDS[kind](text, chance))
            documents[place] = " ".join(words)
        items.append(Item(f"{number:02}", kind if number < 70 else "", text, str(place)))
    rows = [{"id": str(number), "text": text} for number, text in enumerate(documents)]
    train = [
        write_rows(folder / "train-0.parquet", rows[:80]),
        write_rows(folder / "train-1.jsonl", rows[80:]),
    ]
    evaluation = [{"id": item.id, "text": item.text} for item in items]
    return items, train, write_rows(folder / "test.jsonl", evaluation)


@pytest.mark.parametrize("block_characters", [500, 1 << 18])
def test_a_known_truth(
    block_characters: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find_module, "BLOCK_CHARACTERS", block_characters)
    items, train, evaluation = made_truth(tmp_path)
    found = search(train, [evaluation], output=str(tmp_path / "found"))
    rows = {row["id"]: row for row in read_report(tmp_path / "found/found.jsonl")}
    searched = [item for item in items if item.kind not in ("", "short line")]
    assert set(rows) == {item.id for item in searched}
    for item in searched:
        assert rows[item.id]["passages"][0]["document"] == item.document
        assert (rows[item.id]["whole"] == 1) == (item.kind not in ("cut", "changed"))
        assert rows[item.id]["tier"] == ("partly" if item.kind == "cut" else "copied")
    counts = found.splits["test.jsonl", "test"]
    assert counts[:4] == (98, 10 * (len(KINDS) - 2), 10, 0)
    assert counts.too_short == sum(item.text.startswith("Short") for item in items)
    assert (found.train["documents"], found.is_clean) == (140, False)


def test_data_with_a_part_of_an_item_is_not_clean() -> None:
    for tier, is_clean in (("common", True), ("partly", False), ("copied", False)):
        counts = SplitCounts(items=2)._replace(**{tier: 1})
        assert Contamination({("set", "test"): counts}, {}, {}, ()).is_clean == is_clean


@pytest.mark.slow
def test_two_workers_write_the_same_bytes(tmp_path: Path) -> None:
    _, train, evaluation = made_truth(tmp_path)
    reports = []
    for workers, order in ((1, 1), (2, -1)):
        folder = tmp_path / f"found-{workers}"
        search(train[::order], [evaluation], workers=workers, output=str(folder))
        reports.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert reports[0] == reports[1]
    assert len(reports[0]) == 7


def test_builds_and_flores(tmp_path: Path) -> None:
    wiki = make_edition(
        tmp_path,
        {"train": [[article("Q1", f"Text.\n_NEWLINE_{FLORES[0]}_NEWLINE_x")], [article("Q2")]],
         "validation": [[article("Q3", SENTENCE)]], "test": [[article("Q2")]]},
    )  # fmt: skip
    news = make_sentence_build(
        tmp_path, [b"Held out .\n", f"{SENTENCE}\n{NEWS}\n".encode()], [f"{NEWS}\nToo .\n".encode()]
    )
    for split, language, text in (("devtest", "ukr", FLORES[0]), ("devtest", "eng", FLORES[1])):
        file = tmp_path / "flores" / split / f"{language}.{split}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"Nothing of this\n{text}\n")
    flores = str(tmp_path / "flores")
    report = tmp_path / "found"
    found = search([str(wiki)], [flores, str(wiki), str(news)], output=str(report))
    assert found.splits == {
        ("flores", "devtest eng"): SplitCounts(2, too_short=1),
        ("flores", "devtest ukr"): SplitCounts(2, 1, 0, 0, 0, 1),
        ("wiki40b/uk/20260101-1.0.0", "validation"): SplitCounts(1),
        ("wiki40b/uk/20260101-1.0.0", "test"): SplitCounts(1, too_short=1),
        ("lm1b/en/2007-2011-1.0.0", "test"): SplitCounts(2, too_short=1),
    }
    (row,) = read_report(report / "found.jsonl")
    assert (row["id"], row["passages"][0]["document"]) == ("2", "Q1")
    found = search([str(news)], [f"NEWS={flores}#eng", str(news)])
    assert found.splits["NEWS", "devtest eng"] == SplitCounts(2, 1, 0, 0, 1, 1)
    assert found.splits["lm1b/en/2007-2011-1.0.0", "test"] == SplitCounts(2, 1, 0, 0, 0, 1)


def test_the_screen(tmp_path: Path, run: Command) -> None:
    (tmp_path / "train.txt").write_text(f"x\nHe said: “{SENTENCE.upper()}”\nx\n")
    rows = [{"q": SENTENCE, "a": "?"}, {"q": "No bridge.", "a": "Oldmere"}]
    evaluation = write_rows(tmp_path / "quiz.jsonl", rows)
    given = ["contamination", "--train", tmp_path / "train.txt", "--eval", f"Quiz={evaluation}#q,a"]
    lines = run(*given, "--workers", "1", status=1).out.splitlines()
    assert lines[0] == "training data: 3 documents, 19 words, 0.0 MB"
    assert lines[1] == "items left out: 1 Quiz/no-words"
    assert "Quiz quiz 3 1 0 0 1 2".split() in [line.split() for line in lines]
    assert lines[-4:] == [
        "items that cannot be searched (fewer than 8 words of two letters): 2",
        "copied: 100% of 15 words, 15 in a row: quiz 0/q",
        "  The old bridge across the river in Tarnholt was closed on Monday …",
        "  documents: 1; train.txt 2",
    ]
    out = run(*given, "--workers", "1", "--json", "--ngram-words", "16", status=1).out
    assert json.loads(out)["total"] == {
        "items": 3, "copied": 1, "partly": 0, "common": 0, "long": 1, "too_short": 2
    }  # fmt: skip
    lines = run(*given, "--workers", "1", "--whole-files", status=1).out.splitlines()
    assert lines[0].startswith("training data: 1 documents")


@pytest.mark.parametrize(("lacking", "is_said"), [(1, False), (2, True)])
def test_rows_that_lack_the_field_are_counted_and_many_of_them_are_said(
    lacking: int, is_said: bool, tmp_path: Path, run: Command
) -> None:
    rows = [{"text": SENTENCE}] * (11 - lacking) + [{"body": SENTENCE}] * lacking
    train, found = write_rows(tmp_path / "train.jsonl", rows), tmp_path / "found"
    write_rows(tmp_path / "set.jsonl", [{"text": SENTENCE}])
    given = ["--train", train, "--eval", tmp_path / "set.jsonl", "--output", found]
    out = run("contamination", *given, "--workers", "1").out
    assert f"{11 - lacking} documents" in out
    assert f"{lacking} rejected/no-field" in out
    said = f"{lacking} of 11 texts of training data are missing"
    assert (said in " ".join(out.split())) == is_said
    for name in ("README.md", "found.html"):
        assert (said in (found / name).read_text()) == is_said


def test_the_page(tmp_path: Path, run: Command) -> None:
    (tmp_path / "train.txt").write_text(
        "<b>Now</b> “one, TWO three & four five six seven eight” x\n"
    )
    (tmp_path / "set.txt").write_text("one two three & four five six seven eight <end>\nother\n")
    found = tmp_path / "found"
    given = ["--train", tmp_path / "train.txt", "--eval", tmp_path / "set.txt", "--output", found]
    run("contamination", *given, "--workers", "1", status=1)
    text = (found / "found.html").read_text("utf-8")
    assert "<p><mark>one two three &amp; four five six seven eight</mark> &lt;end&gt;</p>" in text
    assert "Now&lt;/b&gt; “<mark>one, TWO three &amp; four five six seven eight</mark>” x" in text
    assert "<h3>set.txt set 1</h3>" in text


@pytest.mark.parametrize("ngram_words", [2, 8, 13, 14, 15, 16, 17, 40])
def test_no_length_of_ngrams_hides_an_item(ngram_words: int, tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(60)]
    items = [words[:16], words[16:40], words[40:]]
    seen = items[0], items[1][:14], items[2][:9]
    (tmp_path / "items").write_text("".join(" ".join(item) + "\n" for item in items))
    (tmp_path / "train").write_text(f"He said {' also '.join(map(' '.join, seen))}, and left.\n")
    found = search([str(tmp_path / "train")], [str(tmp_path / "items")], ngram_words)
    total = SplitCounts(3, 1, 1, ngram_words <= 9, 2)
    assert found.total == total


@needs_real_data
def test_leaks_are_copied_and_stock_texts_are_not(tmp_path: Path) -> None:
    found = planted_leaks.search(planted_leaks.plant(0, 1000), tmp_path / "set")
    leaks = {kind: {"copied": count} for kind, (count, *_) in planted_leaks.LEAKS.items()}
    stock = {kind: {"common": 40} for kind in planted_leaks.STOCK}
    assert {kind: dict(found[kind]) for kind in (*leaks, *stock)} == leaks | stock


TRIVIAL = (
    "History", "2 + 2 = ?", "Reuter", "All of the above", "True or false?", "a b c d e f g h i j k l m n",
    "None of these answers is correct", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", "ប្រវត្តិសាស្ត្រ",
    "នឹងត្រូវបិទនៅថ្ងៃច័ន្ទ", "ประวัติศาสตร์ไทย", "ປະຫວັດສາດ", "သမိုင်း", "歴史", "中华人民共和国", "東京都の歴史について",
)  # fmt: skip


@pytest.mark.parametrize("ngram_words", [2, 8, 20])
def test_items_that_are_too_short_are_neither_found_nor_clean(
    ngram_words: int, tmp_path: Path, run: Command
) -> None:
    (tmp_path / "train").write_text("\n".join(TRIVIAL) + "\n")
    (tmp_path / "items").write_text("\n".join([*TRIVIAL, SENTENCE]) + "\n")
    found = search(
        [str(tmp_path / "train")],
        [str(tmp_path / "items")],
        ngram_words,
        output=str(tmp_path / "found"),
    )
    assert found.total == SplitCounts(len(TRIVIAL) + 1, too_short=len(TRIVIAL))
    assert not read_report(tmp_path / "found/found.jsonl")
    assert not pq.read_table(next((tmp_path / "found").glob("hits-*.parquet"))).num_rows
    (tmp_path / "items").write_text("\n".join(TRIVIAL) + "\n")
    given = ["--train", tmp_path / "train", "--eval", tmp_path / "items", "--workers", "1"]
    error = run("contamination", *given, status=1).err
    assert "items: all 16 items are too short to tell" in error


KHMER = "ក្រុមប្រឹក្សាភូមិបានប្រកាសថាស្ពានចាស់ឆ្លងកាត់ទន្លេនឹងត្រូវបិទនៅថ្ងៃច័ន្ទដើម្បីជួសជុល។"
KHMER_MARKET = "ទីផ្សារធំក្នុងទីក្រុងនឹងត្រូវបិទនៅថ្ងៃច័ន្ទសម្រាប់ពិធីបុណ្យប្រចាំឆ្នាំរបស់អ្នកភូមិ។"
THAI = "สะพานเก่าข้ามแม่น้ำจะปิดในวันจันทร์หน้าเพื่อซ่อมแซมหลังจากน้ำท่วมใหญ่เมื่อปีที่แล้ว"
THAI_MARKET = "ตลาดใหญ่กลางเมืองจะปิดในวันจันทร์หน้าเพื่อทำความสะอาดและเตรียมงานประจำปี"
JAPANESE = (
    "川にかかる古い橋は、先週の洪水のあと、月曜日から修理のために閉鎖されることになりました。"
)
JAPANESE_MARKET = "町の大きな市場は、月曜日から改装のために閉鎖されることになりました。"


@pytest.mark.parametrize(
    ("sentence", "other"),
    [(KHMER, KHMER_MARKET), (THAI, THAI_MARKET), (JAPANESE, JAPANESE_MARKET)],
    ids=["Khmer", "Thai", "Japanese"],
)
def test_a_phrase_in_a_script_without_spaces_is_no_hit(
    sentence: str, other: str, tmp_path: Path
) -> None:
    (tmp_path / "train").write_text(f"{other}\nBefore {sentence} After\n")
    (tmp_path / "items").write_text(f"{sentence}\n")
    output = tmp_path / "found"
    found = search([str(tmp_path / "train")], [str(tmp_path / "items")], output=str(output))
    assert found.total[:4] == (1, 1, 0, 0)
    (row,) = read_report(output / "found.jsonl")
    assert row["documents"] == row["copied"] == 1
    (hit,) = pq.read_table(next(output.glob("hits-*.parquet"))).to_pylist()
    assert hit["start"] == len("Before ")
    assert hit["document"] == str(len(f"{other}\n".encode()))


@pytest.mark.parametrize(
    ("train", "evaluation", "status", "message"), read_cases("pipelines/contamination", "errors")
)
def test_errors(
    train: str, evaluation: str, status: int, message: str, tmp_path: Path, run: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("some text\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "flores" / "dev").mkdir(parents=True)
    (tmp_path / "flores" / "dev" / "eng.dev").write_text("a\n")
    write_rows(tmp_path / "rows.jsonl", [{"q": "?"}])
    given = ["--train", train, "--eval", *evaluation.split(), "--workers", "1"]
    assert message in run("contamination", *given, status=status).err
