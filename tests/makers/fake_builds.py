"""Folders that look like finished builds: what reads only manifest.json and stats.json needs no more."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.makers.finished_builds import facts_of, seal

SPLITS = ("train", "validation", "test")


def sizes(articles: int, characters: int, pieces: int | None = None, **more: int) -> dict[str, int]:
    of_pieces = {} if pieces is None else {"pieces": pieces, "unknown_characters": 0} | more
    counts = {"articles": articles, "sections": 2 * articles, "paragraphs": 0, "words": 0}
    return counts | {"characters": characters, "text_bytes": 2 * characters} | of_pieces


def write_build(
    output: Path,
    language: str,
    date: str = "20260101",
    version: str = "1.2.0",
    *,
    stats: Mapping[str, Mapping[str, int]] | None = None,
    corpus: str = "wiki40b",
    completed: bool = True,
) -> Path:
    folder = output / corpus / language / f"{date}-{version}"
    folder.mkdir(parents=True)
    stats = stats or {
        "train": sizes(90, 9_000),
        "validation": sizes(6, 500),
        "test": sizes(4, 400),
    }
    names = {name for counts in stats.values() for name in counts}
    total = {name: sum(counts.get(name, 0) for counts in stats.values()) for name in names}
    (folder / "stats.json").write_text(json.dumps({**stats, "total": total}))
    seal(folder, facts_of(corpus, language, date, version, outputs=[]))
    if not completed:
        (folder / "COMPLETED").unlink()
    return folder


WITH_PIECES = {
    "train": sizes(900, 9_000_000, 3_000_000, byte_characters=10),
    "validation": sizes(60, 500_000, 150_000, byte_characters=600, unknown_characters=100),
    "test": sizes(40, 300_000, 50_000, byte_characters=100),
}
