"""Finds the overlap of training texts with evaluation texts, in one pass over the training texts.

The index of the evaluation texts is read from memory-mapped files, which the workers of a machine share. So
the memory needed depends only on the size of the evaluation texts.

Reads the items of evaluation sets, and indexes their texts.
"""

import bisect
import functools
import io
import itertools
import operator
import pickle
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
import numpy
import pyarrow as pa
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsDict, AsSingleton

from ..files import counters
from ..files.distribution import Spread, SpreadAll
from ..files.line_blocks import pack_block, unpack_block
from ..files.read_files import read_raw
from ..files.stores import is_local
from ..files.text_kinds import LINES
from ..files.write_files import write_whole
from . import read_texts
from .contamination_evidence import (
    TIERS,
    Found,
    add,
    add_to,
    describe,
    find_hits,
    rate,
    sum_of,
)
from .evaluation_index import BLOCK_CHARACTERS, EvaluationIndex, build_index, fold_block, fold_texts
from .matched_passages import find_matches


class EvaluationSet(NamedTuple):
    """The files of a data set on which models are evaluated."""

    name: str
    files: tuple[read_texts.TextFile, ...]


class Item(NamedTuple):
    """A text of an evaluation set, with its id and its number in the index.

    If the fields of the set are known (see evaluation_sets.toml), its question, its context and a long answer
    are items of their own, and the item of the question has the right answer.
    """

    set: str
    split: str
    id: str
    text: str
    number: int  # number of its text in the index; items with the same text have the same number
    part: str = ""  # QUESTION, CONTEXT or ANSWER of read_texts.py; "" if the fields are not known
    # right answers to a question, one per line, which are not in `text`; "" if there is none
    answer: str = ""


class EvaluationItems(NamedTuple):
    """The items of all evaluation sets, the index of their texts, and counts of rejected texts."""

    items: list[Item]  # in the order of sets and files
    known: EvaluationIndex
    rejected: dict[str, int]  # "set/reason" → texts


def read_evaluation_sets(sets: Iterable[EvaluationSet], n: int) -> EvaluationItems:
    """Reads all items of the given evaluation sets, and indexes them. Raises InputError if a file is invalid.

    If an item has no id, its position becomes its id: in a text file the line number, counted from 1; in a
    Parquet file the row, counted from 0; in JSON lines the byte at which the line begins. If the ids of a
    split with several files are positions, the file name is put before them. `n` is the number of words in
    the n-grams of the index.
    """
    texts: dict[str, int] = {}
    items: list[Item] = []
    rejected: dict[str, int] = {}
    for one in sets:
        splits = [file.split for file in one.files]
        for file in one.files:
            line = 0
            for batch in read_texts.read_texts(file):
                reasons = {
                    f"{one.name}/{reason}": count for reason, count in batch.rejected.items()
                }
                rejected = sum_of([rejected, reasons])
                details = batch.details or [("", "")] * len(batch.texts)
                for key, text, detail in zip(batch.ids, batch.texts, details, strict=True):
                    line += 1
                    name = str(line) if file.kind in (LINES, read_texts.FILES) else key
                    if splits.count(file.split) > 1 and not file.id:
                        name = f"{posixpath.basename(file.path)}:{name}"
                    number = texts.setdefault(text, len(texts))
                    items.append(Item(one.name, file.split, name, text, number, *detail))
    return _without_wordless(items, list(texts), rejected, n)


def _without_wordless(
    items: list[Item], texts: list[str], rejected: dict[str, int], n: int
) -> EvaluationItems:
    """Returns the items that contain words, with new numbers, and the index of their n-grams.

    Items without words are added to the counts of rejected texts.

    Args:
      items: all items of the evaluation sets.
      texts: the different texts of the items.
      rejected: "set/reason" → number of texts that were already rejected.
      n: number of words in an n-gram.
    """
    counts = [
        int(one) for block in fold_texts(texts) for one in block.bounds[1:] - block.bounds[:-1]
    ]
    kept = [text for text, count in zip(texts, counts, strict=True) if count]
    numbers = {text: number for number, text in enumerate(kept)}
    wordless = [{f"{item.set}/no-words": 1} for item in items if item.text not in numbers]
    return EvaluationItems(
        [item._replace(number=numbers[item.text]) for item in items if item.text in numbers],
        build_index(kept, n),
        sum_of([rejected, *wordless]),
    )


