import io

import numpy as np
import pytest
import sentencepiece

from corpusmill.transforms.models.token_ids import find_end, load_tokenizer, type_of_ids
from tests.makers.spm_models import SENTENCES, small_model
from tests.makers.tokenizer_files import END, small_tokenizer
from tests.tools.case_tables import read_byte_cases

TEXTS = [SENTENCES[0], "", "渡し船は毎朝七時に港を出ます。", f"one {END} two</s>"]


def contents(name: str) -> bytes:
    if name == "sentencepiece":
        return small_model()
    pytest.importorskip("tokenizers")
    return small_tokenizer()


@pytest.mark.parametrize("name", ["sentencepiece", "huggingface"])
def test_ids_are_those_of_the_text_alone(name: str) -> None:
    """Nothing is cut, padded or added, and special tokens in a text are text."""
    tokenizer = load_tokenizer(contents(name))
    assert tokenizer.kind == name
    end = find_end(tokenizer)
    encoded = tokenizer.encode(TEXTS)
    assert [ids.dtype for ids in encoded] == [np.int32] * 4
    assert [len(ids) for ids in encoded[:3]] == [len(tokenizer.encode([t])[0]) for t in TEXTS[:3]]
    assert len(encoded[1]) == 0
    assert len(encoded[0]) > 4
    assert all(end.id not in ids for ids in encoded)
    assert all(int(ids.max(initial=0)) < tokenizer.size for ids in encoded)


def test_a_tokenizer_of_bytes_loses_nothing() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    reader = tokenizers.Tokenizer.from_buffer(small_tokenizer())
    reader.decoder = tokenizers.decoders.ByteLevel()
    ids = load_tokenizer(small_tokenizer()).encode(TEXTS)
    assert [reader.decode(one.tolist(), skip_special_tokens=False) for one in ids] == TEXTS


def test_ends() -> None:
    pieces = load_tokenizer(small_model())
    assert find_end(pieces) == ("</s>", 2)
    assert find_end(pieces, "<s>") == ("<s>", 1)
    with pytest.raises(
        ValueError, match=r"the tokenizer does not have '<eos>'; name the token .* --eos"
    ):
        find_end(pieces, "<eos>")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_writer=model, vocab_size=300, eos_id=-1,
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    with pytest.raises(ValueError, match="the tokenizer has none of </s>"):
        find_end(load_tokenizer(model.getvalue()))


@pytest.mark.parametrize(
    ("content", "message"), read_byte_cases("models/token_ids", "what_is_no_tokenizer", 0)
)
def test_what_is_no_tokenizer(content: bytes, message: str) -> None:
    if content[:1] == b"{":
        pytest.importorskip("tokenizers")
    with pytest.raises(ValueError, match=message):
        load_tokenizer(content)


@pytest.mark.parametrize(("size", "kind"), [(300, "uint16"), (65_499, "uint16"), (65_500, "int32")])
def test_types_are_those_of_megatron(size: int, kind: str) -> None:
    assert type_of_ids(size) == kind
