"""Computes log-likelihoods of held-out text from the entries of an n-gram model.

The output files have the format of `corpusmill score`. The entries of the model are not moved. The n-grams of
the text are sent to the buckets of the model, and the entries for these n-grams are sent back.
"""

import math
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.pvalue import AsSingleton

from ..files.distribution import transform
from ..files.formats import PARQUET, file_name
from ..files.records import OutputFile
from ..files.scratch import Scratch, fetch
from ..files.text import Shard
from ..files.write_files import RowFile
from .count_ngrams import Dealer, PlacedFile, TextBlock, join_pieces, load_words
from .estimate_ngrams import bucketed_by
from .gram_tables import END, ENTRIES, UNKNOWN, look_up, make_table, number_words
from .smoothing import grams_of, log_likelihoods

KIND = "log-likelihoods"

BlockId = tuple[str, int]  # split, and index of the first document in it
Part = tuple[str, int]  # split, and number of a file in it


class Piece(NamedTuple):
    """N-grams that are sent to a bucket of the model, or the model's entries for them that are sent back.

    The n-grams and the entries are stored in scratch.
    """

    block: BlockId | None  # sender or receiver; None for n-grams of the model
    order: int
    packed: bytes  # requested words, or ENTRIES


class BlockScore(NamedTuple):
    """The log-likelihood of a block of documents, and its numbers of documents, tokens and unknown words."""

    first: int  # index of its first document in the split
    documents: int
    tokens: int  # words and ends of sentences
    unknown: int  # words that are not in the vocabulary
    log_likelihood: float  # natural logarithm
    of_unknown: float  # the part of `log_likelihood` that comes from unknown words
    packed_counts: bytes  # int64: number of tokens of each document, in scratch
    packed_values: bytes  # float32: log-likelihood of each token, in scratch


def add_scores(scores: Iterable[BlockScore]) -> dict[str, Any]:
    """Returns the counts and the log-likelihood of a split, from those of its blocks, for stats.json."""
    columns = zip(*(score[1:6] for score in scores), strict=True)
    documents, tokens, unknown = (sum(next(columns)) for _ in range(3))
    log_likelihood, of_unknown = map(math.fsum, columns)
    return {
        "documents": documents,
        "tokens": tokens,
        "unknown_words": unknown,
        "log_likelihood": log_likelihood,
        "perplexity": _perplexity(log_likelihood, tokens),
        "perplexity_without_unknown": _perplexity(log_likelihood - of_unknown, tokens - unknown),
    }


def _perplexity(log_likelihood: float, tokens: int) -> float:
    return round(math.exp(-log_likelihood / tokens), 6) if tokens else 0.0


@transform
def ScoreText(
    given: tuple[beam.PCollection, beam.PCollection],
    folder: str,
    dealer: Dealer,
    words: beam.PCollection,
    order: int,
    files: Sequence[PlacedFile],
    *,
    is_listed: bool,
) -> Any:
    """Computes log-likelihoods of text.

    (PCollection[TextBlock], PCollection[ModelPart]) → (PCollection[OutputFile], PCollection[(split, the
    result of `add_scores`)]).

    Args:
      folder: output folder of the build.
      words: side input with one element, a reference to the vocabulary in scratch.
      order: highest order of the model.
      files: the files of the text. For each, a file with the log-likelihoods of its documents is written.
      is_listed: True to write, for each document, the log-likelihoods of all its words and sentence ends;
        False to write only their sum.
    """
    starts: dict[str, list[int]] = {}
    for one in files:
        starts.setdefault(one.file.split, []).append(one.first)
    blocks, parts = given
    keyed = tuple[tuple[int, int], Piece]
    of_model = AsSingleton(words)
    ask = beam.FlatMap(ask_for, order, dealer, of_model)
    model = beam.Map(lambda one: ((one.order, one.bucket), Piece(None, one.order, one.packed)))
    by_id = beam.Map(lambda block: ((block.split, block.first), block))
    score = beam.FlatMap(score_block, order, dealer.scratch, of_model)
    answers = (
        (
            blocks | "Ask" >> ask.with_output_types(keyed),
            parts | "Model" >> model.with_output_types(keyed),
        )
        | "Pieces" >> beam.Flatten()
        | "GroupBuckets" >> beam.GroupByKey()
        | "Answer" >> beam.FlatMap(answer, dealer).with_output_types(tuple[BlockId, Any])
    )
    keyed_score = tuple[Part, BlockScore | None]
    parts_of_files = [((split, at), None) for split in starts for at in range(len(starts[split]))]
    scored = (
        (answers, blocks | "ById" >> by_id.with_output_types(tuple[BlockId, Any]))
        | "Answered" >> beam.Flatten()
        | "GroupBlocks" >> beam.GroupByKey()
        | "Score" >> score.with_output_types(tuple[str, BlockScore])
    )
    by_part = beam.Map(lambda one: ((one[0], part_of(one[1].first, starts[one[0]])), one[1]))
    every = blocks.pipeline | "Parts" >> beam.Create(parts_of_files)
    written = (
        (
            scored | "ByPart" >> by_part.with_output_types(keyed_score),
            every | "EmptyParts" >> beam.Map(lambda one: one).with_output_types(keyed_score),
        )
        | "AllParts" >> beam.Flatten()
        | "GroupParts" >> beam.GroupByKey()
        | "Write"
        >> beam.Map(write_part, folder, starts, is_listed=is_listed).with_output_types(OutputFile)
    )
    bare = beam.MapTuple(
        lambda split, one: (split, one._replace(packed_counts=b"", packed_values=b""))
    )
    sums = (
        scored
        | "WithoutTokens" >> bare.with_output_types(tuple[str, BlockScore])
        | "GroupSplits" >> beam.GroupByKey()
        | "AddScores" >> beam.MapTuple(lambda split, all_scores: (split, add_scores(all_scores)))
    )
    return written, sums


