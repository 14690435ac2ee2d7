"""The method of PG-19 on the bundled sample: what is kept, what is not, and when it was published."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.book_build import NO_CATALOG
from corpusmill.pipelines.pg19 import Pg19
from corpusmill.pipelines.pg19_settings import VERSION, Pg19Config
from corpusmill.transforms.books.book_accounts import identity_of
from corpusmill.transforms.books.publication_dates import AUTHOR_DEATH
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.text import SPLITS, fingerprint, split_of
from tests.makers import book_samples
from tests.makers.book_builds import (
    GUTENBERG,
    KEPT,
    LIBRARY,
    BookBuild,
    build_pg19,
    expected_fates,
    expected_files,
    pack_sample,
)
from tests.makers.book_samples import ExpectedFile
from tests.makers.wiki_builds import files_below, outputs_below

EDITION = "en-members-hash-mask-words-833e0eac"
RELEASED = {
    int(line.split(",")[0]): line.split(",")[2]
    for line in (GUTENBERG / "metadata.csv").read_text("utf-8").splitlines()
}
FRENCH = 90028
RELEASED[FRENCH] = "1901"
BOOKS = {book.number: book for book in book_samples.load_books(GUTENBERG)}
MASKED = {90006: "A <DW> horse in my beans!", 90012: "You <DW> old dog"}


@pytest.fixture(scope="module")
def sample(demo: Path) -> BookBuild:
    return BookBuild(demo / "pg19" / EDITION / f"20260101-{VERSION}")


def test_every_file_is_kept_or_rejected_as_its_author_says(sample: BookBuild) -> None:
    assert sample.fates() == expected_fates("pg19")


def years_of(file: ExpectedFile) -> tuple[str, str]:
    """The year of publication and the latest possible year, of which one is ""."""
    year = str(file.year or "")
    return ("", year) if file.source == AUTHOR_DEATH else (year, "")


def test_the_years_are_those_that_the_author_says(sample: BookBuild) -> None:
    dated = {
        row["book_id"]: (row["publication_date"], str(row["latest_year"] or ""), row["date_source"])
        for row in sample.all_rows().values()
    }
    assert dated == {
        book_id: (*years_of(file), file.source)
        for book_id, file in expected_files().items()
        if file.pg19 == KEPT
    }
    assert dated[90020] == ("", "1901", AUTHOR_DEATH)


def test_every_dated_book_is_in_the_list_of_dates(sample: BookBuild) -> None:
    listed = {
        int(row["book_id"]): (row["year"], row["latest_year"], row["source"])
        for row in sample.table("dates")
    }
    assert listed == {
        book_id: (*years_of(file), file.source)
        for book_id, file in expected_files().items()
        if file.pg19 == KEPT or file.pg19.startswith("date-books/")
    }
    sources = Counter(source or "nothing" for *_, source in listed.values())
    dates = sample.stats["dates"]
    assert dates["dated_by"] | dates["latest_year_by"] == sources
    assert dates["latest_year_by"].keys() == {AUTHOR_DEATH}


def test_texts_are_whole_and_have_nothing_of_the_frame(sample: BookBuild) -> None:
    for row in sample.all_rows().values():
        book = BOOKS[row["book_id"]]
        text = row["book_text"]
        assert row["book_link"] == f"http://www.gutenberg.org/ebooks/{book.number}"
        assert not re.search(r"Gutenberg|Produced by|Transcriber", text)
        if book.number not in MASKED:  # as it was written but for blank lines
            assert text.split() == book.text.split()


def test_words_of_the_list_are_masked(sample: BookBuild) -> None:
    rows = sample.all_rows()
    masked = {
        book_id: row["book_text"] for book_id, row in rows.items() if "<DW>" in row["book_text"]
    }
    assert masked.keys() == MASKED.keys()
    for book_id, text in masked.items():
        assert MASKED[book_id] in text
        words = BOOKS[book_id].text.replace("fuddlewick", "<DW>").replace("snorpish", "<DW>")
        assert text.split() == words.split()
    assert sample.stats["masked_words"] == 2


def test_the_accounts(sample: BookBuild) -> None:
    sample.check_accounts("pg19")
    for split in SPLITS:
        texts = [row["book_text"] for row in sample.rows(split)]
        assert sample.manifest["counts"]["kept"][split] == len(texts) > 0
        lengths = [len(text.split()) for text in texts]
        stats = dict(sample.stats[split])
        for name, books in stats.pop("books_by_words").items():
            low, high = map(int, name.split("-"))
            assert books == sum(low <= length <= high for length in lengths)
        assert stats == {
            "books": len(texts),
            "words": sum(lengths),
            "characters": sum(map(len, texts)),
            "text_bytes": sum(len(text.encode()) for text in texts),
            "line_feeds": sum(text.count("\n") for text in texts),
        }


def test_the_split_depends_on_the_id_alone(sample: BookBuild) -> None:
    for split in SPLITS:
        ids = [row["book_id"] for row in sample.rows(split)]
        assert {split_of(identity_of(book_id)) for book_id in ids} == {split}
        assert ids == sorted(ids, key=lambda book_id: fingerprint(identity_of(book_id)))


# The same bytes always.


@pytest.mark.slow
@pytest.mark.parametrize(("how", "workers"), [("loose", 1), ("tar.gz", 2)])
def test_order_and_packing_of_the_files_do_not_matter(
    sample: BookBuild, tmp_path: Path, how: str, workers: int
) -> None:
    books = pack_sample(tmp_path, how, seed=workers)
    again = build_pg19(tmp_path / "again", [books], workers)
    assert again.tree_but_names() == sample.tree_but_names()
    assert again.rejected_by_base_name() == sample.rejected_by_base_name()


# Variants.


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> BookBuild:
    """The books of a released list, two of them in splits of one's own, in many small files."""
    folder = tmp_path_factory.mktemp("released")
    splits, metadata = folder / "splits.tsv", folder / "metadata.csv"
    splits.write_text("book_id\tsplit\n90001\ttest\n90002\tdev\n90016\ttest\n", "utf-8")
    metadata.write_text("".join(f"{one},T by A,{RELEASED[one]},u/{one}\n" for one in RELEASED))
    how: dict[str, Any] = {
        "members": "",
        "mask_words": [],
        "shard_bytes": 20_000,
        "split_ids": [str(splits)],
    }
    return build_pg19(folder / "output", metadata=[str(metadata)], **how)


