"""Compares `corpusmill tokenize` with the tokenizer alone, on one core.

    RAYON_NUM_THREADS=1 python -m tests.bench.tokens BUILD [--tokenizer FILE] [--groups N]

The tokenizer alone encodes the same batches of texts from memory. The transform also reads the texts and
stores the tokens; the writer also makes the files. The fastest of three runs of each is printed.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator

from corpusmill.pipelines.tokens import Tokens
from corpusmill.pipelines.tokens_settings import TokensConfig
from corpusmill.transforms.files.builds import finished_builds
from corpusmill.transforms.files.builds.finished_builds import RowGroup, files_of
from corpusmill.transforms.files.line_blocks import in_batches
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.models.token_ids import type_of_ids
from corpusmill.transforms.models.write_tokens import (
    BATCH_BYTES,
    TokenPiece,
    open_tokenizer,
    tokenize_part,
    write_split,
)

TIMES = 3


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--tokenizer", default="")
    parser.add_argument("--groups", type=int, help="row groups of train to read, default all")
    settings = parser.parse_args()
    tokens = Tokens(TokensConfig(settings.build, tokenizer=settings.tokenizer))
    files = files_of(tokens.build, ["train"])
    parts = [part for file in files for part in finished_builds.sized_row_groups_of(file)]
    parts = parts[: settings.groups]
    batches = [batch for group, _ in parts for batch in texts_of(group, tokens.source.column)]
    tokenizer = open_tokenizer(tokens.source.tokenizer)

    def encode() -> None:
        for batch in batches:
            tokenizer.encode(batch)

    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(folder)
        pieces: list[TokenPiece] = []

        def tokenize() -> None:
            pieces[:] = [tokenize_part(part, tokens.source, scratch) for part in parts]

        def write() -> None:
            list(write_split(("train", pieces), folder, type_of_ids(tokenizer.size)))

        seconds = [fastest(one) for one in (encode, tokenize, write)]
    size = sum(piece.counts.text_bytes for piece in pieces)
    print(f"{size / 1e6:.1f} MB of text, {sum(piece.counts.tokens for piece in pieces):,} tokens")
    names = "tokenizer alone", "reading, tokenising", "writing"
    for name, taken in zip(names, seconds, strict=True):
        print(f"{name:20} {size / 1e6 / taken:8.1f} MB/s")
    print(f"whole / alone: {(seconds[1] + seconds[2]) / seconds[0]:.2f}")


def texts_of(group: RowGroup, column: str) -> Iterator[list[str]]:
    """The batches of a row group."""
    texts = finished_builds.read_row_group(group, [column]).table[column]
    return in_batches(texts.to_pylist(), BATCH_BYTES, len)


def fastest(run: Callable[[], None]) -> float:
    """Seconds of processor time of the fastest run."""
    found = []
    for _ in range(TIMES):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


if __name__ == "__main__":
    main()
