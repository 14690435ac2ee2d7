"""Trains vocabularies on several finished builds, from the first articles of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import apache_beam as beam

from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    RowGroup,
    files_of,
    read_row_group,
    row_groups_of,
)
from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.models.subwords import SubwordSettings, TrainedSubwords
from corpusmill.transforms.wikipedia.train_subwords import train_on, write_subwords

COLUMNS = ("wikidata_id", "version_id", "text")


class TrainOnBuilds(beam.PTransform):
    """Trains vocabularies on articles of finished builds. Pipeline → PCollection[(name, TrainedSubwords)].

    One worker trains all vocabularies one after the other, because each takes gigabytes of memory. It reads
    the sample directly from the files, without a shuffle.

    Args:
      sample: row groups in the order of training. The order affects the bytes of the vocabularies.
      vocabularies: name → settings.
    """

    def __init__(self, sample: Sequence[RowGroup], vocabularies: Mapping[str, SubwordSettings]):
        super().__init__()
        self.sample = list(sample)
        self.vocabularies = dict(vocabularies)

    def expand(self, root: beam.Pipeline) -> beam.PCollection:
        return (
            root
            | "Vocabularies" >> beam.Create([self.vocabularies])
            | "Train" >> beam.FlatMap(train_on_sample, self.sample)
        )


def plan_sample(build: Build, articles: int) -> list[RowGroup]:
    """Returns the row groups that contain the first articles of the split train, in file order.

    The field `rows` of a returned row group is the number of its rows to use, counted from the first row.
    The footers of the Parquet files are read only until enough articles are found.
    """
    parts: list[RowGroup] = []
    for file in files_of(build, ("train",)):
        for group in row_groups_of(file) if articles else ():
            rows = min(group.rows, articles)
            if rows:
                parts.append(group._replace(rows=rows))
                articles -= rows
    return parts


def train_on_sample(
    vocabularies: Mapping[str, SubwordSettings], sample: Sequence[RowGroup]
) -> Iterator[tuple[str, TrainedSubwords]]:
    """Trains each vocabulary on the whole sample, and yields (name, vocabulary).

    `vocabularies` maps the name of each vocabulary to its settings.
    """
    articles = sum(part.rows for part in sample)
    for name, settings in vocabularies.items():
        yield name, train_on(read_sample(sample), settings, articles)


def read_sample(sample: Iterable[RowGroup]) -> Iterator[tuple[str, str, str]]:
    """Yields (Wikidata id, version id, text) of each article. One row group is in memory at a time."""
    for part in sample:
        table = read_row_group(part, COLUMNS).table.slice(0, part.rows)
        yield from zip(*(table[name].to_pylist() for name in COLUMNS), strict=True)


def write_vocabulary(
    named: tuple[str, TrainedSubwords], folder: str, prefix: str
) -> Iterator[OutputFile]:
    """Writes `sentencepiece/<prefix>-<name>.model` and `.vocab`, or nothing if there is no model.

    `named` is (name, vocabulary). `prefix` is the beginning of the file names.
    """
    name, trained = named
    return write_subwords(trained, folder, f"{prefix}-{name}")