def test_released_books_are_those_of_the_list(sample: BookBuild, released: BookBuild) -> None:
    rows, by_hash = released.all_rows(), sample.all_rows()
    assert rows.keys() == RELEASED.keys() - {90099}  # which nobody has
    assert [line["book_id"] for line in released.table("missing")] == ["90099"]
    assert "not in this build: 1 of train. They" in released.manifest["caveats"][0]
    for book_id, row in rows.items():
        assert (row["publication_date"], row["date_source"]) == (RELEASED[book_id], "released")
        if book_id not in {*MASKED, FRENCH}:
            assert row["book_text"] == by_hash[book_id]["book_text"]
    assert "fuddlewick" in rows[90006]["book_text"]
    assert not released.stats.get("masked_words")


def test_no_other_rule_takes_a_released_book(released: BookBuild) -> None:
    """One is French: the list has the last word."""

    def fate_of(book_id: str, fate: str) -> str:
        if fate.split("/")[0] in ("read-books", "choose-file", "strip-books"):
            return fate
        return KEPT if int(book_id) in RELEASED else "screen-books/not-in-release"

    assert released.fates() == [(one, fate_of(one, fate)) for one, fate in expected_fates("pg19")]
    assert FRENCH in released.all_rows()


def test_a_table_of_splits_has_the_last_word(released: BookBuild) -> None:
    ids = {split: {row["book_id"] for row in released.rows(split)} for split in SPLITS}
    assert ids["test"] == {90001}
    assert ids["validation"] == {90002}
    assert len(ids["train"]) == len(RELEASED) - 3
    assert re.fullmatch(r"en-split-ids-[0-9a-f]{8}", released.folder.parts[-2])


