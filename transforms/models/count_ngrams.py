"""Counts the n-grams of all orders in blocks of text. The counts are partitioned into buckets.

The n-grams of the highest order are counted first. N-grams that differ only in their first word are in the
same bucket. Their common suffix (the n-gram without the first word) is counted in this bucket; see
gram_tables.py. For each suffix, a bucket has at most as many n-grams as the vocabulary has words.

Partitions tables of n-grams into buckets, and stores the pieces in scratch.

Reads a finished build as blocks of sentences, and stores them in scratch for later stages.

Selects the vocabulary of an n-gram model from blocks of text.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton, TaggedOutput

from ..files import counters
from ..files.builds import finished_builds
from ..files.builds.check_builds import list_files
from ..files.distribution import Gather, MapOnce, Spread, SpreadAll, transform
from ..files.line_blocks import in_batches, measure_lines
from ..files.read_files import InputError
from ..files.records import Layout
from ..files.scratch import Scratch, fetch
from . import gram_tables, word_vocabulary
from .count_words import DealWords, add_pieces
from .gram_tables import ADJUSTED_COUNTS, COUNTS, Table, Tally, Words, bucket_rows, pack_table
from .sentence_sampling import paragraphs_of_book
from .word_vocabulary import count_words, pack_counts, unpack_counts, unpack_words

Values = tuple[tuple[str, str], ...]
Pieces = tuple[int, tuple[str, bytes]]  # (bucket, (kind, rows in scratch))
Counts = tuple[tuple[int, int], bytes]  # ((order, bucket), rows in scratch)

MOST_KEYS = 64  # enough for all workers; each key needs a reference to each table


class Dealer:
    """Partitions tables of n-grams into buckets.

    The rows of a table for one bucket are a piece. All references to pieces pass through the process that
    started the pipeline, so there must not be too many of them. Therefore, on a local disk, the pieces of a
    table for several consecutive buckets are stored together: these buckets share a key, and need only one
    reference.

    Args:
      folder: folder for temporary pieces.
      buckets: number of buckets, see `bucket_rows`.
      most_keys: approximate maximum number of keys, if the folder is on a local disk.
    """

    def __init__(self, folder: str, buckets: int, most_keys: int = MOST_KEYS):
        self.scratch = Scratch(folder)
        self.buckets = buckets
        self.buckets_per_key = max(buckets // most_keys, 1) if self.scratch.is_local else 1

    def deal(self, table: Table, words: Words) -> Iterator[tuple[int, bytes]]:
        """Partitions a table. Yields (key, reference to rows in scratch), the input of GroupBuckets.

        `words` has, for each row, the words that determine its bucket.
        """
        parts = gram_tables.cut_table(table, bucket_rows(words, self.buckets), self.buckets)
        if self.buckets_per_key == 1:
            yield from ((bucket, self.put(part)) for bucket, part in parts)
            return
        for key, of_key in groupby(parts, lambda part: part[0] // self.buckets_per_key):
            packed = {bucket % self.buckets_per_key: pack_table(part) for bucket, part in of_key}
            sizes = [len(packed.get(at, b"")) for at in range(self.buckets_per_key)]
            head = np.array(sizes, np.uint32).tobytes()
            yield key, self.scratch.put(b"".join([head, *packed.values()]))

    def buckets_of(
        self, key: int, pieces: Sequence[bytes]
    ) -> Iterator[tuple[int, dict[int, bytes]]]:
        """Yields each bucket of a key with its pieces: (bucket, {index in `pieces`: reference to rows}).

        `pieces` are references from `deal`.
        """
        if self.buckets_per_key == 1:
            yield key, dict(enumerate(pieces))
            return
        part, head_bytes = self.scratch.part, 4 * self.buckets_per_key
        heads = b"".join(fetch(part(piece, b"", 0, head_bytes)) for piece in pieces)
        sizes = np.frombuffer(heads, np.uint32).reshape(len(pieces), -1)
        ends = head_bytes + np.cumsum(sizes, axis=1)
        for at, (of_bucket, end) in enumerate(zip(sizes.T, ends.T, strict=True)):
            rows = {
                one: part(pieces[one], b"", int(end[one] - of_bucket[one]), int(end[one]))
                for one in np.flatnonzero(of_bucket).tolist()
            }
            if rows:
                yield key * self.buckets_per_key + at, rows

    def put(self, table: Table) -> bytes:
        """Stores a table in scratch. Returns a reference for `join_pieces`."""
        return self.scratch.put(pack_table(table))


def join_pieces(pieces: Iterable[bytes], order: int, values: Values) -> Table:
    """Joins tables of n-grams in scratch into one table.

    Args:
      pieces: references to the tables.
      order: number of words of the n-grams.
      values: the columns besides the words.
    """
    tables = [gram_tables.unpack_table(fetch(piece), order, values) for piece in pieces]
    return np.concatenate(tables) if tables else np.empty(0, gram_tables.dtype_of(order, values))


@transform
def Join(parts: Any, of: Any) -> beam.PCollection:
    """Joins one or several PCollections whose elements have a type that Beam does not know.

    Args:
      of: the type. Beam knows none of outputs with a tag.
    """
    joined = parts if isinstance(parts, beam.PCollection) else parts | beam.Flatten()
    return joined | beam.Map(lambda one: one).with_output_types(of)


@transform
def GroupBuckets(keyed: Any, dealer: Dealer, of: Any) -> beam.PCollection:
    """Groups pieces of tables by bucket.

    PCollections of (key, piece) → PCollection[(bucket, pieces)]. The keys and pieces are those that
    `Dealer.deal` yields. If a key is (order, key), the result has (order, bucket) instead of the bucket. A
    piece may also be (kind, piece).

    Args:
      of: type of (key, piece).
    """
    join = Join(of)
    return (
        keyed
        | "Join" >> join
        | "GroupKeys" >> beam.GroupByKey()
        | "DivideKeys" >> beam.FlatMap(divide_key, dealer)
    )


def divide_key(
    grouped: tuple[Any, Iterable[Any]], dealer: Dealer
) -> Iterator[tuple[Any, list[Any]]]:
    """Divides the pieces of a key among the buckets that share the key. Yields (bucket, its pieces).

    `grouped` is (key, its pieces). See GroupBuckets for the other forms of keys and pieces.
    """
    key, pieces = grouped[0], list(grouped[1])
    order, number = key if isinstance(key, tuple) else (None, key)
    tagged = (one if isinstance(one, tuple) else ("", one) for one in pieces)
    kinds, references = zip(*tagged, strict=True)
    for bucket, rows in dealer.buckets_of(number, references):
        found = [(kinds[at], row) if kinds[at] else row for at, row in rows.items()]
        yield bucket if order is None else (order, bucket), found


READ_TEXT = "read-text"
BLOCK_BYTES = 1 << 22  # bytes of text in a block; a document is never divided
TRAIN = "train"


SENTENCES: Mapping[str, Callable[[str], list[str]]] = {
    "": lambda text: [text.replace("\n", " ")],
    "lines": lambda text: text.removesuffix("\n").split("\n"),
    # markers such as `_START_PARAGRAPH_` are included: models of Wiki-40B predict them like words
    "article": lambda text: list(filter(str.strip, text.split("\n"))),
    # each paragraph is one line
    "book": lambda text: [" ".join(one.split()) for one in paragraphs_of_book(text) if one.strip()],
}
"""Layout of the text of a corpus (see records.py) → function that returns its sentences."""

PREDICTED = ("", "lines")
"""Layouts of corpora whose papers count ends of sentences as words. All scored tokens are then words."""


class PlacedFile(NamedTuple):
    """A Parquet file, and the index of its first row in the split."""

    file: finished_builds.CorpusFile
    first: int  # index of its first document in the split


class TextPart(NamedTuple):
    """A row group of a Parquet file, which one worker reads at once."""

    group: finished_builds.RowGroup
    first: int  # index of its first document in the split
    stored_bytes: int  # approximate bytes of the file


class TextBlock(NamedTuple):
    """Consecutive documents of a split, stored in scratch (see scratch.py)."""

    split: str
    first: int  # index of the first document in the split
    documents: int
    packed_lines: bytes  # one sentence per line
    packed_counts: bytes  # int64: sentences of each document

    def lines(self) -> bytes:
        """Returns the sentences of the block, as a block of lines (see line_blocks.py)."""
        return fetch(self.packed_lines)

    def counts(self) -> npt.NDArray[np.int64]:
        """Returns the number of sentences of each document of the block."""
        return np.frombuffer(fetch(self.packed_counts), np.int64)


class TextCounts(NamedTuple):
    """Counts of documents, sentences, words and bytes."""

    documents: int = 0
    sentences: int = 0
    words: int = 0  # separated by spaces
    text_bytes: int = 0  # includes the line feed at the end of each sentence
    special_tokens: int = 0  # words that are spelled `<unk>`, `<s>` or `</s>`


def files_of_splits(build: finished_builds.Build, splits: Sequence[str]) -> list[PlacedFile]:
    """Returns the files with the rows of the given splits of a build."""
    found, kind = [], build.format
    listed = sorted(list_files(build))
    for split in splits:
        first = 0
        for file in listed:
            if (file.listed.split, file.listed.format) == (split, kind):
                found.append(PlacedFile(file.file, first))
                first += file.listed.records
    return found


@transform
def ReadBlocks(
    root: beam.Pipeline, files: Sequence[PlacedFile], source: Layout, folder: str
) -> beam.PCollection:
    """Reads the text of a build as blocks of sentences. Pipeline → PCollection[TextBlock].

    Args:
      files: Parquet files of one build.
      source: column and layout of the text.
      folder: folder for temporary text.

    Raises InputError for a damaged file.
    """
    read = beam.FlatMap(read_blocks, source, Scratch(folder))
    return (
        root
        | "SpreadFiles" >> SpreadAll(files, of=PlacedFile)
        | "SpreadRowGroups" >> Spread(plan_parts, of=TextPart)
        | "ReadBlocks" >> read.with_output_types(TextBlock)
    )


def plan_parts(placed: PlacedFile) -> Iterator[TextPart]:
    """Yields the row groups of a file, each with the index of its first row in the split."""
    first = placed.first
    for group, stored_bytes in finished_builds.sized_row_groups_of(placed.file):
        yield TextPart(group, first, stored_bytes)
        first += group.rows


def read_blocks(part: TextPart, source: Layout, scratch: Scratch) -> Iterator[TextBlock]:
    """Divides the text of a part into blocks, and yields them."""
    texts = finished_builds.read_row_group(part.group, [source.column]).table[source.column]
    first = part.first
    found = map(SENTENCES[source.paragraphs], map(str, texts))
    for documents in in_batches(found, BLOCK_BYTES, _size_of):
        lines = "".join(f"{line}\n" for document in documents for line in document).encode("utf-8")
        if part.group.file.split == TRAIN:
            lines = lines.translate(gram_tables.SEPARATORS)
        counts = np.array([len(document) for document in documents], np.int64)
        places = scratch.put(lines), scratch.put(counts.tobytes())
        yield TextBlock(part.group.file.split, first, len(documents), *places)
        first += len(documents)
        counters.count(READ_TEXT, "text_bytes", len(lines))
    counters.count(READ_TEXT, "dump_bytes", part.stored_bytes)
    counters.flush()


def _size_of(document: list[str]) -> int:
    return sum(map(len, document)) + len(document)


def measure_block(block: TextBlock) -> tuple[str, TextCounts]:
    """Returns (split, TextCounts) of a block."""
    lines = block.lines()
    measured, signs = measure_lines(lines), gram_tables.count_signs(lines)
    counts = measured.lines, measured.words, measured.bytes, signs
    return block.split, TextCounts(block.documents, *counts)


def add_counts(counts: Iterable[TextCounts]) -> TextCounts:
    """Returns the sum of the counts of several blocks."""
    return TextCounts(*(sum(column) for column in zip(TextCounts(), *counts, strict=True)))


def is_of_train(block: TextBlock) -> bool:
    """Returns True for training text, and False for held-out text on which models are scored."""
    return block.split == TRAIN


BUCKETS = 64
_PLACE_BITS = 24  # a block has fewer different words than 2**24

WORDS = word_vocabulary.SCHEMA.append(pa.field("place", pa.int64(), nullable=False))
"""Schema of word counts with the place where a word first occurs. Places are in the order of the text."""


@transform
def ChooseWords(
    blocks: beam.PCollection, folder: str, min_count: int, source: str
) -> beam.PCollection:
    """Selects the vocabulary. PCollection[TextBlock] → PCollection of one element, a reference to its words.

    `load_words` loads the words.

    Args:
      folder: folder for temporary words.
      min_count: minimum count of a word in the text.
      source: description of the source of the text, for error messages.

    Raises InputError if no word is frequent enough.
    """
    scratch = Scratch(folder)
    count = DealWords(folder, count_block_words, BUCKETS, join=add_words)
    choose = beam.Map(choose_of_bucket, min_count, scratch).with_output_types(bytes)
    counted = blocks | "CountWords" >> count | "GroupBuckets" >> beam.GroupByKey()
    parts = counted | "AddBuckets" >> choose
    join = MapOnce(join_words, scratch, AsList(parts), source)
    return blocks.pipeline | "JoinWords" >> join


def count_block_words(block: TextBlock) -> pa.RecordBatch:
    """Counts the words of a block, with their places (see WORDS)."""
    counts = count_words(block.lines())
    places = pa.array(np.arange(counts.num_rows) + (block.first << _PLACE_BITS))
    return pa.record_batch([*counts.columns, places], schema=WORDS)


def add_words(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Adds up several word counts with places (see WORDS). The first place of a word is kept."""
    table = pa.Table.from_batches(parts, WORDS).group_by("word", use_threads=False)
    summed = table.aggregate([("count", "sum"), ("place", "min")])
    columns = [summed[name].combine_chunks() for name in ("word", "count_sum", "place_min")]
    return pa.record_batch(columns, schema=WORDS)


