"""Writes small entity tables, laid out as those of `corpusmill entities`, without a dump."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.transforms.files.records import OutputFile
from corpusmill.transforms.wikipedia.entity_table import class_table, table_schema
from corpusmill.transforms.wikipedia.read_entity_table import EntityTable
from tests.makers.finished_builds import facts_of, listed, seal


class Item(NamedTuple):
    """A row of the table."""

    number: int
    instance_of: Sequence[int] = ()
    titles: Mapping[str, str] = {}  # wiki → title


def write_entity_table(
    folder: Path,
    items: Sequence[Item],
    kinds: Mapping[int, str],
    wikis: Sequence[str] = ("enwiki", "ukwiki"),
    rows_per_group: int = 2,
    groups_per_file: int = 2,
) -> EntityTable:
    """Writes a finished table into a new folder, and opens it. Its row groups are small."""
    folder.mkdir(parents=True)
    rows = sorted(items)
    groups = [rows[at : at + rows_per_group] for at in range(0, len(rows), rows_per_group)]
    files = [groups[at : at + groups_per_file] for at in range(0, len(groups), groups_per_file)]
    outputs = [
        _write_file(folder, f"entities-{at:05d}-of-{len(files):05d}.parquet", in_file, wikis)
        for at, in_file in enumerate(files)
    ]
    pq.write_table(class_table(kinds), folder / "internal-classes.parquet")
    finish(folder, outputs)
    return EntityTable.open(str(folder))


def finish(folder: Path, outputs: Sequence[OutputFile], corpus: str = "entities") -> None:
    """Writes the manifest, and COMPLETED."""
    seal(folder, facts_of(corpus, "wikidata", outputs=[file._asdict() for file in outputs]))


def _write_file(
    folder: Path, name: str, groups: Sequence[Sequence[Item]], wikis: Sequence[str]
) -> OutputFile:
    schema = table_schema(wikis)
    with pq.ParquetWriter(folder / name, schema) as writer:
        for group in groups:
            rows = [
                {"numeric_id": item.number, "instance_of": list(item.instance_of)}
                | {wiki: item.titles.get(wiki) for wiki in wikis}
                for item in group
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    return OutputFile(**listed(folder, name, "parquet", records=sum(map(len, groups))))
