"""Entity table: what corpora need of Wikidata, from its JSON dump, in a form that is quick to join.

The dump is 1.5 TB of JSON, and all languages need the same few columns of it: the classes of an item (P31),
closed over "subclass of" (P279), and the titles of its pages. So they are taken out once.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apache_beam as beam

from pipelines.builds.provenance import code_versions
from pipelines.builds.stages import Place, Stage
from pipelines.settings.dump_settings import check_dump_settings
from transforms.builds.write_manifest import Enter, WriteManifest
from transforms.files.hash_inputs import HashInputs
from transforms.files.open_input import match_inputs
from transforms.files.write_rejected import CountReasons, WriteRejected
from transforms.text.builds.build_manifest import Provenance
from transforms.text.builds.ledger import INPUTS, LOST, OUTPUTS, REJECTED
from transforms.text.wikimedia.entity_accounts import DESCRIPTION, account_for_entities
from transforms.text.wikimedia.entity_table import ROWS_PER_FILE
from transforms.text.wikimedia.language import LANGUAGE_CODES, dbname_of
from transforms.wiki.close_classes import CloseOverSubclasses
from transforms.wiki.pack_items import PackedItems, PackItems
from transforms.wiki.read_entities import ReadEntities, check_entity_dump, entity_bytes_of
from transforms.wiki.write_entity_table import WriteEntityTable, WriteInternalClasses

CORPUS = "entities"
EDITION = "wikidata"
VERSION = "1.0.0"
RELEASE_NOTES = {"1.0.0": "First build."}
ALWAYS_WANTED = "enwiki"  # its titles name the templates of all wikis

_DATE_IN_NAME = re.compile(r"(\d{8}|latest)-all")
_DATE_OF_FOLDER = re.compile(r"(\d{8})/[^/]*$")


@dataclasses.dataclass(frozen=True)
class EntitiesConfig:
    """Settings of one build. Those that contradict each other raise ValueError."""

    dump: Sequence[str]  # patterns of wikidata-<date>-all.json files, or parts of one
    wikis: Sequence[str] = LANGUAGE_CODES  # corpus codes: the wikis whose titles are wanted
    dump_date: str = ""  # "20260101"; "" is taken from the name of the dump
    on_corrupt: str = "fail"
    rows_per_file: int = ROWS_PER_FILE

    def __post_init__(self) -> None:
        for code in self.wikis:
            dbname_of(code)
        check_dump_settings(self.dump, self.dump_date, self.on_corrupt)
        if self.rows_per_file < 1:
            raise ValueError(f"rows_per_file is {self.rows_per_file}, and must be positive")


class ReadItems(NamedTuple):
    """What reading hands on."""

    blocks: beam.PCollection  # of bytes (see transforms/wiki/pack_items.py)
    ranges: beam.PCollection  # one Counter: range of ids → items in it
    entities: beam.PCollection  # one int: all items
    kinds: beam.PCollection  # one {internal class: kind}
    rejected: beam.PCollection  # of Rejected
    ledger: beam.PCollection  # of Entry


class Entities:
    """One build: its inputs, found, and its pipeline."""

    def __init__(self, config: EntitiesConfig):
        """Raises InputError for inputs that are missing, no entity dump, or visibly cut off."""
        self.config = config
        self.dumps = match_inputs(config.dump)
        for path in self.dumps:
            check_entity_dump(path, whole=config.on_corrupt == "fail")
        self.wikis = sorted({ALWAYS_WANTED, *map(dbname_of, config.wikis)})

    @property
    def path(self) -> tuple[str, ...]:
        """Where the build goes below the output folder: corpus, edition, dump date and version."""
        return CORPUS, EDITION, f"{self.dump_date}-{VERSION}"

    @property
    def dump_date(self) -> str:
        """The date in the name of the dump or of its folder, unless the settings give one."""
        found = _DATE_IN_NAME.search(self.dumps[0]) or _DATE_OF_FOLDER.search(self.dumps[0])
        return self.config.dump_date or (found.group(1) if found else "undated")

    def bytes_to_read(self, stripes: int) -> int:
        """Bytes of dump files that the workers will read."""
        return sum(entity_bytes_of(path, stripes) for path in self.dumps)

    def stages(self) -> tuple[Stage, ...]:
        """The method: what is taken out of the dump, and the table that is made of it."""
        return Stage("read", self.read), Stage("write", self.write)

    def read(self, root: beam.Pipeline, place: Place) -> ReadItems:
        """Takes out of the dump what is wanted of each item."""
        read = root | "ReadEntities" >> ReadEntities(
            self.dumps, place.stripes, self.config.on_corrupt
        )
        items = read.batches | "PackItems" >> PackItems(self.wikis)
        return ReadItems(
            blocks=items.blocks,
            ranges=items.ranges,
            entities=items.entities,
            kinds=read.batches | "CloseOverSubclasses" >> CloseOverSubclasses(),
            rejected=read.rejected,
            ledger={
                INPUTS: root | "HashInputs" >> HashInputs(self.inputs()),
                LOST: read.lost,
                "entities": items.entities,
                "skipped": read.skipped,
            }
            | "Enter" >> Enter(),
        )

    def write(self, root: beam.Pipeline, place: Place, read: ReadItems) -> None:
        """Writes the table, and what it is made of."""
        folder = place.folder
        items = PackedItems(read.blocks, read.ranges, read.entities)
        table = items | "WriteEntityTable" >> WriteEntityTable(
            folder, self.wikis, self.config.rows_per_file
        )
        ledger = {
            OUTPUTS: (
                table.files,
                read.kinds | "WriteInternalClasses" >> WriteInternalClasses(folder),
                read.rejected | "WriteRejected" >> WriteRejected(folder),
            ),
            REJECTED: read.rejected | "CountReasons" >> CountReasons(),
            "counts": table.counts,
            "kinds": read.kinds,
        } | "Enter" >> Enter(read.ledger)
        _ = ledger | "WriteManifest" >> WriteManifest(
            folder, self.provenance(), DESCRIPTION, account_for_entities
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Role → paths of all files that decide about the output."""
        return {"entities": self.dumps}

    def caveats(self) -> tuple[str, ...]:
        """What this build cannot know, for want of an input: nothing, it has the one that there is."""
        return ()

    def provenance(self) -> Provenance:
        """What the manifest says of the build before it runs."""
        return Provenance(
            corpus=CORPUS,
            edition=EDITION,
            dump_date=self.dump_date,
            version=VERSION,
            release_notes=RELEASE_NOTES,
            settings={
                "wikis": self.wikis,
                "on_corrupt": self.config.on_corrupt,
                "rows_per_file": self.config.rows_per_file,
            },
            caveats=self.caveats(),
            code=code_versions("numpy"),
        )
