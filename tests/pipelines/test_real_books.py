"""Real books of Project Gutenberg: which are kept, in what words, and which of those that are alike."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from corpusmill.transforms.books.catalog import released_splits
from corpusmill.transforms.books.screen_books import strip_text
from corpusmill.transforms.duplicates.minhash import to_plain_words
from tests.makers.book_builds import KEPT, BookBuild
from tests.makers.wiki_builds import run_cli
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.books.read_cases import read_table
from tests.transforms.books.real_books import book_rows, read_text
from tests.transforms.books.sequential_selection import CountedText, select_texts
from tests.transforms.books.test_genres import labels

pytestmark = needs_real_data

GUTENBERG = DATA / "gutenberg"
# What their texts say: "[Etext 1096]"; and "[Etext #1995]", in one that has the name of the Italian original.
NUMBERS = {"oddities/no-ebook-number.txt.gz": 1096, "books/1000.txt.gz": 1995}


CASES = read_table("real_books")
OF_AN_OMNIBUS = {int(whole): parts for whole, parts in CASES["omnibus"].items()}
FATES: dict[str, list[int]] = CASES["fates"]
IN_TEXTS = (9198, 1342, 36261, 38507)  # their texts are looked into
LARGE_BYTES = 150_000  # compressed
LICENCE = re.compile(
    r"Project Gutenberg(?:-tm|™)|Gutenberg Literary Archive|gutenberg\.(?:org|net)"
    r"|\*\*\* ?(?:START|END) OF|SMALL PRINT|FULL LICENSE|[Ee](?:Text|text|Book) #\d|EBOOK"
)
CREDITS = re.compile(
    r"(?m)^\W*(?:E-?text p|P)r(?:epar|oduc)ed by [A-Z]|^\W*(?:Scanned|Transcribed) by [A-Z]"
    r"|[Dd]istributed\s+[Pp]roofread|^\W*(?:\[ ?)?T(?:ranscriber['’]?s?['’]?|RANSCRIBER['’]?S) N(?:ote|OTE)"
)


def build(output: Path, books: Iterable[Path], *arguments: object) -> BookBuild:
    """Builds as a user does. The catalogue is the head of the real one, cut off."""
    catalog = ("--catalog", GUTENBERG / "pg_catalog.csv", "--on-corrupt", "keep-good")
    command, *flags = arguments
    given = ("--books", *books, *catalog, *flags, "--output", output, "--workers", 2)
    assert run_cli(command, *given) == 0
    (completed,) = output.rglob("COMPLETED")
    return BookBuild(completed.parent)


@pytest.fixture(scope="module")
def pg19(tmp_path_factory: pytest.TempPathFactory) -> BookBuild:
    """The released books, of all files."""
    books = (GUTENBERG / "books", GUTENBERG / "oddities")
    output = tmp_path_factory.mktemp("pg19")
    return build(output, books, "pg19", "--metadata", GUTENBERG / "metadata.csv")


@pytest.fixture(scope="module")
def simplebooks(tmp_path_factory: pytest.TempPathFactory) -> BookBuild:
    """Of books in any English, so that the choice by overlap has many; without large ones that no case is
    about.
    """
    books = [GUTENBERG / name for name in file_ids() if name not in large_files()]
    output = tmp_path_factory.mktemp("simplebooks")
    return build(output, books, "simplebooks", "--min-ratio", "0")


def file_ids() -> dict[str, int]:
    """File → number of the book in it; 0 for none."""
    return {row["file"]: NUMBERS.get(row["file"], int(row["id"] or 0)) for row in book_rows()}


def large_files() -> set[str]:
    """Those of prose that no case is about."""
    named = {*OF_AN_OMNIBUS, *IN_TEXTS, *CASES["copies"]}
    named |= {one for ids in (*OF_AN_OMNIBUS.values(), *FATES.values()) for one in ids}
    named |= {one for one, label in labels().items() if not label.startswith("prose")}
    sizes = {name: (GUTENBERG / name).stat().st_size for name in file_ids()}
    return {
        name
        for name, number in file_ids().items()
        if number not in named and sizes[name] > LARGE_BYTES
    }


def released() -> dict[int, str]:
    """Number → year, of metadata.csv."""
    lines = (GUTENBERG / "metadata.csv").read_text("utf-8").splitlines()
    return {int(line.split(",")[0]): line.split(",")[-2] for line in lines}


def verdicts_of(built: BookBuild) -> dict[int, Mapping[str, str]]:
    return {int(row["book_id"]): row for row in built.table("books")}


def test_every_file_has_its_fate(pg19: BookBuild, simplebooks: BookBuild) -> None:
    all_ids = file_ids()
    assert len(all_ids) == 330
    some_ids = {name: number for name, number in all_ids.items() if name not in large_files()}
    for built, ids in ((pg19, all_ids), (simplebooks, some_ids)):
        expected = Counter(str(number) for number in ids.values() if number)
        expected["404-page-saved-as-book.txt.gz"] = 1
        assert Counter(one for one, _ in built.fates()) == expected
        fates = dict(built.fates())
        assert fates["404-page-saved-as-book.txt.gz"] == "read-books/html-page"
        counts = built.manifest["counts"]
        assert counts["kept"]["total"] + counts["rejected"]["total"] == len(ids)
        assert counts["files_read"] == len(ids)
        assert [lost["name"] for lost in built.manifest["lost"]] == ["pg_catalog.csv"]
        built.check_files()


def test_of_several_files_of_a_book_one_is_taken(pg19: BookBuild) -> None:
    others = Counter(
        int(one) for one, fate in pg19.fates() if fate == "choose-file/other-file-of-book"
    )
    assert others == {**dict.fromkeys(CASES["copies"], 1), 9198: 3}
    why = [one.detail for one in pg19.rejected() if (one.id, one.stage) == ("11563", "choose-file")]
    assert why == ["11563-8.txt.gz is 8-bit, this is ASCII"]


def test_the_released_books_are_in_their_splits(pg19: BookBuild) -> None:
    rows, years = pg19.all_rows(), released()
    assert rows.keys() == years.keys() & set(file_ids().values())
    assert len(rows) == 181
    for book_id, row in rows.items():
        assert row["split"] == released_splits().get(book_id, "train")
        assert (row["publication_date"], row["date_source"]) == (years[book_id], "released")
    assert Counter(row["split"] for row in rows.values()) == {"train": 180, "test": 1}


@pytest.mark.parametrize("fate", FATES)
def test_books_go_the_way_that_they_should(simplebooks: BookBuild, fate: str) -> None:
    verdicts = verdicts_of(simplebooks)
    assert {one: verdicts[one]["verdict"] for one in FATES[fate]} == dict.fromkeys(
        FATES[fate], fate
    )


def test_no_play_or_poem_of_the_books_that_say_so_is_kept(simplebooks: BookBuild) -> None:
    verdicts = verdicts_of(simplebooks).values()
    kept = [row["title"] for row in verdicts if row["verdict"] == KEPT]
    named = re.compile(
        r"(?i)\b(poems|sonnets|the tragedy of|in (?:three|four|five) acts|cook book)\b"
    )
    assert [title for title in kept if named.search(title)] == []
    assert sum(row["verdict"] == "screen-books/plays" for row in verdicts) == 27
    assert sum(row["verdict"] == "screen-books/poems" for row in verdicts) == 35


@pytest.mark.parametrize("omnibus", OF_AN_OMNIBUS)
def test_a_part_is_not_kept_beside_the_whole(simplebooks: BookBuild, omnibus: int) -> None:
    verdicts = verdicts_of(simplebooks)
    assert verdicts[omnibus]["verdict"] == KEPT
    for part in OF_AN_OMNIBUS[omnibus]:
        row = verdicts[part]
        assert (part, row["verdict"]) == (part, "select-books/overlaps")
        covering, share = row["covered_by"].split(" ")[0].split(":")
        assert int(covering) == omnibus
        assert float(share) > 0.5


def test_nothing_else_overlaps(simplebooks: BookBuild) -> None:
    rejected = {one for one, fate in simplebooks.fates() if fate == "select-books/overlaps"}
    selected = {"1338"}  # a selection from several books of Wilde
    assert rejected == selected | {str(part) for parts in OF_AN_OMNIBUS.values() for part in parts}


def test_the_choice_is_that_of_one_loop_over_the_books_that_are_alike(
    simplebooks: BookBuild,
) -> None:
    """Of those that were not kept and those that have a hundredth of one; others cannot turn a verdict."""
    verdicts = verdicts_of(simplebooks)
    alike = set()
    for book_id, row in verdicts.items():
        covering = [part.split(":") for part in row["covered_by"].split()]
        large = {int(one) for one, share in covering if float(share) >= 0.01}
        if row["verdict"] == "select-books/overlaps":
            alike |= {book_id} | large
    texts = [
        CountedText(one, len(text.split()), to_plain_words(text))
        for one, text in stripped_texts(alike)
    ]
    assert len(texts) == len(alike) > 25
    for one in select_texts(texts).values():
        row = verdicts[one.book_id]
        assert (row["verdict"] == KEPT) == one.is_kept
        assert int(row["ngrams"]) == one.ngrams
        assert float(row["overlap"]) == pytest.approx(one.covered / one.ngrams, abs=0.01)


def stripped_texts(book_ids: set[int]) -> Iterator[tuple[int, str]]:
    """(id, text) of books, of the file that is taken."""
    files = {
        number: row
        for row in sorted(book_rows(), key=lambda row: "-0.txt" in row["file"])
        if (number := int(row["id"] or 0)) in book_ids and ".older" not in row["file"]
    }
    for number, row in files.items():
        text = strip_text(read_text(row), furniture=True)
        assert isinstance(text, str)
        yield number, text


def test_nothing_of_the_frame_is_left(pg19: BookBuild, simplebooks: BookBuild) -> None:
    texts = {
        "pg19": {one: row["book_text"] for one, row in pg19.all_rows().items()},
        "simplebooks": {one: row["raw_text"] for one, row in simplebooks.all_rows().items()},
    }
    left = [
        (corpus, book_id, found[0])
        for corpus, of_corpus in texts.items()
        for book_id, text in of_corpus.items()
        for pattern in (LICENCE, CREDITS)
        for found in pattern.finditer(text)
    ]
    assert left == []
    # At the end of Longfellow's Dante whoever typed it tells about that.
    assert {
        one
        for of_corpus in texts.values()
        for one, text in of_corpus.items()
        if "Project Gutenberg" in text
    } <= {1003, 1004}


def test_accents_are_right_whatever_the_header_says(
    pg19: BookBuild, simplebooks: BookBuild
) -> None:
    household = pg19.all_rows()[10136]["book_text"]  # Latin-1
    assert household.count("Béchamel") == 74
    rows = simplebooks.all_rows()
    assert "Boötes" in rows[9198]["raw_text"]  # Latin-1
    assert "manœuvre" in rows[1342]["raw_text"]  # UTF-8
    for row in rows.values():
        text = row["raw_text"]
        assert not re.search(r"Ã[©¨ª¯]|â€[™œ\x9d]|\ufeff|\r|\x00", text)
    broken = {book_id for book_id, row in rows.items() if "\ufffd" in row["raw_text"]}
    assert broken == {36261, 38507}  # so they are in their files


def test_paragraphs_are_lines_and_furniture_is_gone(simplebooks: BookBuild) -> None:
    for name in ("train", "valid", "test"):
        raw = simplebooks.lines(f"simplebooks-92-raw/{name}.txt")
        tokens = simplebooks.lines(f"simplebooks-92/{name}.txt")
        assert len(raw) == len(tokens) > 1000
        assert not [line for line in raw if "[Illustration" in line]
        assert all(line == " ".join(line.split()) and line for line in tokens)
        headings = Counter(line.strip().lower() for line in raw)
        assert headings["contents"] + headings["contents."] < 3
