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
    (b"a\tb\ra\0\r\n".translate(gram_tables.SEPARATORS), [3, 4, 3, 2]),
]


@pytest.mark.parametrize(("block", "numbers"), BLOCKS)
@pytest.mark.parametrize("chunk", [3, 1 << 24])
def test_numbers_of_a_block(
    block: bytes, numbers: list[int], chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gram_tables, "CHUNK_BYTES", chunk)
    assert number_words(block, WORDS).tolist() == numbers


def test_special_tokens_are_counted_and_in_no_vocabulary() -> None:
    block = b"<unk> b a <s> </s> <UNK> </S> a\x1f <s>. a \xc2\xa0\n<unk>\n" * 2
    words = [b"b", b"a", b"</S>", b"a\x1f", b"<s>.", b"\xc2\xa0"]
    assert vocabulary_of(block).to_pylist() == words
    assert gram_tables.count_signs(block) == 8
    assert select_words(count_words(block), 4)["word"].to_pylist() == [b"a"]
    assert select_words(count_words(block), 5).num_rows == 0
