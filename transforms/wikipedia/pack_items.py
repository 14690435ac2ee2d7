"""Packs Wikidata items into blocks, and counts the items to plan the files of the entity table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.wikipedia import entity_table
from corpusmill.transforms.wikipedia.wikidata_json import Entity

BLOCK_ROWS = 1 << 16
BLOCK_BYTES = 1 << 25  # not larger, because items at the start of the dump have hundreds of pages


class PackedItems(NamedTuple):
    """The outputs of PackItems: blocks of items, and counts of items."""

    blocks: beam.PCollection  # of references to packed blocks in scratch: the rows of the table
    ranges: beam.PCollection  # one Counter: range of ids → number of items
    entities: beam.PCollection  # one int: total number of items


class PackItems(beam.PTransform):
    """Packs Wikidata items into blocks, and counts them. PCollection[list[Entity]] → PackedItems.

    Items are shuffled in blocks of some ten thousand rows. Shuffling single items would take longer than
    reading them. The packed blocks are stored in scratch.

    Args:
      folder: folder of the scratch; see files/scratch.py.
      wikis: database names, such as "dewiki", of the wikis whose titles are kept, in the order of the
        columns.
    """

    def __init__(self, folder: str, wikis: Sequence[str]):
        super().__init__()
        self.scratch = Scratch(folder)
        self.wikis = list(wikis)

    def expand(self, batches: beam.PCollection) -> PackedItems:
        make_blocks = beam.ParDo(_MakeBlocks(self.scratch, self.wikis)).with_output_types(bytes)
        ranges = (
            batches
            | "CountRanges" >> beam.Map(count_ranges)
            | "AddRanges" >> beam.CombineGlobally(add_counters)
        )
        return PackedItems(
            blocks=batches | "MakeBlocks" >> make_blocks,
            ranges=ranges,
            entities=ranges | "AddUp" >> beam.Map(total_of),
        )


def count_ranges(batch: Iterable[Entity]) -> Counter[int]:
    """Returns number of a range of ids → number of items of the batch in this range.

    The ids of items are divided into ranges of equal size (see entity_table.py).
    """
    return entity_table.count_ranges(entity.numeric_id for entity in batch)


def add_counters(counters: Iterable[Mapping[int, int]]) -> Counter[int]:
    """Returns the sum of all counters."""
    total: Counter[int] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def total_of(ranges: Mapping[int, int]) -> int:
    """Returns the total number of items. Runners may pass the Counter as a plain dict."""
    return sum(ranges.values())


class _MakeBlocks(beam.DoFn):
    """Collects items into blocks, stores the blocks in scratch, and yields references to them.

    The items of an unfinished block are Arrow tables, which take a tenth of the memory of Python objects.
    """

    def __init__(self, scratch: Scratch, wikis: Sequence[str]):
        self._scratch = scratch
        self._place_of_wiki = {wiki: place for place, wiki in enumerate(wikis)}

    def start_bundle(self) -> None:
        self._gathered: list[pa.Table] = []
        self._rows = self._bytes = 0

    def process(self, batch: Sequence[Entity]) -> Iterator[bytes]:
        block = entity_table.make_block(batch, self._place_of_wiki)
        self._gathered.append(block)
        self._rows += block.num_rows
        self._bytes += block.nbytes
        if self._rows >= BLOCK_ROWS or self._bytes >= BLOCK_BYTES:
            yield self._pack()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._gathered:
            yield GlobalWindows.windowed_value_at_end_of_window(self._pack())

    def _pack(self) -> bytes:
        packed = entity_table.pack_block(entity_table.merge_blocks(self._gathered))
        self.start_bundle()
        return self._scratch.put(packed)