def choose_of_bucket(
    grouped: tuple[int, Iterable[bytes]], min_count: int, scratch: Scratch
) -> bytes:
    """Selects the words of a bucket that occur at least `min_count` times, and stores them in scratch.

    `grouped` is (bucket, references to counts in scratch).
    """
    counts = add_pieces(grouped[1], WORDS, add_words)
    return scratch.put(pack_counts(gram_tables.select_words(counts, min_count)))


def join_words(scratch: Scratch, parts: Sequence[bytes], source: str) -> bytes:
    """Joins the words of all buckets into one list, stores it in scratch, and returns a reference to it.

    Args:
      scratch: stores the list, in the order in which the words first occur.
      parts: references to the words of each bucket.
      source: description of the source of the text, for the error message.

    Raises InputError if the list is empty.
    """
    words = pa.Table.from_batches([unpack_counts(fetch(part), WORDS) for part in parts], WORDS)
    if not len(words):
        raise InputError(
            source, "no word of the text is frequent enough for the vocabulary of the model"
        )
    words = words.combine_chunks().sort_by("place").select(["word"])
    return scratch.put(pack_counts(words.to_batches()[0]))


@functools.lru_cache(1)
def load_words(packed: bytes) -> pa.BinaryArray:
    """Returns the words of a vocabulary in the order of their ids, once per process."""
    return unpack_words(fetch(packed))


