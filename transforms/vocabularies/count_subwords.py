"""Articles and vocabularies → counts of pieces, per split."""

import functools
from collections.abc import Iterator, Sequence

import apache_beam as beam
import pyarrow.compute as pc
from apache_beam.pvalue import AsList, AsSingleton

from transforms.builds.finished_builds import CorpusRows
from transforms.files import counters
from transforms.records import PackedArticle, SubwordStats
from transforms.text.vocabularies.subwords import SubwordCounter, TrainedSubwords, add_subword_stats
from transforms.wiki.pack_articles import unpack_text

STAGE = "count-subwords"

RowsKey = tuple[str, str, str]  # name of the vocabulary, edition, split


class CountSubwords(beam.PTransform):
    """PCollection[PackedArticle] → PCollection[(split, SubwordStats)].

    Args:
      trained: one TrainedSubwords. Without a model nothing is counted.
    """

    def __init__(self, trained: beam.PCollection):
        super().__init__()
        self.trained = trained

    def expand(self, articles: beam.PCollection) -> beam.PCollection:
        return (
            articles
            | "CountPieces" >> beam.ParDo(_CountPieces(), AsSingleton(self.trained))
            | "AddUp" >> beam.CombinePerKey(add_subword_stats)
        )


class CountRows(beam.PTransform):
    """PCollection[CorpusRows] → PCollection[((vocabulary, edition, split), SubwordStats)].

    Args:
      trained: of (name, TrainedSubwords). In one without a model nothing is counted.
    """

    def __init__(self, trained: beam.PCollection):
        super().__init__()
        self.trained = trained

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        return (
            rows
            | "CountPieces" >> beam.FlatMap(count_rows, AsList(self.trained))
            | "AddUp" >> beam.CombinePerKey(add_subword_stats)
        )


def count_rows(
    rows: CorpusRows, vocabularies: Sequence[tuple[str, TrainedSubwords]]
) -> Iterator[tuple[RowsKey, SubwordStats]]:
    """Counts the column `text` of a row group in each vocabulary."""
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


class _CountPieces(beam.DoFn):
    """Holds the counter of the model that it met last."""

    def __init__(self) -> None:
        super().__init__()
        self._model: bytes = b""
        self._counter: SubwordCounter | None = None

    def process(
        self, article: PackedArticle, trained: TrainedSubwords
    ) -> Iterator[tuple[str, SubwordStats]]:
        if not trained.model:
            return
        # By identity: a bundle has one model, and a megabyte is not compared for each article.
        if self._counter is None or self._model is not trained.model:
            self._model, self._counter = trained.model, counter_of(trained.model)
        yield article.split, self._counter.count(unpack_text(article))


@functools.lru_cache(maxsize=4)
def counter_of(model: bytes) -> SubwordCounter:
    """The counter of a model, loaded once in a process: bundles are many."""
    return SubwordCounter(model)
