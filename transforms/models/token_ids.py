"""Converts texts to token ids, with a SentencePiece model or a Hugging Face tokenizer.json.

The tokenizers add no tokens, truncate no texts and interpret no special tokens: "</s>" in an article is text.

Describes in which column and format the Parquet files of a corpus store its text.

Writes the .idx file of a Megatron-LM data set, the index of the tokens in its .bin file.

The file has these parts, in this order. The numbers in brackets are sizes in bits; all numbers in the file
are little-endian.

- the bytes "MMIDIDX\\0\\0"
- the version (64)
- the data type of the tokens (8)
- the number of sequences and the number of document boundaries (64 each)
- the number of tokens in each sequence (32 each)
- the byte offset of each sequence in the .bin file (64 each)
- the index of each document's first sequence, and finally the number of sequences (64 each)

Here each document is one sequence. Source of the format: megatron/core/datasets/indexed_dataset.py of
Megatron-Core.

Computes the counts, statistics and dataset card of a build of token files.
"""

import functools
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy
import numpy.typing

from ..files.builds.ledger import Accounts, Ledger
from ..files.builds.manifest import Description, Provenance
from ..files.markup import render
from ..files.text import SPLITS
from .subword_models import load_model

Ids = numpy.typing.NDArray[numpy.int32]

ENDS = ("</s>", "<eos>", "<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "[SEP]")
"""Usual names of the end-of-text token; the first one that a tokenizer has is used."""

# ids of vocabularies smaller than this are stored in 16 bits, as in Megatron-LM
SMALL_SIZE = 65_500


class Tokenizer(Protocol):
    """A tokenizer that was loaded from its file: a SentencePiece model or a Hugging Face tokenizer.json."""

    kind: str  # "sentencepiece" or "huggingface"
    size: int  # size of the vocabulary; all ids are smaller
    unknown: int  # id of the unknown token; -1 if there is none

    def find(self, token: str) -> int:
        """Returns the id of a token, or -1 if the tokenizer has no such token."""

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Returns for each text the ids of its tokens."""


class End(NamedTuple):
    """The token that is written after each document."""

    token: str  # "</s>"
    id: int


class _Pieces:
    """A tokenizer that uses a SentencePiece model."""

    kind = "sentencepiece"

    def __init__(self, model: bytes):
        self._processor = load_model(model)
        self.size = int(self._processor.get_piece_size())
        if not self.size:
            raise ValueError("it has no pieces")
        self.unknown = int(self._processor.unk_id())

    def find(self, token: str) -> int:
        found = int(self._processor.piece_to_id(token))
        return found if self._processor.id_to_piece(found) == token else -1

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        found: list[Ids] = self._processor.encode(list(texts), return_type="numpy", num_threads=1)
        return found


class _File:
    """A tokenizer that uses a Hugging Face tokenizer.json."""

    kind = "huggingface"

    def __init__(self, content: bytes):
        import tokenizers  # installed by the extra "tokenize"

        self._tokenizer: Any = tokenizers.Tokenizer.from_buffer(content)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True  # special tokens in a text are encoded as text
        self.size = max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1
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
    """Loads a tokenizer from the content of its file. Tokenizers are cached in each process.

    JSON is read as a Hugging Face tokenizer.json, any other content as a SentencePiece model. Raises
    ValueError if the content is not a tokenizer, and ImportError if the tokenizer's library is not installed.
    """
    is_json = content.lstrip()[:1] == b"{"
    try:
        if not content.strip():
            raise ValueError("the file is empty")
        return _File(content) if is_json else _Pieces(content)
    except ImportError:
        raise
    except Exception as error:  # both libraries raise errors of many kinds
        kind = "tokenizer.json of Hugging Face" if is_json else "SentencePiece model"
        raise ValueError(f"not a {kind}: {error}") from None


def find_end(tokenizer: Tokenizer, wanted: str = "") -> End:
    """Returns the token that ends a document.

    The result is the token `wanted`. If `wanted` is empty, it is the first token in ENDS, such as "</s>",
    that the tokenizer has. Raises ValueError if the tokenizer does not have `wanted`, or has none of ENDS.
    """
    for token in [wanted] if wanted else ENDS:
        if (found := tokenizer.find(token)) >= 0:
            return End(token, found)
    missing = repr(wanted) if wanted else f"none of {', '.join(ENDS)}"
    have = "the tokenizer does not have" if wanted else "the tokenizer has"
    raise ValueError(f"{have} {missing}; name the token that ends a document with --eos TOKEN")


def type_of_ids(size: int) -> str:
    """Returns the NumPy name of the type in which token ids are stored: "uint16" or "int32".

    `size` is the size of the vocabulary.
    """
    return "uint16" if size < SMALL_SIZE else "int32"


TYPES = {"int32": 4, "uint16": 8}  # codes of Megatron's DType
_MAGIC = b"MMIDIDX\x00\x00"
_VERSION = 1
_HEAD = struct.Struct("<QBQQ")
_BLOCK = 1 << 20


def index_blocks(
    kind: str, documents: int, lengths: Callable[[], Iterable[Ids]]
) -> Iterator[bytes]:
    """Yields the bytes of an index in blocks, so that the whole index is never in memory at once.

    Args:
      kind: the data type of the tokens: "int32" or "uint16".
      documents: the number of documents.
      lengths: function that yields the number of tokens of each document, in blocks. It is called twice.
    """
    yield _MAGIC + _HEAD.pack(_VERSION, TYPES[kind], documents, documents + 1)
    for block in lengths():
        yield block.astype("<i4").tobytes()
    start, token_bytes = 0, numpy.dtype(kind).itemsize
    for block in lengths():
        ends = start + numpy.cumsum(block, dtype=numpy.int64) * token_bytes
        yield (ends - block.astype(numpy.int64) * token_bytes).astype("<i8").tobytes()
        start = int(ends[-1]) if len(ends) else start
    for first in range(0, documents + 1, _BLOCK):
        yield numpy.arange(first, min(first + _BLOCK, documents + 1), dtype="<i8").tobytes()


DESCRIPTION = Description(
    title="Tokens for training",
    closing="The build and the tokenizer, with their SHA-256: `manifest.json`.",
)


def account_for_tokens(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of a build of token files.

    `provenance` has the facts about the build that were known before it ran, such as its settings.

    The ledger contains the counts of all stages of the build. In addition to the entries of every build, it
    has:
      counted: (split, mapping: name of a count → its value).
      expected: (split, its number of rows in the build whose text is tokenised).

    Raises AccountingError if the numbers of documents read, tokenised and written differ.
    """
    counted = ledger.pairs("counted")
    stats = {split: dict(counted[split]) for split in SPLITS if split in counted}
    for split, rows in ledger.pairs("expected").items():
        documents = stats.get(split, {}).get("documents", 0)
        ledger.balance(rows, f"documents of {split}", tokenized=documents)
        for kind in ("megatron-bin", "megatron-idx"):
            written = sum(file.records for file in ledger.files(kind, split))
            ledger.balance(rows, f"documents of {split}", **{kind.replace("-", "_"): written})
    columns: Mapping[str, int] = next(iter(stats.values()), {})
    total = {name: sum(one[name] for one in stats.values()) for name in columns}
    return Accounts(
        counts={
            "documents_read": total.get("documents", 0),
            "documents": {split: one["documents"] for split, one in stats.items()},
        },
        stats={**stats, "total": total},
        sections=render("tokens", settings=provenance.settings, stats=stats),
        findings={"stats": {**stats, "total": total}},
    )
