"""Counts the vocabulary pieces of articles, by split."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow.compute as pc

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.builds.finished_builds import CorpusRows
from corpusmill.transforms.files.records import PackedArticle, SubwordStats
from corpusmill.transforms.models.subwords import SubwordCounter, TrainedSubwords, add_subword_stats
from corpusmill.transforms.wikipedia.pack_articles import unpack_text

STAGE = "count-subwords"

RowsKey = tuple[str, str, str]  # name of the vocabulary, edition, split


class CountSubwords(beam.PTransform):
    """Counts the vocabulary pieces of texts.

    PCollection[PackedArticle] or PCollection[CorpusRows] → PCollection[(key, SubwordStats)].

    Args:
      count: `count_article`, whose key is the split, or `count_rows`, whose key is (vocabulary, edition,
        split).
      trained: side input of `count`. If it has no model, nothing is counted.
    """

    def __init__(self, count: Callable[..., Iterator[Any]], trained: beam.pvalue.AsSideInput):
        super().__init__()
        self.count = count
        self.trained = trained

    def expand(self, texts: beam.PCollection) -> beam.PCollection:
        return (
            texts
            | "CountPieces" >> beam.FlatMap(self.count, self.trained)
            | "AddUp" >> beam.CombinePerKey(add_subword_stats)
        )


def count_article(
    article: PackedArticle, trained: TrainedSubwords
) -> Iterator[tuple[str, SubwordStats]]:
    """Yields (split, counts of the vocabulary pieces) of an article, or nothing if there is no model."""
    if trained.model:
        yield article.split, counter_of(trained.model).count(unpack_text(article))
        counters.count(STAGE, "articles")


def count_rows(
    rows: CorpusRows, vocabularies: Sequence[tuple[str, TrainedSubwords]]
) -> Iterator[tuple[RowsKey, SubwordStats]]:
    """Counts the pieces of the column `text` of a row group, once for each vocabulary.

    `vocabularies` are (name, vocabulary). Yields ((name, edition, split), counts) for each vocabulary that
    has a model. The edition, such as "uk", and the split are those of the file.
    """
    column = rows.table["text"]
    texts = column.to_pylist()
    for name, trained in vocabularies:
        if trained.model:
            counter = counter_of(trained.model)
            stats = add_subword_stats(map(counter.count, texts))
            yield (name, rows.file.edition, rows.file.split), stats
    counters.count(STAGE, "articles", len(texts))
    counters.count(STAGE, "text_bytes", pc.sum(pc.binary_length(column)).as_py() or 0)
    counters.flush()


@functools.lru_cache(maxsize=4)
def counter_of(model: bytes) -> SubwordCounter:
    """Returns the counter for a model. Counters are cached in each process.

    The cache finds a counter by the hash of its model. Python stores this hash in the bytes object. All calls
    in a Beam bundle pass the same object, so the hash is computed only once per bundle.
    """
    return SubwordCounter(model)