def ask_for(
    block: TextBlock, order: int, dealer: Dealer, words: bytes
) -> Iterator[tuple[tuple[int, int], Piece]]:
    """Requests the model's entries for all n-grams of a block. Yields ((order, bucket), n-grams).

    Args:
      block: the block to score.
      order: highest order of the model.
      dealer: partitions n-grams into buckets.
      words: reference to the vocabulary in scratch.
    """
    numbers = number_words(block.lines(), load_words(words))
    for n, asked in grams_of(numbers, order).items():
        for bucket, packed in dealer.deal(make_table(asked, ()), bucketed_by(asked, order)):
            yield (n, bucket), Piece((block.split, block.first), n, packed)


def answer(
    grouped: tuple[tuple[int, int], Iterable[Piece]], dealer: Dealer
) -> Iterator[tuple[BlockId, Piece]]:
    """Answers all requests to one bucket of the model.

    Yields (id of the block that sent a request, the model's entries for the requested n-grams). `grouped` is
    ((order, bucket), the requests and the entries of the model in this bucket).
    """
    order = grouped[0][0]
    pieces = list(grouped[1])
    asking = [(piece.block, piece.packed) for piece in pieces if piece.block]
    model = join_pieces((piece.packed for piece in pieces if not piece.block), order, ENTRIES)
    if not (tables := [join_pieces([packed], order, ()) for _, packed in asking]):
        return
    rows = look_up(np.concatenate([table["words"] for table in tables]), model["words"])
    ends = accumulate(map(len, tables), initial=0)
    for (block, _), (start, end) in zip(asking, pairwise(ends), strict=True):
        found = rows[start:end]
        yield block, Piece(block, order, dealer.put(model[found[found >= 0]]))


def score_block(
    grouped: tuple[BlockId, Iterable[TextBlock | Piece]], order: int, scratch: Scratch, words: bytes
) -> Iterator[tuple[str, BlockScore]]:
    """Computes the log-likelihood of a block from the model's entries for its n-grams. Yields (split, score).

    Args:
      grouped: (id of the block, the block and the entries from `answer`).
      order: highest order of the model.
      scratch: stores the log-likelihood of each token.
      words: reference to the vocabulary in scratch.
    """
    found = list(grouped[1])
    pieces = [one for one in found if isinstance(one, Piece)]
    entries = {
        n: join_pieces((one.packed for one in pieces if one.order == n), n, ENTRIES)
        for n in range(1, order + 1)
    }
    for block in (one for one in found if isinstance(one, TextBlock)):
        numbers = number_words(block.lines(), load_words(words))
        # Rounded, because the last bits of a logarithm differ between processors.
        values = log_likelihoods(numbers, entries).astype(np.float32)
        is_unknown = numbers == UNKNOWN
        lines = np.concatenate([[0], np.cumsum(block.counts())])
        ends = np.concatenate([[0], np.flatnonzero(numbers == END) + 1])[lines]
        yield (
            block.split,
            BlockScore(
                block.first,
                block.documents,
                len(numbers),
                int(np.count_nonzero(is_unknown)),
                math.fsum(values.tolist()),
                math.fsum(values[is_unknown].tolist()),
                scratch.put(np.diff(ends).astype(np.int64).tobytes()),
                scratch.put(values.tobytes()),
            ),
        )


def part_of(document: int, starts: Sequence[int]) -> int:
    """Returns the number of the file that has a document of a split.

    Args:
      document: index of the document in the split.
      starts: index of the first document of each file. An empty file has that of the next one.
    """
    return bisect(starts, document) - 1


def write_part(
    grouped: tuple[Part, Iterable[BlockScore | None]],
    folder: str,
    starts: Mapping[str, Sequence[int]],
    *,
    is_listed: bool,
) -> OutputFile:
    """Writes a file such as log-likelihoods/test-00000-of-00050.parquet, with a row for each document.

    Args:
      grouped: ((split, number of a file of the text), the scores of the blocks in this file).
      folder: output folder of the build.
      starts: split → index of the first document of each file of the text.
      is_listed: True to write the log-likelihoods of all words and sentence ends of a document; False to
        write only their sum.
    """
    (split, number), given = grouped
    scores = sorted(one for one in given if one)
    name = f"{KIND}/{file_name(PARQUET, '', Shard(split, number, len(starts[split])))}"
    kind = (
        pa.list_(pa.field("element", pa.float32(), nullable=False)) if is_listed else pa.float32()
    )
    schema = pa.schema(
        [
            pa.field("document", pa.int64(), nullable=False),
            pa.field("log_likelihood", kind, nullable=False),
        ]
    )
    with RowFile(folder, name, schema) as file:
        for score in scores:
            file.write(_rows_of(score, schema, is_listed=is_listed))
    return file.output_file(name, split, KIND, sum(one.documents for one in scores))


def _rows_of(score: BlockScore, schema: pa.Schema, *, is_listed: bool) -> pa.Table:
    values = np.frombuffer(fetch(score.packed_values), np.float32)
    ends = np.concatenate([[0], np.cumsum(np.frombuffer(fetch(score.packed_counts), np.int64))])
    if is_listed:
        offsets = pa.array(ends.astype(np.int32))
        of_documents = pa.ListArray.from_arrays(offsets, pa.array(values), schema[1].type)
    else:
        sums = [math.fsum(values[start:end].tolist()) for start, end in pairwise(ends.tolist())]
        of_documents = pa.array(sums, pa.float32())
    documents = pa.array(np.arange(score.first, score.first + score.documents))
    return pa.table([documents, of_documents], schema=schema)
