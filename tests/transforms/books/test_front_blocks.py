import pytest

from corpusmill.transforms.books.title_page import (
    MAX_CHARACTERS,
    Block,
    blocks_of_front,
    is_on_title_page,
)

LINE = "It was a wet day in the month of May, and nobody in the house"
PROSE = "\n".join([LINE] * 3)


def test_blocks_are_parted_by_blank_lines() -> None:
    blocks = list(blocks_of_front("\n\n  A TALE\n   By Nobody  \n \t\n\n1897\n"))
    assert blocks == [Block(("A TALE", "By Nobody"), False, 0), Block(("1897",), False, 0)]


@pytest.mark.parametrize(
    ("block", "is_prose"),
    [
        (PROSE, True),
        (LINE * 5, True),
        (LINE, False),
        ("\n".join(["London: A. B. Candlemaker", "12 Long Street"] * 6), False),
        ("\n".join([f"Chapter the first{' ' * 40}12"] * 9), False),
        (f"{PROSE}\nthe end", True),
    ],
)
def test_running_text_has_full_lines(block: str, is_prose: bool) -> None:
    (found,) = blocks_of_front(block)
    assert found.is_prose == is_prose


def test_a_title_page_ends_where_the_book_begins() -> None:
    motto, *rest = blocks_of_front("\n\n".join([PROSE, "1897", *[PROSE] * 7, "1776"]))
    assert motto.prose_before == 0
    assert [block.lines for block in rest if not block.is_prose] == [("1897",), ("1776",)]
    assert is_on_title_page(rest[0])
    assert rest[-1].prose_before == 8 * len(PROSE.replace("\n", ""))
    assert not is_on_title_page(rest[-1])


def test_only_the_front_is_looked_at() -> None:
    assert [block.lines for block in blocks_of_front("a\n\n" * 200)] == [("a",)] * 125
    assert list(blocks_of_front("x" * MAX_CHARACTERS + "y")) == [
        Block(("x" * MAX_CHARACTERS,), True, 0)
    ]
    assert list(blocks_of_front("")) == []
