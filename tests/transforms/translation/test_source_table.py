"""The table of source sentences."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.records import SPLITS, ReadError, SourceSentence
from corpusmill.transforms.translation.source_table import (
    COLUMNS,
    read_source,
    sentence_id,
    splits_of,
    write_source,
)
from tests.tools.case_tables import read_cases

HEADER = "\t".join(COLUMNS)
ROW = "dev-0001\tdev\twikinews:7\twikinews\tcrime\tyes\tno\thttps://x\tThe end."

texts = st.text(st.characters(exclude_characters="\n", codec="utf-8"), min_size=1).filter(str.strip)
drafts = st.lists(
    st.tuples(st.sampled_from(SPLITS), texts, st.booleans(), st.booleans()), min_size=1
)


def make_sentences(rows: Sequence[tuple[str, str, bool, bool]]) -> list[SourceSentence]:
    places = dict.fromkeys(SPLITS, 0)
    sentences = []
    for split, text, has_image, has_hyperlink in sorted(rows, key=lambda row: SPLITS.index(row[0])):
        places[split] += 1
        name = sentence_id(split, places[split])
        place = "wikinews:7", text, "https://x", "wikinews", "crime"
        sentences.append(SourceSentence(name, split, *place, has_image, has_hyperlink))
    return sentences


@given(drafts)
def test_what_is_written_is_read_again(rows: list[tuple[str, str, bool, bool]]) -> None:
    sentences = make_sentences(rows)
    assert read_source(write_source(sentences)) == sentences
    assert [one for _, those in splits_of(sentences) for one in those] == sentences


@pytest.mark.parametrize(
    ("rows", "message"),
    read_cases("translation/documents", "bad_tables"),
)
def test_what_cannot_be_read(rows: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_source(f"{HEADER}\n{rows}\n")
