import pyarrow as pa
import pytest

from corpusmill.transforms.models import gram_tables
from corpusmill.transforms.models.gram_tables import number_words, select_words
from corpusmill.transforms.models.word_vocabulary import count_words
from tests.makers.ngram_models import vocabulary_of

WORDS = pa.array([b"a", b"b", "ü".encode()], pa.binary())

BLOCKS = [
    (b"", []),
    (b"\n", [2]),
    (b"a b\n", [3, 4, 2]),
    (b" a  b \n\n a\n", [3, 4, 2, 2, 3, 2]),
    ("ü a\nc\n".encode(), [5, 3, 2, 0, 2]),
    (b"a\tb <s> \xff\n", [0, 0, 0, 2]),
]


@pytest.mark.parametrize(("block", "numbers"), BLOCKS)
@pytest.mark.parametrize("chunk", [3, 1 << 24])
def test_numbers_of_a_block(
    block: bytes, numbers: list[int], chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gram_tables, "CHUNK_BYTES", chunk)
    assert number_words(block, WORDS).tolist() == numbers


def test_what_cannot_stand_in_an_arpa_file_is_in_no_vocabulary() -> None:
    block = b"b a <s> </s> <unk> <UNK> </S> <S> a\tb a\rb a\x00 a\x1f \x7f a \xc2\xa0\n" * 2
    assert vocabulary_of(block).to_pylist() == [b"a", b"b", b"\xc2\xa0"]
    assert select_words(count_words(block), 4).to_pylist() == [b"a"]
    assert select_words(count_words(block), 5).to_pylist() == []