STAGE = "count-ngrams"
GATHERED_GRAMS = 1 << 20  # number of n-grams that a worker collects before it partitions them

GRAMS, TALLIES = "grams", "tallies"


class CountedGrams(NamedTuple):
    """The outputs of CountGrams: the counted n-grams, and for each order a summary of their counts.

    The counts of n-grams themselves are in files.
    """

    grams: beam.PCollection
    """((order, bucket), reference to ADJUSTED_COUNTS in scratch). A bucket has all n-grams of a context."""

    tallies: beam.PCollection  # of (order, Tally)


@transform
def CountGrams(
    blocks: beam.PCollection, dealer: Dealer, words: beam.PCollection, cut: Mapping[int, int]
) -> CountedGrams:
    """Counts the n-grams of all orders. PCollection[TextBlock] → CountedGrams.

    Args:
      dealer: partitions the n-grams into buckets.
      words: side input with one element, a reference to the vocabulary in scratch.
      cut: order → largest count of the n-grams that are pruned later. Here they are still counted.
    """
    order = max(cut)
    keyed = tuple[int, bytes]
    count = functools.partial(_count_block, order=order)
    deal = functools.partial(_deal_counts, dealer=dealer)
    gather = beam.ParDo(Gather(count, deal, GATHERED_GRAMS, len), AsSingleton(words))
    dealt = blocks | "CountBlocks" >> gather.with_output_types(keyed)
    found = []
    for n in range(order, 0, -1):
        adjust = beam.FlatMap(adjust_bucket, n, order, cut[n], dealer)
        adjust = adjust.with_output_types(keyed)
        grouped = dealt | f"Group {n}" >> GroupBuckets(dealer, keyed)
        adjusted = grouped | f"Adjust {n}" >> adjust.with_outputs(GRAMS, TALLIES, main="shorter")
        dealt = adjusted.shorter
        found.append(adjusted)
    add = beam.CombinePerKey(gram_tables.add_tallies).with_output_types(tuple[int, Tally])
    return CountedGrams(
        tuple(one[GRAMS] for one in found) | "Grams" >> Join(Counts),
        [one[TALLIES] for one in found] | "Tallies" >> beam.Flatten() | "AddTallies" >> add,
    )


