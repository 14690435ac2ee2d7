"""Finished builds with texts that are given, and as much text as a benchmark wants."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from corpusmill.transforms.files.formats import PARQUET, file_name
from corpusmill.transforms.files.text import Shard
from corpusmill.transforms.models.word_vocabulary import spread_words
from tests.makers.finished_builds import facts_of, listed, seal

_END = b"</s> "
_WALKERS, _STEPS = 1 << 16, 100


def make_text_build(
    output: Path,
    corpus: str,
    column: str,
    texts: Mapping[str, Iterable[list[str] | pa.Array]],
    stats: Mapping[str, Any] | None = None,
) -> Path:
    """A finished build below `output`.

    Args:
      texts: split → the texts of each of its files.
    """
    folder = output / corpus / "en" / "20260101-1.0.0"
    folder.mkdir(parents=True)
    outputs = []
    for split, files in texts.items():
        paths = []
        for number, of_file in enumerate(files):
            path = folder / f"{split}-{number}"
            pq.write_table(
                pa.table({column: pa.array(of_file, pa.string())}),
                path,
                row_group_size=100_000,
                compression="zstd",
            )
            paths.append((path, len(of_file)))
        for number, (path, records) in enumerate(paths):
            placed = path.rename(folder / file_name(PARQUET, "", Shard(split, number, len(paths))))
            outputs.append(listed(folder, placed.name, "parquet", split, records))
    seal(folder, facts_of(corpus, "en", settings={}, outputs=outputs, stats=stats or {}))
    return folder


def walk_text(block: bytes, size: int, seed: int = 0) -> Iterator[bytes]:
    """Blocks of lines like those of a text, of its words.

    Each word is one that follows, somewhere in the text, the word before it or the two words before it, by
    turns of chance: there are about as many new n-grams as in news of that size.

    Args:
      size: bytes of all blocks, about.
    """
    text = spread_words(block.replace(b"\n", b" " + _END)).dictionary_encode()
    numbers = text.indices.to_numpy().astype(np.int64)
    alike_one, alike_two = _Alike(numbers), _Alike(numbers << 32 | np.roll(numbers, 1))
    starts = np.flatnonzero(numbers == numbers[-1])
    chance = np.random.default_rng(seed)
    while size > 0:
        places = chance.choice(starts, _WALKERS)
        walked = np.empty((_WALKERS, _STEPS), np.int64)
        for step in range(_STEPS):
            draws = chance.random(_WALKERS)
            is_one = chance.random(_WALKERS) < 0.5
            alike = np.where(is_one, alike_one(places, draws), alike_two(places, draws))
            places = (alike + 1) % len(numbers)
            walked[:, step] = numbers[places]
        walked[:, -1] = numbers[-1]
        words = text.dictionary.take(pa.array(walked.ravel()))
        lines = words.buffers()[2].to_pybytes().replace(b" " + _END, b"\n").replace(_END, b"")
        yield lines
        size -= len(lines)


class _Alike:
    """Places of a text with the same key as others."""

    def __init__(self, keys: npt.NDArray[np.int64]):
        _, self._key, self._count = np.unique(keys, return_inverse=True, return_counts=True)
        self._order = np.argsort(self._key, kind="stable")
        self._start = np.cumsum(self._count) - self._count

    def __call__(
        self, places: npt.NDArray[np.int64], draws: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.int64]:
        """One of them for each place.

        Args:
          draws: numbers from 0 to 1.
        """
        keys = self._key[places]
        alike: npt.NDArray[np.int64] = self._order[
            self._start[keys] + (draws * self._count[keys]).astype(np.int64)
        ]
        return alike
