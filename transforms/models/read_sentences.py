"""Learns a SentencePiece vocabulary over many languages: reads the sentences, samples them, counts their
words, and trains the model.

Sentences of finished builds and text files are stored in scratch as blocks. Each sentence gets a rank: a hash
that determines whether the sentence is chosen for training (see sentence_sampling.py).

No worker holds the whole text of a language. The worker that trains the vocabulary receives only words with
counts. The words are partitioned into buckets, which are counted in parallel (see count_words.py).
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import AsDict, AsSingleton, TaggedOutput

from ..files import counters
from ..files.builds import finished_builds
from ..files.builds.finished_builds import Build, CorpusFile, RowGroup, files_of, read_row_group
from ..files.distribution import Spread, SpreadAll, transform
from ..files.line_blocks import FEATURE, block_of, lines_of, make_table
from ..files.read_files import InputError, read_input
from ..files.read_lines import TextUnit, plan_units, read_unit, screen_block
from ..files.records import Layout, Rejected
from ..files.scratch import Scratch, fetch
from ..files.work_units import Damage, LineBlock
from . import sentence_sampling
from .count_words import DealWords, add_pieces
from .model_accounts import EVALUATED, HELD_OUT_KIND
from .sentence_sampling import RANGES, Choice, Counts, LastRange, Ranks, is_held_out, is_once_more
from .sentences import clean_sentences, sentences_of_texts
from .subword_models import (
    TrainedPieces,
    add_piece_stats,
    add_subword_stats,
    count_in_articles,
    count_in_sentences,
    count_words_of_articles,
)
from .word_vocabulary import add_counts, count_words, pack_counts

READ_SENTENCES = "read-sentences"
BLOCK_SENTENCES = 1 << 15
MEMBERS = ("*",)  # all files of an archive are read


class SentenceSources(NamedTuple):
    """The builds and text files from which sentences are read, by language."""

    # language → builds; the corpus of each build is a key of `layouts`
    builds: Mapping[str, Sequence[Build]]
    texts: Mapping[str, Sequence[str]]  # language → files of lines
    layouts: Mapping[str, Layout]  # corpus, or the folder of a build → layout of its text
    documents: int = 0  # of train of each build, the first ones; 0 for all


class Unit(NamedTuple):
    """The kind of texts from which a vocabulary is learned: sentences, or articles on one line each."""

    count_words: Callable[[bytes], pa.RecordBatch]  # block of texts → counts of their words
    count_pieces: Callable[[bytes, Iterable[str]], Any]  # model, texts → counts of their pieces
    add: Callable[[Iterable[Any]], Any]  # adds up such counts


SENTENCES = Unit(count_words, count_in_sentences, add_piece_stats)
ARTICLES = Unit(count_words_of_articles, count_in_articles, add_subword_stats)


class SentencePart(NamedTuple):
    """A part of the input that one worker reads at once: a row group, or a work unit of a text file."""

    language: str
    layout: Layout | None  # layout of the row group; None for a unit of a text file
    is_held_out: bool  # True for splits that are not used for training
    place: RowGroup | TextUnit
    stored_bytes: int = 0  # approximate bytes of a row group; 0 for units, which count their own


class SentenceBlock(NamedTuple):
    """Sentences of one language with their ranks, stored in scratch (see scratch.py).

    The rank of a sentence is a hash that determines whether the sentence is chosen for training.
    """

    language: str
    is_held_out: bool  # True for splits that are not used for training
    sentences: int
    packed_ranks: bytes
    packed_lines: bytes  # one sentence per line

    def ranks(self) -> Ranks:
        """Returns the rank of each sentence of the block."""
        return np.frombuffer(fetch(self.packed_ranks), np.uint64)

    def lines(self) -> list[bytes]:
        """Returns the sentences of the block in UTF-8."""
        return lines_of(fetch(self.packed_lines))


@transform
def ReadSentences(
    root: beam.Pipeline, sources: SentenceSources, folder: str, seed: int, stripes: int
) -> Any:
    """Reads the sentences of builds and text files.

    Pipeline → (PCollection[SentenceBlock], PCollection[Rejected]). The split train of a build is used for
    training; validation and test are held out. Each line of a text file is a sentence. Lines that are too
    long or not UTF-8 are rejected. Empty lines are skipped.

    Args:
      folder: output folder of the new build.
      seed: seed of the hash by which sentences are ranked.
      stripes: number of workers that divide the work on a large text file which cannot be split, such as a
        .gz. Each of them decompresses the whole file, but processes only its share of the sentences.

    Raises InputError for a damaged file.
    """
    texts = {path: name for name, paths in sources.texts.items() for path in paths}
    parts = (
        root
        | "SpreadFiles" >> SpreadAll(files_to_plan(sources))
        | "SpreadRowGroups" >> Spread(plan_files, sources.documents, of=SentencePart),
        root
        | "Texts" >> beam.Create([texts], reshuffle=False)
        | "SpreadTexts" >> Spread(plan_texts, stripes, of=SentencePart),
    )
    read = (
        parts
        | "Parts" >> beam.Flatten()
        | "ReadParts"
        >> beam.FlatMap(read_blocks, Scratch(folder), seed)
        .with_output_types(SentenceBlock)
        .with_outputs("rejected", main="blocks")
    )
    return read.blocks, read.rejected


def files_to_plan(sources: SentenceSources) -> list[tuple[str, Layout, list[CorpusFile]]]:
    """Returns the files of all builds, with their language and the column and format of their text.

    Files that one worker must plan are together.
    """
    layouts = sources.layouts
    return [
        (language, layouts.get(build.folder, layouts[build.corpus]), some)
        for language, builds in sources.builds.items()
        for build in builds
        for some in _together(files_of(build), sources.documents)
    ]


def _together(files: Sequence[CorpusFile], documents: int) -> Iterator[list[CorpusFile]]:
    train = [file for file in files if file.split == "train"]
    yield from [train] if documents else ([file] for file in train)
    yield from ([file] for file in files if file.split != "train")


def plan_files(
    named: tuple[str, Layout, Sequence[CorpusFile]], documents: int
) -> Iterator[SentencePart]:
    """Yields the parts of Parquet files.

    Of the split train, only the first `documents` are read; 0 reads all. The footers of the files are read
    only until enough documents are found. The rows of a part that are used are the first ones.

    `named` is (language, column and format of the text, files).
    """
    language, layout, files = named
    left = documents or sys.maxsize
    for file in files:
        is_held_out = file.split != "train"
        for group, stored_bytes in finished_builds.sized_row_groups_of(file) if left else ():
            if is_held_out:
                yield SentencePart(language, layout, is_held_out, group, stored_bytes)
            elif left:
                part = group._replace(rows=min(group.rows, left))
                yield SentencePart(language, layout, is_held_out, part, stored_bytes)
                left -= part.rows


def plan_texts(language_of_path: Mapping[str, str], stripes: int) -> Iterator[SentencePart]:
    """Yields the parts of all text files, each with the language of its file.

    `stripes` is the number of workers that divide the work on a large text file which cannot be split, such
    as a .gz. Each of them decompresses the whole file, but processes only its share of the sentences.
    """
    for unit in plan_units(sorted(language_of_path), stripes, MEMBERS):
        yield SentencePart(language_of_path[unit.file.path], None, False, unit)


def read_blocks(part: SentencePart, scratch: Scratch, seed: int) -> Iterator[Any]:
    """Reads the sentences of a part, stores them in `scratch`, and yields references to blocks of them.

    Rejected lines are yielded on the output "rejected". `seed` is the seed of the hash by which
    sentences are ranked.
    """
    rejected: list[Rejected] = []
    sentences = read_part(part, rejected)
    while some := list(islice(sentences, BLOCK_SENTENCES)):
        lines = block_of([sentence.encode("utf-8") for sentence in some])
        counters.count(READ_SENTENCES, "sentences", len(some))
        if part.layout:  # the reader of a unit counts its bytes itself
            counters.count(READ_SENTENCES, "text_bytes", len(lines))
        ranks = sentence_sampling.rank_sentences(some, seed).tobytes()
        places = scratch.put(ranks), scratch.put(lines)
        yield SentenceBlock(part.language, part.is_held_out, len(some), *places)
    counters.count(READ_SENTENCES, "dump_bytes", part.stored_bytes)
    counters.flush()
    yield from (TaggedOutput("rejected", one) for one in rejected)


def read_part(part: SentencePart, rejected: list[Rejected]) -> Iterator[str]:
    """Yields the sentences of a part in order. Rejected lines are added to `rejected`."""
    if isinstance(part.place, RowGroup):
        layout = part.layout
        assert layout
        column = read_row_group(part.place, [layout.column]).table[layout.column]
        texts = column.slice(0, part.place.rows).to_pylist()
        yield from sentences_of_texts(texts, layout, part.language.partition("-")[0])
        return
    for event in read_unit(part.place, MEMBERS):
        if isinstance(event, Damage):
            raise InputError(part.place.file.path, event.message, event.start)
        if isinstance(event, LineBlock):
            kept, refused = screen_block(part.place.file, event)
            rejected += refused
            if kept:
                yield from clean_sentences(make_table(kept).table[FEATURE].to_pylist())


COUNT_PIECES = "count-pieces"

StatsKey = tuple[str, str]  # HELD_OUT or EVALUATED, language


class EvaluationFile(NamedTuple):
    """A file of evaluation sentences, one per line. Their pieces are counted, but not used for training."""

    language: str
    path: str


@transform
def CountPieces(
    blocks: beam.PCollection,
    trained: beam.PCollection,
    choices: beam.PCollection,
    files: tuple[EvaluationFile, ...],
    unit: Unit = SENTENCES,
) -> beam.PCollection:
    """Counts the pieces into which a model splits held-out texts and evaluation files.

    PCollection[SentenceBlock] → PCollection[((kind, language), counts)]. The kind is HELD_OUT or EVALUATED.

    Args:
      trained: side input with one TrainedPieces, which contains the model.
      choices: side input with one mapping {language: Choice}. A Choice says which texts are held out.
      files: evaluation files.
      unit: the kind of the texts.
    """
    model, rules = AsSingleton(trained), AsSingleton(choices)
    counted = (
        blocks | "CountBlocks" >> beam.FlatMap(count_held_out, model, rules, unit),
        blocks.pipeline
        | "Files" >> beam.Create(files)
        | "CountFiles" >> beam.Map(count_file, model, unit),
    )
    return counted | "Both" >> beam.Flatten() | "AddUp" >> beam.CombinePerKey(unit.add)


def count_held_out(
    block: SentenceBlock, trained: TrainedPieces, choices: Mapping[str, Choice], unit: Unit
) -> Iterator[tuple[StatsKey, Any]]:
    """Yields ((HELD_OUT, language), counts of pieces) for the held-out sentences of a block.

    Yields nothing if no sentence of the block is held out.

    Args:
      block: sentences of one language.
      trained: contains the model that splits sentences into pieces.
      choices: language → Choice, which says which sentences are held out.
      unit: the kind of the texts.
    """
    lines = block.lines()
    if not block.is_held_out:
        places = np.flatnonzero(is_held_out(block.ranks(), choices[block.language]))
        lines = [lines[place] for place in places]
    if lines:
        counters.count(COUNT_PIECES, "sentences", len(lines))
        counters.flush()
        sentences = [line.decode("utf-8") for line in lines]
        yield (HELD_OUT_KIND, block.language), unit.count_pieces(trained.model, sentences)


def count_file(
    file: EvaluationFile, trained: TrainedPieces, unit: Unit = SENTENCES
) -> tuple[StatsKey, Any]:
    """Returns ((EVALUATED, language), counts of the pieces in the lines of a file).

    Raises InputError if the file is not UTF-8.
    """
    data = read_input(file.path)
    try:
        lines = data.decode("utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(file.path, f"not UTF-8: {error.reason}", error.start) from None
    return (EVALUATED, file.language), unit.count_pieces(trained.model, lines)


NO_RANKS: Ranks = np.zeros(0, np.uint64)


class Sampling(NamedTuple):
    """The settings that determine the number of sentences of each language."""

    languages: tuple[str, ...]  # all languages, including those without a sentence
    temperature: str  # written as a decimal number
    sentences: int  # maximum number of sentences to learn from, copies included


@transform
def ChooseSentences(blocks: beam.PCollection, sampling: Sampling) -> beam.PCollection:
    """Chooses the sentences from which a vocabulary is learned.

    PCollection[SentenceBlock] → PCollection of one mapping {language: Choice}. A Choice says which sentences
    of a language are used for training, how often, and which are held out.

    Raises InputError if there are no sentences.
    """
    once = blocks.pipeline | "Once" >> beam.Create([sampling], reshuffle=False)
    train = blocks | "OfTrain" >> beam.Filter(is_of_train)
    ranges = (
        train
        | "CountRanges"
        >> beam.Map(
            lambda one: (one.language, sentence_sampling.count_ranges(one.ranks()))
        ).with_output_types(tuple[str, Any])
        | "AddRanges" >> beam.CombinePerKey(add_ranges)
    )
    held_out = (
        blocks
        | "HeldOut" >> beam.Filter(lambda block: block.is_held_out)
        | "CountHeldOut"
        >> beam.Map(lambda block: (block.language, block.sentences)).with_output_types(
            tuple[str, int]
        )
        | "AddHeldOut" >> beam.CombinePerKey(sum)
    )
    last_ranges = once | "FindLastRanges" >> beam.Map(
        find_last_ranges, AsDict(ranges), AsDict(held_out)
    )
    ranks = (
        train
        | "RanksInRange" >> beam.FlatMap(ranks_of_block, AsSingleton(last_ranges))
        | "JoinRanks" >> beam.CombinePerKey(join_ranks)
    )
    return last_ranges | "Choose" >> beam.Map(choose_all, AsDict(ranks))


def add_ranges(counts: Iterable[Counts]) -> Counts:
    """Adds up arrays of counts. Each array has the number of sentences in each range of ranks.

    A rank is the hash of a sentence. The ranks are divided into RANGES ranges of equal size.
    """
    return sum(counts, np.zeros(RANGES, np.int64))


def join_ranks(parts: Iterable[Ranks]) -> Ranks:
    """Joins several arrays of ranks of sentences into one array."""
    return np.concatenate([NO_RANKS, *parts])


def is_of_train(block: SentenceBlock) -> bool:
    """Returns True if the sentences of a block may be used for training, because they are not held out."""
    return not block.is_held_out


def find_last_ranges(
    sampling: Sampling, ranges: Mapping[str, Counts], held_out: Mapping[str, int]
) -> dict[str, LastRange]:
    """Returns language → the range of ranks that contains the rank of the last chosen sentence.

    A rank is the hash of a sentence. Sentences are chosen in the order of their ranks.

    Args:
      sampling: the settings that determine the number of sentences of each language.
      ranges: language → number of its sentences in each range of ranks, without held-out blocks.
      held_out: language → number of its sentences in held-out blocks, such as those of the split validation.
    """
    none = np.zeros(RANGES, np.int64)
    counts = {name: int(ranges.get(name, none).sum()) for name in sampling.languages}
    try:
        total = min(sampling.sentences, sum(counts.values()))
        shares = sentence_sampling.share_out(counts, sampling.temperature, total)
    except ValueError as error:
        raise InputError(" ".join(sampling.languages), str(error)) from None
    return {
        name: sentence_sampling.find_last_range(
            ranges.get(name, none), share, 0 if held_out.get(name) else sentence_sampling.HELD_OUT
        )
        for name, share in shares.items()
    }


def ranks_of_block(
    block: SentenceBlock, last_ranges: Mapping[str, LastRange]
) -> Iterator[tuple[str, Ranks]]:
    """Yields (language, ranks) for the sentences of a block whose ranks are in the language's last range.

    A rank is the hash of a sentence. Sentences are chosen in the order of their ranks. The last range is the
    range of ranks that contains the rank of the last chosen sentence. `last_ranges` maps each language to
    its last range. Yields nothing if no rank of the block is in this range.
    """
    ranks = sentence_sampling.ranks_in_range(block.ranks(), last_ranges[block.language])
    if len(ranks):
        yield block.language, ranks


def choose_all(
    last_ranges: Mapping[str, LastRange], ranks: Mapping[str, Ranks]
) -> dict[str, Choice]:
    """Returns language → Choice, which determines the sentences to use for training.

    A rank is the hash of a sentence. Sentences are chosen in the order of their ranks.

    Args:
      last_ranges: language → the range of ranks that contains the rank of the last chosen sentence.
      ranks: language → the ranks of its sentences in that range.
    """
    return {
        name: sentence_sampling.choose(last, ranks.get(name, NO_RANKS))
        for name, last in last_ranges.items()
    }


BUCKETS = 64
Choices = Mapping[str, Choice]


@transform
def CountSampleWords(
    blocks: beam.PCollection,
    folder: str,
    choices: beam.PCollection,
    buckets: int = BUCKETS,
    unit: Unit = SENTENCES,
) -> Any:
    """Counts the words of the sentences chosen for training.

    PCollection[SentenceBlock] → (PCollection[(bucket, word counts in scratch)], PCollection[(language,
    number of counted sentences)]). Each word is in one bucket.

    Args:
      folder: output folder of the build.
      choices: side input with one mapping {language: Choice}. A Choice says which sentences of a language
        are used for training, and how often.
      buckets: number of buckets, which are counted in parallel. It determines the order in which the trainer
        reads the words.
      unit: the kind of the texts.
    """
    rules = AsSingleton(choices)
    train = blocks | "OfTrain" >> beam.Filter(is_of_train)
    lasts = (
        train
        | "LastSentences" >> beam.FlatMap(last_sentences, rules)
        # Sentences with the last rank have the same text. If two texts have the same rank, the first one
        # is used.
        | "OneOfThem" >> beam.CombinePerKey(min)
    )
    words = (
        (
            train | "CountBlocks" >> DealWords(folder, count_block, buckets, rules, unit),
            lasts | "CountLasts" >> DealWords(folder, count_last, buckets, rules),
        )
        | "Pieces" >> beam.Flatten()
        | "GroupBuckets" >> beam.GroupByKey()
        | "AddBuckets" >> beam.Map(add_sample_bucket, Scratch(folder))
    )
    sampled = (
        (
            train | "Sampled" >> beam.Map(sampled_of_block, rules),
            lasts
            | "SampledLasts"
            >> beam.Map(
                lambda last, chosen: (last[0], chosen[last[0]].copies), rules
            ).with_output_types(tuple[str, int]),
        )
        | "AllSampled" >> beam.Flatten()
        | "AddSampled" >> beam.CombinePerKey(sum)
    )
    return words, sampled


def count_block(block: SentenceBlock, choices: Choices, unit: Unit) -> pa.RecordBatch | None:
    """Counts the words of the chosen texts of a block. Returns None if no text is chosen.

    A text that is used several times for training is counted as many times. `unit` is their kind.
    """
    choice = choices[block.language]
    counted = []
    if choice.share.times:
        counted.append(_multiply(unit.count_words(fetch(block.packed_lines)), choice.share.times))
    chosen = np.flatnonzero(is_once_more(block.ranks(), choice))
    if len(chosen):
        lines = block.lines()
        counted.append(unit.count_words(block_of([lines[place] for place in chosen])))
    return add_counts(counted) if counted else None


def last_sentences(block: SentenceBlock, choices: Choices) -> Iterator[tuple[str, bytes]]:
    """Yields (language, sentence) if the last chosen sentence of the language is in the block.

    Sentences are chosen in the order of their ranks, which are hashes. The last chosen sentence is the one
    with the rank `Choice.last`. If the block has several copies of it, all of them are yielded.
    """
    places = np.flatnonzero(sentence_sampling.is_last(block.ranks(), choices[block.language]))
    if len(places):
        lines = block.lines()
        yield from ((block.language, lines[place]) for place in places)


def count_last(last: tuple[str, bytes], choices: Choices) -> pa.RecordBatch:
    """Counts the words of the last chosen sentence of a language. `last` is (language, sentence).

    The input may have several copies of this sentence. `Choice.copies` of them are used one more time than
    `count_block` has counted, so all counts are multiplied by this number.
    """
    language, sentence = last
    return _multiply(count_words(block_of([sentence])), choices[language].copies)


def sampled_of_block(block: SentenceBlock, choices: Choices) -> tuple[str, int]:
    """Returns (language, number of sentences that `count_block` counts)."""
    choice = choices[block.language]
    once_more = int(is_once_more(block.ranks(), choice).sum())
    return block.language, block.sentences * choice.share.times + once_more


def add_sample_bucket(grouped: tuple[int, Iterable[bytes]], scratch: Scratch) -> tuple[int, bytes]:
    """Adds up the word counts of a bucket. Returns (bucket, reference to the sum, which is in scratch).

    Each word belongs to one bucket. `grouped` is (bucket, references to counts in scratch).
    """
    return grouped[0], scratch.put(pack_counts(add_pieces(grouped[1])))


def _multiply(counts: pa.RecordBatch, times: int) -> pa.RecordBatch:
    return pa.record_batch(
        [counts["word"], pc.multiply(counts["count"], times)], schema=counts.schema
    )