STAGE = "find-contamination"
_NAMED = ("file", "document", "set", "split", "item", "part", "tier", "answer")
HITS = pa.schema(
    [
        *((name, pa.string()) for name in _NAMED),
        *((name, pa.int64()) for name in ("words", "start", "end", "found")),
        ("share", pa.float64()),
        *((name, pa.int64()) for name in ("missing", "documents")),
        ("position", pa.string()),  # of the document in the file, also if it has an id
    ]
)
"""The columns of hits, see `Hit` and `Rating`. Of items that have the same text, `item` is the first."""

_rate = functools.lru_cache(1 << 16)(rate)  # many hits have the same words of an item
_ARRAYS, _NAMES = "arrays.json", "names.json"


class FindContamination(beam.PTransform):
    """Finds the overlap of training texts with evaluation texts.

    Pipeline → (the overlap, PCollection[(number of an evaluation text, Found)]; one dict with the counts of
    what was read, and "rejected/reason"; rows of HITS; PCollection[((number of an evaluation text, tier),
    number of documents for which this is the first of the tiers of all hits)]).

    Args:
      files: files of training texts.
      folder: folder with the index of the evaluation texts, see `save_index`.
      shown: maximum number of shared passages that the overlap has for each evaluation text. The rows of HITS
        are not limited.
      workers: number of workers that divide the work on a large file which cannot be split, such as a .gz.
        Each of them decompresses the whole file, but processes only its share of the documents.
    """

    def __init__(self, files: Sequence[read_texts.TextFile], folder: str, shown: int, workers: int):
        super().__init__()
        self.files, self.workers = tuple(files), workers
        self.shown, self.folder = shown, folder

    def expand(self, root: beam.Pipeline) -> tuple[beam.PCollection, ...]:
        searched = (
            root
            | "SpreadFiles" >> SpreadAll(self.files, of=read_texts.TextFile)
            | "SpreadParts" >> Spread(read_texts.plan_parts, self.workers, of=read_texts.FilePart)
            | "Search"
            >> beam.FlatMap(search_part, self.folder, self.shown)
            .with_output_types(tuple[int, Any])
            .with_outputs("counts", "hits", main="found")
        )
        found = searched.found | "AddUp" >> beam.CombinePerKey(add_all, self.shown)
        counts = searched.counts | "AddCounts" >> beam.CombineGlobally(sum_of)
        steps = found | "Steps" >> beam.MapTuple(lambda item, one: (item, one.steps))
        rated = searched.hits | "Rate" >> beam.FlatMap(
            rate_hits, self.folder, AsDict(steps), AsSingleton(counts)
        ).with_outputs("tiers", main="rows")
        tiers = rated.tiers | "CountTiers" >> beam.combiners.Count.PerElement()
        return found, counts, rated.rows, tiers


def rate_hits(
    packed: bytes, folder: str, steps: Mapping[int, Any], counts: Mapping[str, int]
) -> Iterator[Any]:
    """Finds the tiers of packed hits of `search_part`. Yields rows of HITS.

    The output "tiers" has (index of an evaluation text, first tier of its hits) for each document.
    """
    index, names = load_index(folder), load_names(folder)
    path, hits = pickle.loads(unpack_block(packed))
    for ((name, position), item), some in itertools.groupby(hits, operator.itemgetter(0, 1)):
        tiers = []
        for _, _, *place, answer, found in some:
            tier, *facts = _rate(index, item, found, steps[item], counts["documents"], answer)
            tiers.append(tier)
            row = path, name, *names[item][:4], tier, answer
            yield *row, *place, *facts, position
        yield beam.pvalue.TaggedOutput("tiers", (item, min(tiers, key=TIERS.index)))


