"""Selects the sentences of a translation benchmark from the candidates of all domains.

Writes the sentences of a translation benchmark to source.tsv and to Parquet files.
"""

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apache_beam as beam
import pyarrow as pa

from ..files import counters
from ..files.formats import PARQUET
from ..files.records import SPLITS, OutputFile, Rejected, SourceSentence
from ..files.text import Shard
from ..files.write_files import mark, write_text
from ..files.write_rows import encode_batch, row_files, write_files
from .passages import Cell, Quota, articles_of
from .selection import Candidate, Selection, candidates_needed, lowest_of_copies, select
from .source_table import LICENCE, NAME, columns_of, write_source

CORPUS = "flores101"


class Selected(NamedTuple):
    """The outputs of SelectSentences: the selection, counts of candidates, and the rejected copies."""

    selection: beam.PCollection  # of one Selection
    candidates: beam.PCollection  # of (domain, number of candidates)
    rejected: beam.PCollection  # of Rejected: candidates that repeat another


@dataclass(eq=False, repr=False)
class SelectSentences(beam.PTransform):
    """Selects the sentences of a translation benchmark. PCollection[Candidate] → Selected.

    Each candidate has a rank, which is a hash. For each domain, a worker holds only the candidates with the
    lowest ranks, without copies. Their number is a few times the number of articles in the benchmark. Only
    these candidates are shuffled.

    Args:
      quotas: (domain, split) → number of articles and sentences.
      topics: URL → manually corrected topic.
    """

    quotas: Mapping[Cell, Quota]
    topics: Mapping[str, str]

    def expand(self, candidates: beam.PCollection) -> Selected:
        by_domain = candidates | "KeyByDomain" >> beam.WithKeys(operator.attrgetter("domain"))
        # the largest number of candidates of one domain that can affect the selection
        most = max(candidates_needed(articles_of(self.quotas, domain)) for domain, _ in self.quotas)
        drawn = by_domain | "LowestRanks" >> beam.CombinePerKey(LowestOfCopies(most))
        selection = (
            drawn
            | "Together" >> beam.combiners.ToList()  # one list, even if nothing was drawn
            | "Select" >> beam.Map(select_from, self.quotas, self.topics)
        )
        return Selected(
            selection,
            by_domain | "Count" >> beam.combiners.Count.PerKey(),
            selection | "Duplicates" >> beam.FlatMap(duplicates_of),
        )


class LowestOfCopies(beam.CombineFn):
    """Selects the candidates of a domain that have the lowest ranks.

    Of several copies of an article, only the one with the lowest rank is selected, see `lowest_of_copies`.

    Args:
      most: maximum number of selected candidates.
    """

    def __init__(self, most: int):
        self.most = most

    def create_accumulator(self) -> list[Candidate]:
        return []

    def add_input(self, accumulator: list[Candidate], candidate: Candidate) -> list[Candidate]:
        accumulator.append(candidate)
        # Reduced when the list has doubled, so that sorting is rare.
        return accumulator if len(accumulator) < 2 * self.most else self.compact(accumulator)

    def merge_accumulators(self, accumulators: Iterable[list[Candidate]]) -> list[Candidate]:
        merged: list[Candidate] = []
        for accumulator in accumulators:
            merged = self.compact(merged + accumulator)
        return merged

    def compact(self, accumulator: list[Candidate]) -> list[Candidate]:
        return lowest_of_copies(accumulator, self.most)

    extract_output = compact


def select_from(
    drawn: Iterable[tuple[str, Iterable[Candidate]]],
    quotas: Mapping[Cell, Quota],
    topics: Mapping[str, str],
) -> Selection:
    """Selects the sentences from the candidates of all domains.

    Args:
      drawn: (domain, its candidates) for each domain.
      quotas: (domain, split) → number of articles and sentences.
      topics: URL → topic that replaces the topic of the candidate with this URL.
    """
    candidates = (candidate for _, of_domain in drawn for candidate in of_domain)
    return select(
        (one._replace(topic=topics.get(one.url, one.topic)) for one in candidates), quotas
    )


def duplicates_of(selection: Selection) -> Iterator[Rejected]:
    """Yields the rejections of the candidates that repeat the text of another candidate.

    The field `stage` of each Rejected has the domain of the candidate as its prefix, such as "wikinews/".
    """
    for one in selection.duplicates:
        domain = one.id.partition(":")[0]
        counters.count(one.stage, one.reason)
        yield one._replace(stage=f"{domain}/{one.stage}")


SCHEMA = pa.schema(
    [
        (name, pa.bool_() if name.startswith("has_") else pa.string())
        for name in SourceSentence._fields
        if name != LICENCE
    ]
)


def write_sentences(
    selection: Selection, folder: str, marks: Mapping[str, str], formats: Sequence[str] = (PARQUET,)
) -> Iterator[OutputFile]:
    """Writes source.tsv for translators, and a file for each split in each format.

    Args:
      selection: the selected sentences.
      folder: output folder of the build.
      marks: key-value metadata of each Parquet file.
      formats: the formats to write.
    """
    sentences = selection.sentences
    names = columns_of(SCHEMA.names, sentences)
    schema = SCHEMA if LICENCE not in names else SCHEMA.append(pa.field(LICENCE, pa.string()))
    yield write_text(folder, NAME, write_source(sentences), "table")
    for split in SPLITS:
        rows = [one[: len(names)] for one in sentences if one.split == split]
        targets = row_files(formats, CORPUS, Shard(split, 0, 1))
        batch = encode_batch(schema, rows, formats)
        yield from write_files(folder, targets, mark(schema, marks), [batch])
