import csv
import pathlib
import re
from collections import Counter

import pytest

from corpusmill.transforms.books.boilerplate import StrippedText, strip_boilerplate
from corpusmill.transforms.books.contents import cut_furniture
from corpusmill.transforms.books.genres import (
    catalogued_genres,
    genre_to_reject,
    measure_manner,
)
from corpusmill.transforms.files.records import Reason
from tests.makers.made_books import book
from tests.tools.real_data import DATA, needs_real_data
from tests.transforms.books.read_cases import read_table
from tests.transforms.books.real_books import book_rows, read_text
from tests.transforms.books.sample_texts import MANUAL, PLAY, PROSE, RECIPES, VERSE, many

ESSAY = many(
    """\
The cost of a road is not what it takes to build it, and no parish that we know of has ever found
that it is. Bridges are cheap where timber is near; elsewhere they are built of stone, and outlast
the towns at both ends. These are truths that every surveyor learns within a year of practice.
""",
    40,
)
MIXED = PROSE + VERSE[: len(PROSE) // 2]  # a third is verse
DIALOGUE = re.sub(r"Enter.*|.Exit.*| .aside.", "", PLAY).replace("SCENE", "PART")
TREES = "Ash Beech Cedar Dogwood Elm Fir Gorse Hazel Ivy Juniper Kapok Larch Maple Nutmeg Oak Pine"
QUOTATIONS = [
    f"{tree} does not ask." for tree in (*TREES.split(), *"Rose Sloe Thorn Ulex Vine".split())
]
TEXTS = {
    **{"PLAY": PLAY, "RECIPES": RECIPES, "MANUAL": MANUAL, "DIGITS": "1 2 3\n" * 500},
    **{"MIXED": MIXED, "ESSAY": ESSAY, "PROSE": PROSE, "VERSE": VERSE, "DIALOGUE": DIALOGUE},
    "DIRECTED": DIALOGUE.replace("TOBIAS. ", "TOBIAS. [Sits down.] "),
    "CROWD": "".join(re.sub("(TOBIAS|MARIGOLD)", rf"\1 {name}", DIALOGUE) for name in "ABC"),
    "QUOTATIONS": "\n\n".join(QUOTATIONS),
    "MAXIMS": "\n\n".join(QUOTATIONS[::2] + QUOTATIONS[1::-2] + QUOTATIONS[::-1]),
}
CASES = read_table("genres", **TEXTS)


@pytest.mark.parametrize(("samples", "manner"), CASES["manners"])
def test_counts_in_1000_words(samples: list[str], manner: list[float]) -> None:
    assert tuple(measure_manner(samples)) == pytest.approx(manner)


def test_manners_are_apart() -> None:
    tale, rules, recipes = (measure_manner([text]) for text in (PROSE, MANUAL, RECIPES))
    assert tale.narrating > 200
    assert max(rules.narrating, recipes.narrating) < 2
    assert rules.obliging > 60
    assert tale.obliging == 0
    assert recipes.measured > 80
    assert tale.measured == rules.measured == 0


@pytest.mark.parametrize(("subjects", "shelves", "genres"), CASES["catalogued"])
def test_what_the_catalogue_says(
    subjects: list[str], shelves: list[str], genres: list[str]
) -> None:
    found = catalogued_genres(book(subjects=tuple(subjects), bookshelves=tuple(shelves)))
    assert sorted(found) == genres


def test_the_first_subject_is_told() -> None:
    found = catalogued_genres(
        book(subjects=("Ghosts", "Ghosts -- Poetry", "Poetry"), bookshelves=("Poetry",))
    )
    assert found == {"poems": "Ghosts -- Poetry"}


@pytest.mark.parametrize(("subjects", "title", "text", "slug"), CASES["rejected"])
def test_catalogue_and_text_together(subjects: list[str], title: str, text: str, slug: str) -> None:
    reason = genre_to_reject(book(title, subjects=tuple(subjects)), text)
    assert (reason.slug if reason else "") == slug


@pytest.mark.parametrize(("subjects", "title", "text", "slug", "detail"), CASES["details"])
def test_the_detail_tells_the_evidence(
    subjects: list[str], title: str, text: str, slug: str, detail: str
) -> None:
    assert genre_to_reject(book(title, subjects=tuple(subjects)), text) == Reason(slug, detail)


LABELS = pathlib.Path(__file__).with_name("genre_labels.tsv")
"""The genres of the real books, by hand, from reading in them. "prose" and "prose-fiction" are to be kept."""

KEPT = ("prose", "prose-fiction")

MISSES = {
    29888: "poems",  # The Hunting of the Snark, without a catalogue entry: nonsense that is verse
    36308: "poems",  # the songs of Alice, the same
}
"""Book → what it is taken for instead."""

NEAR = {623, 690, 887, 946, 972, 2151, 9198, 10026, 20203, 32037, 36261, 38065, 45515, 49726, 75399}
"""Books that are to be kept and are nearest to other genres: checked whatever their size."""

MAX_FILE_BYTES = 60_000  # compressed: of books that are to be kept only smaller ones, to save time


def labels() -> dict[int, str]:
    with LABELS.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {int(row["id"]): row["label"] for row in rows}


def test_all_labels_are_known() -> None:
    assert Counter(labels().values()) == {
        "prose-fiction": 165,
        "prose": 42,
        "plays": 40,
        "poems": 34,
        "other-language": 16,
        "manuals": 7,
        "nonsense": 3,
        "malformed": 3,
        "recipes": 1,
    }


def subjects_of_books() -> dict[int, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Book → subjects and bookshelves, for the books that the head of the catalogue has."""
    found: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    with (DATA / "gutenberg/pg_catalog.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            both = [
                tuple(one.strip() for one in (row[column] or "").split(";") if one.strip())
                for column in ("Subjects", "Bookshelves")
            ]
            found[int(row["Text#"])] = (both[0], both[1])
    return found


@needs_real_data
def test_real_books_are_told_by_genre() -> None:
    catalogued = subjects_of_books()
    misses: dict[int, str | None] = {}
    checked: Counter[str] = Counter()
    wanted = labels()
    for row in book_rows():
        path = DATA / "gutenberg" / row["file"]
        book_id = int(row["id"] or 0)
        label = wanted.pop(book_id, "other-language")  # of several files of a book the first
        is_kept = label in KEPT
        is_large = path.stat().st_size > MAX_FILE_BYTES
        if label == "other-language" or (is_kept and is_large and book_id not in NEAR):
            continue
        stripped = strip_boilerplate(read_text(row))
        if isinstance(stripped, Reason) and stripped.slug == "copyrighted":
            continue
        assert isinstance(stripped, StrippedText), path
        subjects, shelves = catalogued.get(book_id, ((), ()))
        one = book(row["title"], subjects=subjects, bookshelves=shelves, book_id=book_id)
        reason = genre_to_reject(one, cut_furniture(stripped.text).text)
        slug = reason.slug if reason else None
        if slug != (None if is_kept else label):
            misses[book_id] = slug
        checked[label] += 1
    assert misses == MISSES
    assert [checked[label] for label in ("plays", "poems", "manuals", "recipes")] == [27, 33, 6, 1]
    assert checked["prose"] + checked["prose-fiction"] == 76