def search_part(part: read_texts.FilePart, folder: str, shown: int) -> Iterator[Any]:
    """Searches a part of a file for n-grams of evaluation texts.

    Yields (number of an evaluation text, its overlap with the part), for the evaluation texts that overlap.
    Counts are on the output "counts", packed hits on the output "hits".
    """
    index = load_index(folder)
    answers = [answer for *_, answer in load_names(folder)]
    path = part.file.path
    sums: dict[int, Found] = {}
    counts: dict[str, int] = {}
    for batch in _gather(read_texts.read_part(part)):
        block = fold_block(batch.texts)
        places = list(zip(batch.ids, batch.positions, strict=True))
        for matches in find_matches(index, block):
            found = describe(index, block, path, batch.ids, matches, shown, sums, answers)
            add_to(sums, found, shown)
            # Hits are rated when the number of all documents is known. They need less memory packed.
            hits = [(places[hit[0]], *hit[1:]) for hit in find_hits(block, matches, answers)]
            if hits:
                packed = pack_block(pickle.dumps((path, hits), protocol=5))
                yield beam.pvalue.TaggedOutput("hits", packed)
        content = block.folded.text.encode("utf-8", "surrogatepass")
        read = {
            "documents": len(batch.texts),
            "words": len(block.hashes),
            "bytes": len(content) - max(len(batch.texts) - 1, 0),
        }
        counters.count(STAGE, "text_bytes", read["bytes"])
        rejected = {f"rejected/{reason}": number for reason, number in batch.rejected.items()}
        counts = sum_of([counts, read, rejected])
    yield from sums.items()
    yield beam.pvalue.TaggedOutput("counts", counts)


def _gather(batches: Iterable[read_texts.TextBatch]) -> Iterator[read_texts.TextBatch]:
    """Joins and divides batches into batches of about BLOCK_CHARACTERS characters. Texts are not divided."""
    ids: list[str] = []
    texts: list[str] = []
    positions: list[str] = []
    rejected: dict[str, int] = {}
    characters = 0
    for batch in batches:
        rejected = sum_of([rejected, batch.rejected])
        sums = list(itertools.accumulate(map(len, batch.texts), initial=0))
        first = 0
        while first < len(batch.texts):
            full = sums[first] + BLOCK_CHARACTERS - characters
            last = min(bisect.bisect_left(sums, full, first + 1), len(batch.texts))
            ids += batch.ids[first:last]
            texts += batch.texts[first:last]
            positions += batch.positions[first:last]
            characters += sums[last] - sums[first]
            first = last
            if characters >= BLOCK_CHARACTERS:
                yield read_texts.TextBatch(ids, texts, rejected, positions=positions)
                ids, texts, rejected, positions, characters = [], [], {}, [], 0
    if texts or rejected:
        yield read_texts.TextBatch(ids, texts, rejected, positions=positions)


def add_all(found: Iterable[Found], shown: int) -> Found:
    """Returns the sum of the overlaps of one evaluation text with different parts of the training texts."""
    return functools.reduce(functools.partial(add, shown=shown), found)


def save_index(index: EvaluationIndex, names: Sequence[Sequence[str]], folder: str) -> None:
    """Writes an index of evaluation texts to a folder that all workers can read.

    Args:
      index: the index of the n-grams of the texts.
      names: the set, split, id, part and right answers of each evaluation text.
      folder: folder to write to; created if it does not exist.
    """
    if not FileSystems.exists(folder):
        FileSystems.mkdirs(folder)
    for name, array in index.arrays.items():
        buffer = io.BytesIO()
        numpy.save(buffer, array)
        write_whole(posixpath.join(folder, f"{name}.npy"), buffer.getvalue())
    description = {"n": index.n, "arrays": list(index.arrays)}
    write_whole(posixpath.join(folder, _ARRAYS), msgspec.json.encode(description))
    write_whole(posixpath.join(folder, _NAMES), msgspec.json.encode(names))


@functools.lru_cache(maxsize=1)
def load_index(folder: str) -> EvaluationIndex:
    """Reads the index of evaluation texts that `save_index` has written to a folder.

    If the folder is on a local disk, all processes share the memory of the arrays.
    """
    description = msgspec.json.decode(read_raw(posixpath.join(folder, _ARRAYS)))
    arrays = {name: _load(posixpath.join(folder, f"{name}.npy")) for name in description["arrays"]}
    return EvaluationIndex(description["n"], arrays)


@functools.lru_cache(maxsize=1)
def load_names(folder: str) -> list[list[str]]:
    """Reads the names of each evaluation text from a folder that `save_index` has written."""
    return msgspec.json.decode(read_raw(posixpath.join(folder, _NAMES)), type=list[list[str]])


def _load(path: str) -> Any:
    if is_local(path):
        return numpy.asarray(numpy.load(path, mmap_mode="r"))
    return numpy.load(io.BytesIO(read_raw(path)))
