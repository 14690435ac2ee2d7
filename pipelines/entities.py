"""Entity table: the facts in the Wikidata dump that builds of corpora need, as a table that is fast to join.

The dump is 1.5 TB of JSON, and all languages need the same few facts about each item: its classes (P31), with
their superclasses (P279), and the titles of its pages. So these facts are extracted only once.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place, Stage
from corpusmill.transforms.files.read_files import match_inputs
from corpusmill.transforms.wikipedia import make_entity_table
from corpusmill.transforms.wikipedia.entity_table import DESCRIPTION, account_for_entities
from corpusmill.transforms.wikipedia.read_dumps import dump_bytes_of
from corpusmill.transforms.wikitext.wikis import dbname_of

from .entities_settings import ALWAYS_WANTED, RELEASE, EntitiesConfig

_DATE_IN_NAME = re.compile(r"(\d{8}|latest)-all")
_DATE_OF_FOLDER = re.compile(r"(\d{8})/[^/]*$")


class ReadItems(NamedTuple):
    """The results of the stage "read": items and their counts."""

    # of bytes: packed items (see transforms/wikipedia/make_entity_table.py)
    blocks: beam.PCollection
    ranges: beam.PCollection  # one Counter: range of ids → number of items
    entities: beam.PCollection  # one int: number of all items
    kinds: beam.PCollection  # one {internal class: kind}
    rejected: beam.PCollection  # of Rejected
    ledger: beam.PCollection  # of Entry


class Entities(CorpusBuild):
    """A build of the entity table from a Wikidata dump."""

    config: EntitiesConfig
    release = RELEASE
    description = DESCRIPTION
    libraries = ("numpy",)

    def __init__(self, config: EntitiesConfig):
        """Finds and checks the inputs.

        Raises InputError for inputs that are missing, not an entity dump, or visibly truncated.
        """
        self.config = config
        self.dumps = match_inputs(config.dump)
        for path in self.dumps:
            make_entity_table.check_entity_dump(path, whole=config.on_corrupt == "fail")
        self.wikis = sorted({ALWAYS_WANTED, *map(dbname_of, config.wikis)})

    def date_of_inputs(self) -> str:
        """Returns the date in the name of the dump or of its folder; "" if neither has one."""
        found = _DATE_IN_NAME.search(self.dumps[0]) or _DATE_OF_FOLDER.search(self.dumps[0])
        return found[1] if found else ""

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the number of bytes of the dump that the workers will read.

        Args:
          stripes: The number of parts into which workers divide a file. A file that cannot be read from the
            middle, such as a .gz, is read from the beginning for each part, so it counts `stripes` times.
        """
        return sum(dump_bytes_of(path, stripes) for path in self.dumps)

    def stages(self) -> tuple[Stage, ...]:
        """Returns the stages: first extract the columns from the dump, then write the table."""
        return Stage("read", self.read), Stage("write", self.write)

    def read(self, root: beam.Pipeline, place: Place) -> ReadItems:
        """Extracts the columns that corpora need from each item in the dump.

        Args:
          root: The pipeline.
          place: The folder for the extracted columns.
        """
        read = root | "ReadEntities" >> make_entity_table.ReadEntities(
            self.dumps, place.stripes, self.config.on_corrupt
        )
        items = read.batches | "PackItems" >> make_entity_table.PackItems(place.scratch, self.wikis)
        return ReadItems(
            blocks=items.blocks,
            ranges=items.ranges,
            entities=items.entities,
            kinds=read.batches | "CloseOverSubclasses" >> make_entity_table.CloseOverSubclasses(),
            rejected=read.rejected,
            ledger=self.open_ledger(
                root, lost=read.lost, entities=items.entities, skipped=read.skipped
            ),
        )

    def write(self, root: beam.Pipeline, place: Place, read: ReadItems) -> None:
        """Writes the entity table, and the list of internal classes (those of Wikimedia's own pages).

        Args:
          root: The pipeline.
          place: The folder of the build, and a folder for intermediate files.
          read: The results of the stage "read".
        """
        folder = place.folder
        items = make_entity_table.PackedItems(read.blocks, read.ranges, read.entities)
        table = items | "WriteEntityTable" >> make_entity_table.WriteEntityTable(
            folder, place.scratch, self.wikis, self.config.rows_per_file
        )
        classes = read.kinds | "WriteInternalClasses" >> beam.Map(
            make_entity_table.write_internal_classes, folder
        )
        self.close_ledger(
            folder,
            read.ledger,
            account_for_entities,
            outputs=(table.files, classes),
            rejected=read.rejected,
            counts=table.counts,
            kinds=read.kinds,
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {"entities": self.dumps}

    def settings(self) -> Mapping[str, Any]:
        return {"wikis": self.wikis, **super().settings()}
