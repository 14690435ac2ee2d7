import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.news.punctuation import (
    frame,
    line_feeds_in,
    lines_at,
    put_lines,
    take_lines,
    unframe,
)

blocks = st.lists(st.text("ab").map(str.encode)).map(block_of)


@given(blocks, st.data())
def test_lines_that_are_put_stand_where_others_were_taken(
    block: bytes, data: st.DataObject
) -> None:
    lines = lines_of(block)
    chosen = sorted(data.draw(st.sets(st.sampled_from(range(len(lines)))))) if lines else []
    text = frame(block)
    line_feeds = line_feeds_in(text)
    assert take_lines(text, line_feeds, chosen) == [lines[index] for index in chosen]
    changed = unframe(put_lines(text, line_feeds, chosen, [b"new"] * len(chosen)))
    expected = [b"new" if index in chosen else line for index, line in enumerate(lines)]
    assert lines_of(changed) == expected


@pytest.mark.parametrize(
    ("places", "lines"), [([], []), ([1, 2, 3], [0]), ([4], [1]), ([5, 6], [2]), ([2, 5], [0, 2])]
)
def test_places_lie_in_lines(places: list[int], lines: list[int]) -> None:
    text = frame(b"ab\n\nc\n")
    assert lines_at(np.array(places, np.intp), line_feeds_in(text)) == lines
