"""Finished builds → vocabularies over all of them, learned from the first articles of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam

from transforms.builds.finished_builds import (
    Build,
    RowGroup,
    files_of,
    read_row_group,
    row_groups_of,
)
from transforms.files import counters
from transforms.records import OutputFile
from transforms.text.vocabularies.subwords import SubwordSettings, TrainedSubwords
from transforms.vocabularies.train_subwords import STAGE, train_on, write_subwords

COLUMNS = ("wikidata_id", "version_id", "text")


class SamplePart(NamedTuple):
    """The first rows of a row group."""

    group: RowGroup
    rows: int


class TrainOnBuilds(beam.PTransform):
    """Pipeline → PCollection[(name, TrainedSubwords)].

    One worker trains them all, one after the other, for each takes gigabytes. It reads the sample from
    the files itself: nothing of it goes through a shuffle.

    Args:
      sample: in the order in which it is learned from, which decides about the bytes.
      vocabularies: name → settings.
    """

    def __init__(self, sample: Sequence[SamplePart], vocabularies: Mapping[str, SubwordSettings]):
        super().__init__()
        self.sample = list(sample)
        self.vocabularies = dict(vocabularies)

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "Vocabularies" >> beam.Create([self.vocabularies])
            | "Train" >> beam.FlatMap(train_on_sample, self.sample)
        )


class WriteVocabularies(beam.PTransform):
    """PCollection[(name, TrainedSubwords)] → PCollection[OutputFile]."""

    def __init__(self, folder: str, prefix: str):
        super().__init__()
        self.folder = folder
        self.prefix = prefix

    def expand(self, trained: beam.PCollection) -> beam.PCollection:
        return trained | beam.FlatMap(write_vocabulary, self.folder, self.prefix)


def plan_sample(build: Build, articles: int) -> list[SamplePart]:
    """The first articles of train, in the order of the files. Reads as few footers as it can."""
    parts: list[SamplePart] = []
    left = articles
    for file in files_of(build, ("train",)):
        if not left:
            break
        for group in row_groups_of(file):
            rows = min(group.rows, left)
            if rows:
                parts.append(SamplePart(group, rows))
                left -= rows
    return parts


def train_on_sample(
    vocabularies: Mapping[str, SubwordSettings], sample: Sequence[SamplePart]
) -> Iterator[tuple[str, TrainedSubwords]]:
    """Trains each vocabulary on the whole sample."""
    for name, settings in vocabularies.items():
        counters.count(STAGE, "begun", sum(part.rows for part in sample))
        counters.flush()
        trained = train_on(read_sample(sample), settings)
        counters.count(STAGE, "articles", trained.sampled_articles)
        counters.flush()
        yield name, trained


def read_sample(sample: Iterable[SamplePart]) -> Iterator[tuple[str, str, str]]:
    """(wikidata id, version id, text) of each article; one row group is held at a time."""
    for part in sample:
        table = read_row_group(part.group, COLUMNS).table.slice(0, part.rows)
        yield from zip(*(table[name].to_pylist() for name in COLUMNS), strict=True)


def write_vocabulary(
    named: tuple[str, TrainedSubwords], folder: str, prefix: str
) -> Iterator[OutputFile]:
    """Writes `sentencepiece/<prefix>-<name>.model` and `.vocab`."""
    name, trained = named
    return write_subwords(trained, folder, f"{prefix}-{name}")
