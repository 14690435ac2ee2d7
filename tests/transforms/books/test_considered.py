import pytest

from corpusmill.transforms.books.simplebooks_rows import Considered, Sized, make_line
from corpusmill.transforms.files.records import OverlapVerdict, Rejected

MEASURED = (1200, 500), "L/V^2"


def test_a_kept_book() -> None:
    verdict = OverlapVerdict(7, 1000, 125, True, ((5, 100), (6, 25)))
    line = make_line(7, "Hen", *MEASURED, verdict, None, Sized("train", True, 101, 40))
    assert line == Considered(
        book_id=7,
        title="Hen",
        tokens=1200,
        vocabulary=500,
        ratio="0.0048",
        ngrams=1000,
        overlap="0.1250",
        verdict="kept",
        detail="",
        covered_by="5:0.1000 6:0.0250",
        split="train",
        in_simplebooks_2="yes",
        first_line=101,
        lines=40,
    )


def test_a_rejected_book_has_what_it_came_to() -> None:
    rejected = Rejected("7", "Hen", "screen-books", "poems", "verse lines")
    line = make_line(7, "Hen", *MEASURED, None, rejected, None)
    assert (line.verdict, line.detail) == ("screen-books/poems", "verse lines")
    assert (line.tokens, line.overlap, line.split, line.in_simplebooks_2) == (1200, "", "", "")
    assert make_line(7, "Hen", None, "L/V^2", None, rejected, None).ratio == ""


def test_what_has_no_ngrams_overlaps_nothing() -> None:
    verdict = OverlapVerdict(7, 0, 0, True, ())
    line = make_line(7, "Hen", *MEASURED, verdict, None, Sized("test", False, 1, 0))
    assert (line.overlap, line.covered_by, line.in_simplebooks_2) == ("0.0000", "", "no")


def test_a_book_has_one_fate() -> None:
    rejected = Rejected("7", "Hen", "screen-books", "poems")
    sized = Sized("test", False, 1, 1)
    for fates in ((None, None), (rejected, sized)):
        with pytest.raises(ValueError, match="book 7 is both kept and rejected, or neither"):
            make_line(7, "Hen", *MEASURED, None, *fates)
