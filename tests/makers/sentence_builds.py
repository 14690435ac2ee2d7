"""Small finished builds of One Billion Word, written straight to disk: for the tests of what checks them."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.transforms.files.builds.manifest import to_json
from tests.makers.finished_builds import listed, seal

TRAIN = "training-monolingual.tokenized.shuffled"
HELDOUT = "heldout-monolingual.tokenized.shuffled"
CHECKPOINTS = "training-monolingual.tokenized"
SORTED = f"{CHECKPOINTS}/news.20XX.en.shuffled.sorted"
TOKENIZED = f"{SORTED}.tokenized"
SETTINGS: dict[str, Any] = {
    "language": "en",
    "deduplicate": "raw",
    "lower_case": False,
    "map_unknown": False,
    "shards": 100,
    "heldout_shards": 50,
}

SHARDS = (b"Held out .\nToo .\n", b"One .\nTwo .\n", "Três – caf\u00e9 .\nFour .\n".encode())
HELD_OUT = (b"Too .\n", b"Held out .\n")


def make_sentence_build(
    output: Path,
    shards: Sequence[bytes] = SHARDS,
    heldout: Sequence[bytes] = HELD_OUT,
    *,
    parts: Mapping[str, Sequence[bytes]] | None = None,
    settings: Mapping[str, Any] | None = None,
    date: str = "2007-2011",
    **of_manifest: Any,
) -> Path:
    """A finished build below `output`.

    Args:
      shards: the text of each, the held-out one first.
      heldout: the text of each shard that the held-out one is split into.
      parts: name of a checkpoint → its parts.
      settings: other values, or more.
      of_manifest: more keys, or other values.
    """
    folder = output / "lm1b" / "en" / f"{date}-1.0.0"
    folder.mkdir(parents=True)
    outputs = []
    for number, text in enumerate(shards):
        of_series, split = (TRAIN, "train") if number else (HELDOUT, "")
        name = f"{of_series}/news.en-{number:05d}-of-{len(shards):05d}"
        outputs.append(_written(folder, name, split, "text", text))
    for number, text in enumerate(heldout):
        name = f"{HELDOUT}/news.en.heldout-{number:05d}-of-{len(heldout):05d}"
        outputs.append(_written(folder, name, "test", "text", text))
    for split, texts in _tables(shards, heldout).items():
        for number, text in enumerate(texts):
            name = f"{split}-{number:05d}-of-{len(texts):05d}.parquet"
            outputs.append(_written(folder, name, split, "parquet", text))
    for name, several in (parts or {}).items():
        for number, text in enumerate(several):
            of_part = f"{name}-{number:05d}-of-{len(several):05d}"
            outputs.append(_written(folder, of_part, "", "text", text))
    kept = {
        split: sum(text.count(b"\n") for text in texts)
        for split, texts in _tables(shards, heldout).items()
    }
    total = kept["train"] + kept["test"]
    manifest = {
        "signature": f"lm1b|lang:en|dump:{date}|v:1.0.0",
        "corpus": "lm1b",
        "edition": "en",
        "dump_date": date,
        "version": "1.0.0",
        "settings": SETTINGS | dict(settings or {}),
        "code": {"unicode": "14.0.0"},
        "counts": {"kept": kept | {"total": total}, "rejected": {"total": 0}},
        "lost": [],
        "outputs": outputs,
    } | of_manifest
    stats = {split: {"sentences": count} for split, count in kept.items()}
    (folder / "stats.json").write_text(to_json(stats), "utf-8")
    outputs.append(listed(folder, "stats.json"))
    seal(folder, manifest)
    return folder


def _tables(shards: Sequence[bytes], heldout: Sequence[bytes]) -> dict[str, Sequence[bytes]]:
    """Split → the text of each of its files."""
    return {
        "train": shards[1:],
        "test": heldout,
        "paper_test": heldout[:1],
        "dev": heldout[1:],
    }


def _written(folder: Path, name: str, split: str, kind: str, text: bytes) -> dict[str, Any]:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if kind == "parquet":
        write_table(path, text)
    else:
        path.write_bytes(text)
    return listed(folder, name, kind, split, text.count(b"\n"))


def write_table(path: Path, text: bytes) -> None:
    """A Parquet file of the lines of a text, two in a row group."""
    lines = pa.array([line.decode("utf-8") for line in text.split(b"\n")[:-1]], pa.string())
    pq.write_table(pa.table({"text": lines}), path, row_group_size=2)


def list_sums(sums: Mapping[str, bytes]) -> str:
    """The list that md5sum(1) makes of files with these names and contents."""
    return "".join(f"{md5_of(content)}  {name}\n" for name, content in sums.items())


def texts_below(folder: Path, folders: Iterable[str] = (TRAIN, HELDOUT)) -> dict[str, bytes]:
    """Name → content of the text shards of a build."""
    paths = sorted(path for one in folders for path in (folder / one).glob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def md5_of(content: bytes) -> str:
    """As md5sum(1) writes it."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
