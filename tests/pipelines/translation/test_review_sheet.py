import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.translation import review
from corpusmill.transforms.files.markup import write_table
from corpusmill.transforms.files.records import ReadError
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of

LINES = [
    review.ReviewLine("dev-0001", "A cat\tsat.", "Кіт\u00a0сів. "),
    review.ReviewLine("dev-0002", "Dogs bark.", 'الكلاب "تنبح".'),
    review.ReviewLine("dev-0003", "It rains.", "雨が降る。"),
]


def sheet(*rows: str) -> str:
    """A sheet from "id|target|category|severity|comment|reviewer" rows."""
    fields = [row.split("|") for row in rows]
    return write_table(review.COLUMNS, [(f[0], "ukr", "Text.", *f[1:]) for f in fields])


def test_a_new_sheet() -> None:
    text = review.write_review_sheet("ukr", LINES)
    assert text.splitlines()[:2] == [
        '\ufeff"id"\t"language"\t"source"\t"target ""ukr"""\t"category"\t"severity"\t"comment"\t"reviewer"'
        '\t"legend"',
        '"dev-0001"\t"ukr"\t"A cat\tsat."\t"Кіт\u00a0сів. "\t""\t""\t""\t""'
        '\t"category: ok, if the sentence has no error; else one of those below, a row for each error"',
    ]
    assert text.count("\n") == 4


def test_the_legend_names_all_that_may_be_written() -> None:
    text = review.write_review_sheet("ukr", LINES * 9)
    legend = [line.rsplit("\t", 1)[1].strip('"') for line in text.splitlines()[1:]]
    assert [one.partition(":")[0] for one in legend if one] == [
        "category",
        *(f"category {name}" for name in review.CATEGORIES),
        *(f"severity {name}" for name in review.SEVERITIES),
        "comment",
        "reviewer",
    ]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_short_sheet_has_the_whole_legend(count: int) -> None:
    text = review.write_review_sheet("ukr", (LINES * 2)[:count])
    assert all(
        f"{name}: " in text
        for name in (*review.CATEGORIES, *review.SEVERITIES, "comment", "reviewer")
    )


def test_nothing_of_a_new_sheet_is_reviewed() -> None:
    targets = {line.id: line.target for line in LINES}
    for reviewer in ("", "Олена"):
        text = review.write_review_sheet("ukr", LINES, reviewer)
        assert review.read_review_sheet(text) == review.ReviewedSheet("", "ukr", (), (), targets)


def test_what_a_reviewer_says() -> None:
    found = review.read_review_sheet(
        sheet(
            "dev-0002|b|ok|||Ama",
            "dev-0001|a|spelling|minor|two l|Ama",
            "dev-0003|c||||Ama",
            "dev-0001||register|critical||Ama",
            "dev-0001||register|critical||",
        ),
    )
    assert found == review.ReviewedSheet(
        reviewer="Ama",
        language="ukr",
        reviewed=("dev-0002", "dev-0001"),
        errors=(
            review.ReviewError("dev-0001", "spelling", "minor", "two l", 3),
            review.ReviewError("dev-0001", "register", "critical", "", 5),
            review.ReviewError("dev-0001", "register", "critical", "", 6),
        ),
        targets={"dev-0002": "b", "dev-0001": "a", "dev-0003": "c"},
    )


@pytest.mark.parametrize(
    ("written", "category"),
    read_cases("translation/review_sheet", "categories"),
)
def test_categories_may_be_written_in_many_ways(written: str, category: str) -> None:
    for severity in review.SEVERITIES:
        row = f"dev-0001|a|{written}| {severity.upper()}|x|Ama"
        [error] = review.read_review_sheet(sheet(row)).errors
        assert (error.category, error.severity) == (category, severity)


@pytest.mark.parametrize("ok", ["ok", "OK", " Ok "])
def test_ok(ok: str) -> None:
    found = review.read_review_sheet(sheet(f"dev-0001|a|{ok}||well done|Ama"))
    assert (found.reviewed, found.errors) == (("dev-0001",), ())


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    read_cases("translation/review_sheet", "errors"),
)
def test_what_cannot_be_taken(rows: list[str], line: int, message: str) -> None:
    assert error_of(ReadError, review.read_review_sheet, sheet(*rows)) == f"line {line}: {message}"


def test_a_sheet_of_two_languages() -> None:
    one, two = (review.write_review_sheet(code, LINES[:1]) for code in ("ukr", "fra"))
    with pytest.raises(ReadError, match="line 3: language is 'fra', but 'ukr' in line 2"):
        review.read_review_sheet(one + two.split("\n", 1)[1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id\tlanguage\ttarget\tseverity\treviewer\n", "line 1: missing columns: category;"),
        (sheet("d|a||||Ama") + "dev-0001\tukr\n", "line 3: expected 8 fields"),
    ],
)
def test_no_sheet(text: str, message: str) -> None:
    assert error_of(ReadError, review.read_review_sheet, text).startswith(message)


def test_what_spreadsheets_make_of_it() -> None:
    text = sheet("d|a|Grammar|Minor||Ama", "e|b|ok|||Ama")
    saved = "\ufeff" + text.replace("\n", "\r\n") + "\t" * 7 + "\r\n\r\n"
    assert review.read_review_sheet(saved) == review.read_review_sheet(text)


@pytest.mark.parametrize(
    ("written", "text", "same"),
    read_cases("translation/review_sheet", "same_targets"),
)
def test_is_same_target(written: str, text: str, same: bool) -> None:
    assert review.is_same_target(written, text) is same


@given(st.lists(st.text(min_size=1, max_size=8), max_size=5))
def test_targets_come_back_to_the_letter(targets: list[str]) -> None:
    lines = [review.ReviewLine(f"dev-{n:04}", "S.", text) for n, text in enumerate(targets)]
    found = review.read_review_sheet(review.write_review_sheet("fra", lines))
    assert found.targets == {line.id: line.target for line in lines}
