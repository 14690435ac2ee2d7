import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books.spans import Paragraph, line_end, line_start, split_paragraphs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n", []),
        ("a", [Paragraph(0, 1, 0, "a")]),
        ("a\nb\n\nc\n", [Paragraph(0, 3, 0, "a\nb"), Paragraph(5, 6, 1, "c")]),
        ("\n\na\n  \n\n  b", [Paragraph(2, 3, 2, "a"), Paragraph(8, 11, 2, "  b")]),
    ],
)
def test_paragraphs_and_the_gaps_before_them(text: str, expected: list[Paragraph]) -> None:
    assert split_paragraphs(text) == expected


def test_a_part_of_a_text() -> None:
    assert split_paragraphs("ab\n\ncd\n\nef", 1, 5) == [
        Paragraph(1, 2, 0, "b"),
        Paragraph(4, 5, 1, "c"),
    ]


@given(st.text(alphabet="ab \n", max_size=60))
def test_places_and_texts_agree(text: str) -> None:
    paragraphs = split_paragraphs(text)
    assert all(text[one.start : one.end] == one.text for one in paragraphs)
    assert "".join(one.text for one in paragraphs).replace("\n", "").replace(
        " ", ""
    ) == text.replace("\n", "").replace(" ", "")


@given(st.text(alphabet="ab\n", max_size=30), st.data())
def test_ends_of_a_line(text: str, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(text)))
    start, end = line_start(text, position), line_end(text, position)
    assert start <= position <= end
    assert "\n" not in text[start:end]
    assert start == 0 or text[start - 1] == "\n"
    assert end == len(text) or text[end] == "\n"
