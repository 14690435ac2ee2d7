"""Elements → their words with counts, dealt out to buckets."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.windowed_value import WindowedValue

from transforms.files.scratch import Scratch, fetch
from transforms.text.vocabularies.word_counts import (
    add_counts,
    cut_by_bucket,
    pack_counts,
    unpack_counts,
)

GATHERED_WORDS = 1 << 18
"""Words with counts that a worker holds before it deals them out."""


class DealWords(beam.PTransform):
    """PCollection[Any] → PCollection[(bucket, word counts put away)].

    Counts of several elements are joined before they are dealt out, so that few pieces travel.

    Args:
      folder: in which counts wait (see scratch.py).
      count: element → its word counts (see text/word_counts.py); nothing for an element that has none.
      buckets: how many there are.
      join: batches of counts → one batch. The one that is given adds up what is the same word.
    """

    def __init__(
        self,
        folder: str,
        count: Callable[..., pa.RecordBatch | None],
        buckets: int,
        *side_inputs: Any,
        join: Callable[[Sequence[pa.RecordBatch]], pa.RecordBatch] = add_counts,
    ):
        super().__init__()
        if buckets < 1:
            raise ValueError(f"buckets is {buckets}, and must be positive")
        self.deal = _Deal(Scratch(folder), count, buckets, join)
        self.side_inputs = side_inputs

    def expand(self, elements: beam.PCollection) -> beam.PCollection:
        deal = beam.ParDo(self.deal, *self.side_inputs).with_output_types(tuple[int, bytes])
        return elements | "Deal" >> deal


class _Deal(beam.DoFn):
    def __init__(
        self,
        scratch: Scratch,
        count: Callable[..., pa.RecordBatch | None],
        buckets: int,
        join: Callable[[Sequence[pa.RecordBatch]], pa.RecordBatch],
    ):
        self._scratch = scratch
        self._count = count
        self._buckets = buckets
        self._join = join

    def start_bundle(self) -> None:
        self._gathered: list[pa.RecordBatch] = []
        self._words = 0

    def process(self, element: Any, *side_inputs: Any) -> Iterator[tuple[int, bytes]]:
        counts = self._count(element, *side_inputs)
        if counts is not None:
            self._gathered.append(counts)
            self._words += counts.num_rows
        if self._words >= GATHERED_WORDS:
            yield from self._pack()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        window = GlobalWindow()
        for piece in self._pack():
            yield WindowedValue(piece, window.max_timestamp(), [window])

    def _pack(self) -> Iterator[tuple[int, bytes]]:
        gathered = self._gathered
        self.start_bundle()
        if gathered:
            for bucket, part in cut_by_bucket(self._join(gathered), self._buckets):
                yield bucket, self._scratch.put(pack_counts(part))


def add_dealt(pieces: Iterable[bytes]) -> pa.RecordBatch:
    """Adds up counts that were put away, some at a time: a large corpus has thousands of pieces."""
    gathered: list[pa.RecordBatch] = []
    words = 0
    for packed in pieces:
        gathered.append(unpack_counts(fetch(packed)))
        words += gathered[-1].num_rows
        if words >= 2 * GATHERED_WORDS:
            gathered, words = [add_counts(gathered)], 0
    return add_counts(gathered)
