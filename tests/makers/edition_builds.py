"""Small finished builds of any corpus, with any rows: for the tests of what compares them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.transforms.wikipedia.article_rows import SCHEMA
from tests.makers.finished_builds import facts_of, listed, seal

Rows = Sequence[Mapping[str, Any]]


def make_edition(
    output: Path,
    splits: Mapping[str, Sequence[Rows]],
    *,
    corpus: str = "wiki40b",
    language: str = "uk",
    edition: str = "",
    date: str = "20260101",
    schema: pa.Schema | None = None,
    **of_manifest: Any,
) -> Path:
    """A finished build below `output`.

    Args:
      splits: split → the rows in each of its files; "" for a corpus without splits.
      schema: of the rows; None takes that of Wiki-40B, or what the first file has.
      of_manifest: more keys, or other values.
    """
    folder = output / corpus / (edition or language) / f"{date}-1.0.0"
    folder.mkdir(parents=True)
    if corpus == "wiki40b":
        schema = schema or SCHEMA
    outputs = []
    for split, files in splits.items():
        for number, rows in enumerate(files):
            name = f"{split or corpus}-{number:05d}-of-{len(files):05d}.parquet"
            table = pa.Table.from_pylist(list(rows), schema=schema)
            schema = schema or table.schema
            pq.write_table(table, folder / name, row_group_size=2)
            outputs.append(listed(folder, name, "parquet", split, len(rows)))
    manifest = facts_of(corpus, language, date, outputs=outputs)
    seal(folder, manifest | {"edition": edition or language} | of_manifest)
    return folder


def article(identity: str, paragraph: str = "Text.") -> dict[str, str]:
    """A row of Wiki-40B; its title is the id in small letters."""
    text = f"\n_START_ARTICLE_\n{identity.lower()}\n_START_PARAGRAPH_\n{paragraph}"
    return {"wikidata_id": identity, "text": text, "version_id": "7"}
