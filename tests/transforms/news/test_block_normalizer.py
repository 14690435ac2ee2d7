import pytest

from corpusmill.transforms.files.line_blocks import block_of
from corpusmill.transforms.news.punctuation import frame, line_feeds_in, lines_to_normalize


@pytest.mark.parametrize(
    ("language", "chosen"),
    [
        ("en", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        ("de", [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13]),
        ("cs", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("cz", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ],
)
def test_lines_that_a_rule_may_change(language: str, chosen: list[int]) -> None:
    lines = ["an 'x', \"y\": it's; 5%", "\r", "a(", ")b", "a  b", "a :", "a ;", " %", "''", "é"]
    text = frame(block_of([line.encode() for line in [*lines, '",', '".', ',"', '."', ""]]))
    assert lines_to_normalize(text, line_feeds_in(text), language) == chosen
