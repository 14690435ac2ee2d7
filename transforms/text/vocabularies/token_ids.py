"""Texts → token ids, by a SentencePiece model or a tokenizer file of Hugging Face (tokenizer.json).

Neither adds tokens of its own, cuts a text, or takes a special token out of it: "</s>" in an article is text.
"""

import functools
import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy
import numpy.typing

from transforms.text.vocabularies.subwords import load_model

Ids = numpy.typing.NDArray[numpy.int32]

ENDS = ("</s>", "<eos>", "<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "[SEP]")
"""The names of the end of a text in tokenizers of Hugging Face; the first that exists is used."""

SMALL_SIZE = 65_500  # ids below it are stored in 16 bits, as Megatron's own tool does


class Tokenizer(Protocol):
    """A tokenizer, ready to be used."""

    kind: str  # "sentencepiece" or "huggingface"
    size: int  # all ids are below it
    unknown: int  # id of what it does not know; -1 for none

    def find(self, token: str) -> int:
        """The id of a token; -1 where it is none."""

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """The ids of each text."""


class End(NamedTuple):
    """The token after each document."""

    token: str  # "</s>"
    id: int


class _Pieces:
    """Of a SentencePiece model."""

    kind = "sentencepiece"

    def __init__(self, model: bytes):
        self._processor = load_model(model)
        self.size = int(self._processor.get_piece_size())
        self.unknown = int(self._processor.unk_id())

    def find(self, token: str) -> int:
        found = int(self._processor.piece_to_id(token))
        return found if self._processor.id_to_piece(found) == token else -1

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        found: list[Ids] = self._processor.encode(list(texts), return_type="numpy", num_threads=1)
        return found


class _File:
    """Of tokenizer.json."""

    kind = "huggingface"

    def __init__(self, content: bytes):
        import tokenizers  # of the extra "tokenize"

        self._tokenizer: Any = tokenizers.Tokenizer.from_buffer(content)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True  # in a text they are text
        ids = self._tokenizer.get_vocab(with_added_tokens=True).values()
        self.size = max(ids, default=-1) + 1
        model = json.loads(content)["model"]
        unknown = self.find(model.get("unk_token") or "")
        self.unknown = unknown if model.get("unk_id") is None else int(model["unk_id"])

    def find(self, token: str) -> int:
        found = self._tokenizer.token_to_id(token)
        return -1 if found is None else int(found)

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [numpy.array(one.ids, numpy.int32) for one in encoded]


@functools.lru_cache(maxsize=2)
def load_tokenizer(content: bytes) -> Tokenizer:
    """The tokenizer of a file, loaded once in a process; JSON is one of Hugging Face.

    Raises ValueError for a file that is not a tokenizer, ImportError where its library is not installed.
    """
    is_json = content.lstrip()[:1] == b"{"
    try:
        return _File(content) if is_json else _Pieces(content)
    except ImportError:
        raise
    except Exception as error:  # both libraries raise errors of many kinds
        kind = "tokenizer.json of Hugging Face" if is_json else "SentencePiece model"
        raise ValueError(f"no {kind}: {error}") from None


def find_end(tokenizer: Tokenizer, wanted: str = "") -> End:
    """The token that ends a document: the one wanted, or else the usual one.

    Raises ValueError where the tokenizer does not have it.
    """
    for token in [wanted] if wanted else ENDS:
        if (found := tokenizer.find(token)) >= 0:
            return End(token, found)
    missing = repr(wanted) if wanted else f"none of {', '.join(ENDS)}"
    have = "it does not have" if wanted else "it has"
    raise ValueError(f"{have} {missing}; name the token that ends a document by --eos TOKEN")


def type_of_ids(size: int) -> str:
    """NumPy's name of the type that ids are stored in."""
    return "uint16" if size < SMALL_SIZE else "int32"