def test_books_are_dealt_out_to_several_files(released: BookBuild) -> None:
    of_train = sorted(path.name for path in released.folder.glob("train-*.parquet"))
    count = -(-released.stats["train"]["text_bytes"] // 20_000)
    assert count > 3
    assert of_train == [f"train-{n:05d}-of-{count:05d}.parquet" for n in range(count)]
    released.check_files()


@pytest.mark.slow
def test_without_catalogue_and_metadata_the_files_tell(tmp_path: Path) -> None:
    """And books are no longer too new, but must not be alike."""
    how: dict[str, Any] = {"catalog": [], "metadata": [], "mask_words": []}
    built = build_pg19(tmp_path, before=2000, near_duplicates=0.7, **how)
    others = {
        "90013": "drop-duplicates/near-duplicate",  # of 90014, which is longer
        "90018": KEPT,  # of 1923
        "90020": "date-books/undated",  # the catalogue alone tells when its author died
        "90035": "screen-books/too-short",  # and that this one is sounds
    }
    expected = sorted((one, others.get(one, fate)) for one, fate in expected_fates("pg19"))
    assert built.fates() == expected
    assert built.manifest["caveats"] == [NO_CATALOG]
    assert NO_CATALOG in (built.folder / "README.md").read_text("utf-8")
    rows = built.all_rows()
    assert rows[90018]["publication_date"] == "1923"
    assert rows[90002]["publication_date"] == "1899"  # as its title page says
    assert rows[90004]["book_title"] == "Zoë and the Café Cat"
    assert built.folder.parts[-2] == "en-members-hash-before-2000-near-duplicates-0.7"


def test_the_table_of_dates_can_be_had_alone(sample: BookBuild, tmp_path: Path) -> None:
    built = build_pg19(tmp_path, dates_only=True, members="", mask_words=[])
    assert not [*built.folder.glob("*.parquet"), *built.folder.glob("*.tfrecord")]
    lines, known = built.table("dates"), sample.table("dates")
    assert len(lines) > len(known) == sum(line in lines for line in known) > 0
    assert all(bool(line["line"]) == bool(line["source"]) for line in lines)
    assert built.manifest["counts"]["kept"]["total"] == sum(bool(line["line"]) for line in lines)


METADATA: dict[str, Any] = {"metadata": [str(GUTENBERG / "metadata.csv")]}


@pytest.mark.parametrize(
    ("settings", "edition"),
    [
        (METADATA, "en"),
        ({}, "en-members-hash"),
        (METADATA | {"min_words": 0, "before": 1900}, "en-before-1900-min-words-0"),
    ],
)
def test_every_variant_is_an_edition_of_its_own(settings: dict[str, Any], edition: str) -> None:
    corpus = Pg19(Pg19Config([str(LIBRARY)], **settings))
    assert corpus.path == ("pg19", edition, f"undated-{VERSION}")


# Errors.


def test_a_damaged_table_of_splits_is_named_with_its_line(tmp_path: Path) -> None:
    table = tmp_path / "splits.csv"
    table.write_text("book_id,split\n84,dev\n85,nowhere\n")
    with pytest.raises(InputError, match=r"splits\.csv.*line 3.*nowhere"):
        Pg19(Pg19Config([str(LIBRARY)], split_ids=[str(table)]))


def test_a_cut_off_archive_is_an_error_that_names_it_and_leaves_nothing(tmp_path: Path) -> None:
    packed = pack_sample(tmp_path, "tar.gz")
    packed.write_bytes(packed.read_bytes()[:-2000])
    with pytest.raises(BuildError, match=re.escape(str(packed))):
        build_pg19(tmp_path / "output", [packed])
    assert files_below(tmp_path / "output") == []


@pytest.mark.slow
def test_what_is_whole_of_a_cut_off_archive_can_be_kept(sample: BookBuild, tmp_path: Path) -> None:
    packed = pack_sample(tmp_path, "tar.gz")
    content = packed.read_bytes()
    packed.write_bytes(content[: len(content) // 2])
    built = build_pg19(tmp_path / "output", [packed], on_corrupt="keep-good")
    (lost,) = built.manifest["lost"]
    assert lost["name"].startswith("sample.tar.gz")
    rows, all_rows = built.all_rows(), sample.all_rows()
    assert 5 < len(rows) < len(all_rows)
    for book_id, row in rows.items():
        if book_id != 90004:  # of which another file may be left
            assert row == all_rows[book_id]
    counts = built.manifest["counts"]
    assert counts["files_read"] == counts["kept"]["total"] + counts["rejected"]["total"]


def test_books_of_which_none_is_left_are_an_error_that_says_why(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"90001-0\.txt: no book is left of 1 files: 1 too-short"):
        build_pg19(tmp_path, [LIBRARY / "90001-0.txt"], min_words=5000)
    assert outputs_below(tmp_path) == []
