"""The method of SimpleBooks on the bundled sample: what is kept, what is not, and where it stands."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.simplebooks_settings import VERSION
from corpusmill.transforms.books import read_books, take_simplest
from corpusmill.transforms.books.simplebooks_rows import SIZES, plan_sizes
from corpusmill.transforms.files.builds import write_manifest
from corpusmill.transforms.files.text import SPLITS
from tests.makers.book_builds import (
    KEPT,
    LIBRARY,
    BookBuild,
    build_simplebooks,
    expected_fates,
    pack_sample,
)
from tests.makers.wiki_builds import outputs_below, run_cli

EDITION = "en-min-ratio-0.3-heldout-books-2-small-tokens-5000"
FILES = {"train": "train.txt", "validation": "valid.txt", "test": "test.txt"}
CONSIDERED = ("strip-books", "screen-books", "measure-books", "select-books", KEPT)
HELDOUT, SMALL_TOKENS = 2, 5000  # of the settings of the demo


@pytest.fixture(scope="module")
def sample(demo: Path) -> BookBuild:
    return BookBuild(demo / "simplebooks" / EDITION / f"20260101-{VERSION}")


def test_every_file_is_kept_or_rejected_as_its_author_says(sample: BookBuild) -> None:
    assert sample.fates() == expected_fates("simplebooks")


def test_every_book_that_was_considered_is_listed_once(sample: BookBuild) -> None:
    listed = [(row["book_id"], row["verdict"]) for row in sample.table("books")]
    assert listed == [
        (book_id, fate)
        for book_id, fate in expected_fates("simplebooks")
        if fate.startswith(CONSIDERED)
    ]


def test_the_list_says_what_each_book_was_judged_by(sample: BookBuild) -> None:
    rows = {int(row["book_id"]): row for row in sample.table("books")}
    for row in rows.values():
        if row["tokens"]:
            length, different = int(row["tokens"]), int(row["vocabulary"])
            assert float(row["ratio"]) == pytest.approx(length / different**1.35, rel=1e-5)
            if not row["verdict"].startswith("screen-books"):
                is_simple = length / different**1.35 >= 0.3
                assert is_simple == (row["verdict"] != "measure-books/ratio-too-low")
    assert rows[90016]["covered_by"] == "90015:0.3722"
    assert rows[90013]["covered_by"].startswith("90014:0.9")
    assert {rows[n]["covered_by"].split(":")[0] for n in (90005, 90008, 90010)} == {"90011"}


@pytest.mark.parametrize("size", SIZES)
def test_the_lines_of_the_layout_are_those_of_the_rows(sample: BookBuild, size: str) -> None:
    small = {"train": "train_2"} if size == SIZES[1] else {}
    for split, name in FILES.items():
        rows = sample.rows(small.get(split, split))
        texts = {"": "text", "-raw": "raw_text"}
        found = {form: sample.lines(f"{size}{form}/{name}") for form in texts}
        for form, field in texts.items():
            expected = [line for row in rows for line in row[field].split("\n")[:-1]]
            assert Counter(found[form]) == Counter(expected)
        assert len(found[""]) == len(found["-raw"]) == sample.stats[size]["splits"][split]["lines"]
        for tokens, raw in zip(found[""], found["-raw"], strict=True):
            assert tokens.replace(" ", "") == raw.replace(" ", "").replace("_", "")
            assert tokens == " ".join(tokens.split())
            assert tokens.strip()


def test_the_list_says_where_each_book_begins(sample: BookBuild) -> None:
    rows = sample.all_rows()
    layout = {
        (split, form): sample.lines(f"simplebooks-92{form}/{name}")
        for split, name in FILES.items()
        for form in ("", "-raw")
    }
    counted: Counter[str] = Counter()
    for place in sample.table("books"):
        if place["verdict"] != KEPT:
            assert (place["split"], place["first_line"], place["lines"]) == ("", "", "")
            continue
        row, first = rows[int(place["book_id"])], int(place["first_line"])
        assert row["split"] == place["split"]
        for form, field in (("", "text"), ("-raw", "raw_text")):
            lines = layout[place["split"], form][first - 1 : first - 1 + int(place["lines"])]
            assert "".join(f"{line}\n" for line in lines) == row[field]
        counted[place["split"]] += int(place["lines"])
    assert counted == {split: len(layout[split, ""]) for split in SPLITS}


def test_the_sizes_are_planned_for_all_books_together(sample: BookBuild) -> None:
    rows = sample.all_rows()
    tokens = {book_id: len(row["text"].split()) for book_id, row in rows.items()}
    plan = plan_sizes(list(tokens.items()), HELDOUT, SMALL_TOKENS)
    listed = {
        int(row["book_id"]): (row["split"], row["in_simplebooks_2"] == "yes")
        for row in sample.table("books")
        if row["verdict"] == KEPT
    }
    assert listed == plan
    assert {book_id: row["split"] for book_id, row in rows.items()} == {
        book_id: placement.split for book_id, placement in plan.items()
    }
    small = {row["book_id"] for row in sample.rows("train_2")}
    assert small == {one for one, place in plan.items() if place == ("train", True)}
    assert 2500 < sum(tokens[book_id] for book_id in small) <= SMALL_TOKENS


def test_the_vocabularies_are_those_of_the_training_books(sample: BookBuild) -> None:
    for size in SIZES:
        lines = sample.lines(f"vocabulary-{size.rpartition('-')[2]}.tsv")
        words = Counter(" ".join(sample.lines(f"{size}/train.txt")).split())
        frequent = {word: count for word, count in words.items() if count >= 3}
        assert {line.split("\t")[0]: int(line.split("\t")[1]) for line in lines} == frequent
        figures = sample.stats[size]
        assert figures["vocabulary_words"] == len(frequent)
        train = figures["splits"]["train"]
        assert (train["tokens"], train["out_of_vocabulary"]) == (
            words.total(),
            words.total() - sum(frequent.values()),
        )
        with_eos = words.total() + len(sample.lines(f"{size}/train.txt"))
        assert train["tokens_with_eos"] == with_eos
        assert figures["vocabulary_with_unk_and_eos"] == len(frequent) + 2
        frequency = with_eos / (len(frequent) + 2)
        assert figures["tokens_per_vocabulary_word"] == round(frequency, 2)


def test_the_accounts(sample: BookBuild) -> None:
    sample.check_accounts("simplebooks")
    kept = dict(sample.manifest["counts"]["kept"])
    total = kept.pop("total")
    assert kept == {split: len(sample.rows(split)) for split in (*SPLITS, "train_2")}
    assert (kept["train"], kept["validation"], kept["test"]) == (total - 4, 2, 2)


# The same bytes always.


@pytest.mark.slow
def test_two_workers_give_the_same_of_books_in_another_order_and_packing(
    sample: BookBuild, tmp_path: Path
) -> None:
    again = build_simplebooks(tmp_path / "again", [pack_sample(tmp_path, "tar.gz")], workers=2)
    assert again.tree_but_names() == sample.tree_but_names()
    assert again.rejected_by_base_name() == sample.rejected_by_base_name()


@pytest.mark.slow
def test_a_build_that_breaks_off_at_its_end_finds_its_texts_again(
    sample: BookBuild,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(write_manifest, "make_texts", None)
        with pytest.raises((TypeError, RuntimeError), match="not callable"):
            build_simplebooks(tmp_path)
    monkeypatch.setattr(read_books, "plan_units", None)  # whoever reads books would break off, too
    monkeypatch.setattr(take_simplest, "tokenize_book", None)
    with caplog.at_level("INFO"):
        resumed = build_simplebooks(tmp_path)
    assert "stage 1 of 3, gather: already finished" in caplog.text
    assert "stage 2 of 3, choose: already finished" in caplog.text
    assert resumed.tree() == sample.tree()


# Variants.


@pytest.mark.slow
def test_the_simplest_books_up_to_a_target(sample: BookBuild, tmp_path: Path) -> None:
    """Books that overlap larger ones are dropped before, and those that are not simple before these."""
    target = 17_000
    how: dict[str, Any] = {"formula": "L/V^2", "min_ratio": "auto", "heldout_books": 1}
    built = build_simplebooks(tmp_path, target_tokens=target, **how)
    rows = {int(row["book_id"]): row for row in built.table("books")}
    come_so_far = {
        book_id
        for book_id, row in rows.items()
        if row["ratio"] and not row["verdict"].startswith("screen-books")
    }
    in_order = sorted(come_so_far, key=lambda one: -float(rows[one]["ratio"]))
    assert in_order[-1] == 90022
    assert rows[90022]["verdict"] == "measure-books/ratio-too-low"
    for book_id in (90005, 90008, 90010, 90013):
        assert rows[book_id]["verdict"] == "select-books/overlaps"
    judged = [rows[book_id]["verdict"] for book_id in in_order[:-1]]
    verdicts = [verdict for verdict in judged if not verdict.startswith("select-books")]
    taken = verdicts.index("take-simplest/beyond-target-tokens")
    assert set(verdicts[taken:]) == {"take-simplest/beyond-target-tokens"}
    assert set(verdicts[:taken]) == {KEPT}
    assert len(verdicts) == len(judged) - 4
    before = sample.all_rows()
    texts = {book_id: row["text"] for book_id, row in built.all_rows().items()}
    assert {one: before[one]["text"] for one in texts if one in before} == {
        one: text for one, text in texts.items() if one in before
    }
    tokens = sum(len(text.split()) for text in texts.values())
    assert target - 4000 < tokens <= target
    edition = f"en-formula-L-V2-target-tokens-{target}-heldout-books-1-small-tokens-5000"
    assert built.folder.parts[-2] == edition
    assert "|min-ratio:auto|" in built.manifest["signature"]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> BookBuild:
    """By the formula that the paper prints, with its marks of numbers, and by one of four n-grams."""
    folder = tmp_path_factory.mktemp("printed")
    library = pack_sample(folder, "loose")
    (tall_tree,) = library.rglob("90038.txt")
    content = tall_tree.read_bytes().replace(b" tree ", b" tree of 1,200 leaves and 3.5 yards ", 1)
    tall_tree.write_bytes(content)
    how: dict[str, Any] = {"formula": "L/sqrt(V)", "number_style": "comma", "estimate": 4}
    return build_simplebooks(folder / "output", [library], **how)


@pytest.mark.slow
def test_by_the_printed_formula_every_book_is_simple(sample: BookBuild, printed: BookBuild) -> None:
    others = {"90022": KEPT}
    expected = expected_fates("simplebooks")
    fates = {(one.rpartition("/")[2], fate) for one, fate in printed.fates()}
    assert fates == {(one.rpartition("/")[2], others.get(one, fate)) for one, fate in expected}
    row = next(row for row in printed.table("books") if row["book_id"] == "90022")
    assert float(row["ratio"]) == pytest.approx(
        int(row["tokens"]) / int(row["vocabulary"]) ** 0.5, rel=1e-5
    )
    assert printed.manifest["settings"]["formula"] == "L/sqrt(V)"
    assert "-formula-L-sqrtV-" in printed.folder.parts[-2]


def test_an_estimate_counts_fewer_ngrams(sample: BookBuild, printed: BookBuild) -> None:
    exact, estimated = (
        sum(int(row["ngrams"] or 0) for row in build.table("books")) for build in (sample, printed)
    )
    assert 0.8 < 4 * estimated / exact < 1.2


@pytest.mark.slow
def test_unknown_tokens_are_marked_by_the_vocabulary_of_each_size(
    sample: BookBuild, tmp_path: Path
) -> None:
    marked = build_simplebooks(tmp_path, map_unknown=True)
    assert marked.folder.parts[-2].endswith("-map-unknown")
    for size in SIZES:
        lines = sample.lines(f"vocabulary-{size.rpartition('-')[2]}.tsv")
        known = {line.split("\t")[0] for line in lines}
        for name in FILES.values():
            expected = [
                " ".join(word if word in known else "<unk>" for word in line.split())
                for line in sample.lines(f"{size}/{name}")
            ]
            assert marked.lines(f"{size}/{name}") == expected
            assert marked.lines(f"{size}-raw/{name}") == sample.lines(f"{size}-raw/{name}")
        assert marked.stats[size] == sample.stats[size]
    assert any("<unk>" in row["text"] for row in marked.rows("train_2"))


def test_numbers_are_marked_as_the_paper_prints_it(printed: BookBuild) -> None:
    row = printed.all_rows()[90038]
    assert "of 1,200 leaves and 3.5 yards" in row["raw_text"]
    assert "of 1 @,@ 200 leaves and 3 @,@ 5 yards" in row["text"]


# Errors.


@pytest.mark.slow
def test_too_few_books_are_an_error_that_tells_how_many_and_leaves_no_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    books = LIBRARY / "txt-files.tar.zip"
    output = tmp_path / "output"
    assert run_cli("simplebooks", "--books", books, "--output", output, "--workers", 1) == 1
    shown = capsys.readouterr().err
    assert re.search(
        r"corpusmill: error: books: \d+ books are left, but 11 are needed: 5 each for", shown
    )
    assert outputs_below(tmp_path) == []
