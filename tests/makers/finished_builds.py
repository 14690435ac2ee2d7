"""Small finished builds, written straight to disk: for the tests of what reads them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.transforms.files.builds.manifest import to_json
from corpusmill.transforms.files.formats import file_name
from corpusmill.transforms.files.markup import hub_head
from corpusmill.transforms.files.text import Shard

SPLITS = ("train", "validation", "test")
ROWS_PER_GROUP = 2


def make_build(
    output: Path,
    edition: str,
    ids: Mapping[str, Sequence[Sequence[str]]],
    *,
    date: str = "20260101",
    version: str = "1.0.0",
    corpus: str = "wiki40b",
    **of_manifest: Any,
) -> Path:
    """A finished build below `output`.

    Args:
      ids: split → the ids in each of its files; a split that is not named has one empty file.
      of_manifest: more keys, or other values.
    """
    folder = output / corpus / edition / f"{date}-{version}"
    folder.mkdir(parents=True)
    files = {split: ids.get(split, [[]]) for split in SPLITS}
    outputs = [
        _written(folder, kind, corpus, split, number, of_split)
        for kind in ("parquet", "tfrecord")
        for split, of_split in files.items()
        for number in range(len(of_split))
    ]
    kept = {split: sum(map(len, of_split)) for split, of_split in files.items()}
    counts = {"kept": kept | {"total": sum(kept.values())}}
    manifest = facts_of(corpus, edition, date, version, counts=counts, outputs=outputs)
    stats = {split: {"articles": kept[split]} for split in SPLITS}
    (folder / "stats.json").write_text(to_json(stats), "utf-8")
    outputs.append(listed(folder, "stats.json"))
    seal(folder, manifest | of_manifest)
    return folder


def facts_of(
    corpus: str, edition: str, date: str = "20260101", version: str = "1.0.0", **more: Any
) -> dict[str, Any]:
    """A manifest with the facts that all have, and more."""
    return {
        "signature": f"{corpus}|lang:{edition}|dump:{date}|v:{version}",
        "corpus": corpus,
        "edition": edition,
        "dump_date": date,
        "version": version,
        **more,
    }


def listed(
    folder: Path, name: str, kind: str = "json", split: str = "", records: int = 0
) -> dict[str, Any]:
    """The entry of a file in the manifest of its build."""
    content = (folder / name).read_bytes()
    return {
        "name": name,
        "split": split,
        "format": kind,
        "records": records,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def add_card(build: Path) -> None:
    """Writes the README.md of a build, as far as Hugging Face datasets reads it."""
    manifest = manifest_of(build)
    head = hub_head("cc-by-sa-4.0", manifest["edition"], SPLITS)
    (build / "README.md").write_text("\n".join([*head, ""]), "utf-8")
    manifest["outputs"].append(listed(build, "README.md", "card"))
    seal(build, manifest)


def seal(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Writes manifest.json and the COMPLETED that fits it."""
    content = to_json(manifest).encode("utf-8")
    (folder / "manifest.json").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    (folder / "COMPLETED").write_text(f"{digest}  manifest.json\n", "utf-8")


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest, free to be changed and sealed again."""
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return manifest


def text_of(identity: str) -> str:
    """The text of an article in such a build."""
    return f"\n_START_ARTICLE_\n{identity}\n_START_PARAGRAPH_\nПро {identity}."


def _written(
    folder: Path, kind: str, corpus: str, split: str, number: int, of_split: Sequence[Sequence[str]]
) -> dict[str, Any]:
    ids = list(of_split[number])
    name = file_name(kind, corpus, Shard(split, number, len(of_split)))
    if kind == "parquet":
        table = pa.table(
            {
                "wikidata_id": pa.array(ids, pa.string()),
                "text": pa.array(map(text_of, ids), pa.string()),
                "version_id": pa.array(["7"] * len(ids), pa.string()),
            }
        )
        with pq.ParquetWriter(folder / name, table.schema) as writer:
            for start in range(0, len(ids), ROWS_PER_GROUP):
                writer.write_table(table.slice(start, ROWS_PER_GROUP))
    else:
        (folder / name).write_bytes("".join(ids).encode("utf-8"))
    return listed(folder, name, kind, split, len(ids))