def _count_block(block: TextBlock, words: bytes, order: int) -> Table:
    """Counts the n-grams of the highest order in a block. `words` is a reference to the vocabulary."""
    lines = block.lines()
    counters.count(STAGE, "text_bytes", len(lines))
    return gram_tables.count_grams(gram_tables.number_words(lines, load_words(words)), order)


def _deal_counts(tables: Sequence[Table], dealer: Dealer) -> Iterator[tuple[int, bytes]]:
    """Adds up the counts of several blocks, and partitions the sums into buckets, as `Dealer.deal` does."""
    table = gram_tables.add_counts(tables)
    return dealer.deal(table, table["words"][:, 1:])


def adjust_bucket(
    grouped: tuple[int, Iterable[bytes]], order: int, highest: int, most_cut: int, dealer: Dealer
) -> Iterator[Any]:
    """Counts the n-grams that are one word shorter than those in a bucket, and yields the counts.

    The n-grams of the bucket itself, with adjusted counts, are yielded on the output GRAMS, partitioned into
    new buckets by their contexts. A summary of their counts is yielded on the output TALLIES.

    Args:
      grouped: (bucket, references to its n-grams).
      order: number of words of these n-grams.
      highest: highest order of the model.
      most_cut: largest count of the n-grams of this order that are pruned later.
      dealer: partitions n-grams into buckets.
    """
    if order == highest:
        counted = gram_tables.add_counts([join_pieces(grouped[1], order, COUNTS)])
        table = gram_tables.adjust_highest(counted)
    else:
        table = join_pieces(grouped[1], order, ADJUSTED_COUNTS)
    if order > 1:
        shorter = gram_tables.count_suffixes(table)
        yield from dealer.deal(shorter, shorter["words"][:, 1:])
    yield TaggedOutput(TALLIES, (order, gram_tables.tally_of(table, most_cut)))
    table = table[gram_tables.is_gram(table["words"])]
    for bucket, piece in dealer.deal(table, table["words"][:, :-1]):
        yield TaggedOutput(GRAMS, ((order, bucket), piece))
    counters.count(STAGE, "ngrams", len(table))
