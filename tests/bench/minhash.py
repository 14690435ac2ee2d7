"""Compares MinHash signatures of whole books with datasketch and rensa: speed, and errors of the estimates.

    python -m tests.bench.minhash [--books N] [--rounds N] [--pairs N]

Prints MB/s from text to a signature of 128 permutations of word 8-grams in one process: for corpusmill, for
`MinHash.update_batch` of datasketch and `RMinHash` of rensa on joined 8-grams, and for rensa on the hashes of
corpusmill. Then prints the mean absolute errors of all of these on the same pairs: artificial ones and those
of near_duplicates.tsv. Texts are the real books of CORPUSMILL_DATA, if it is set. Needs the extra "bench".
"""

import argparse
import csv
import os
import time
from collections.abc import Callable, Iterable, Iterator

from rensa import RMinHash

from corpusmill.transforms.duplicates.minhash import Uint64s, hash_ngrams, sign_documents
from corpusmill.transforms.files.text import plain_words
from tests.tools.real_data import DATA
from tests.tools.real_gutenberg import read_bodies
from tests.tools.signature_errors import (
    ESTIMATES,
    NGRAM_WORDS,
    PERMUTATIONS,
    joined_ngrams,
    made_pairs,
    sign_with_datasketch,
    signature_errors,
)

DATASKETCH_BYTES = 1_000_000
"""So much of the texts is enough for the slow one."""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--books", type=int, default=20, help="how many real ones are signed")
    parser.add_argument(
        "--rounds", type=int, default=3, help="of each measurement; the best counts"
    )
    parser.add_argument("--pairs", type=int, default=12, help="of near_duplicates.tsv")
    settings = parser.parse_args()
    texts = find_texts(settings.books)
    print_speeds(texts, settings.rounds)
    print_errors("made pairs, 200 words", made_pairs(500, 200))
    print_errors("made pairs, 2000 words", made_pairs(100, 2000))
    if "CORPUSMILL_DATA" in os.environ:
        print_errors("near_duplicates.tsv", real_pairs(settings.pairs))


def find_texts(books: int) -> list[str]:
    """Real books, or made texts."""
    if "CORPUSMILL_DATA" in os.environ:
        return list(read_bodies(books).values())
    return [text for text, _ in made_pairs(books, 50_000)]


def print_speeds(texts: list[str], rounds: int) -> None:
    """MB/s of both, and the ratio."""
    few = []
    for text in texts:
        few.append(text)
        if size_of(few) >= DATASKETCH_BYTES:
            break
    theirs = size_of(few) / best(
        rounds, lambda: [sign_with_datasketch(joined_ngrams(t)) for t in few]
    )
    ngrams = [hash_ngrams(text, NGRAM_WORDS) for text in texts]
    print(f"{len(texts)} texts, {size_of(texts) / 1e6:.1f} MB; {PERMUTATIONS} permutations")
    print(f"datasketch, update_batch:  {theirs / 1e6:7.1f} MB/s")
    steps: dict[str, Callable[[], object]] = {
        "rensa, joined 8-grams": lambda: list(map(sign_with_rensa, texts)),
        "text to signature": lambda: [
            sign_documents([hash_ngrams(text, NGRAM_WORDS)], PERMUTATIONS) for text in texts
        ],
        "  of this, hash_ngrams": lambda: [hash_ngrams(text, NGRAM_WORDS) for text in texts],
        "  of this, signing": lambda: [sign_documents([one], PERMUTATIONS) for one in ngrams],
        "  rensa, for this": lambda: list(map(sign_hashes_with_rensa, ngrams)),
        "plain_words, before it": lambda: [plain_words(text) for text in texts],
    }
    for name, step in steps.items():
        ours = size_of(texts) / best(rounds, step)
        print(f"{name + ':':26} {ours / 1e6:7.1f} MB/s, {ours / theirs:5.1f} x datasketch")


def sign_with_rensa(text: str) -> RMinHash:
    """Its signature."""
    signature = RMinHash(PERMUTATIONS, seed=1)
    signature.update(joined_ngrams(text))
    return signature


def sign_hashes_with_rensa(hashes: Uint64s) -> object:
    """Its signature of hashes that are there already."""
    return RMinHash.digest_matrix_from_flat_token_hashes(hashes, [0, len(hashes)], PERMUTATIONS, 1)


def estimate_by_rensa(first: str, second: str) -> float:
    """See signature_errors.py."""
    return float(sign_with_rensa(first).jaccard(sign_with_rensa(second)))


def print_errors(name: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Mean absolute errors of all on the pairs."""
    errors = signature_errors(pairs, {**ESTIMATES, "rensa": estimate_by_rensa})
    print(f"error, {name}:", ", ".join(f"{who} {error:.4f}" for who, error in errors.items()))


def real_pairs(count: int) -> Iterator[tuple[str, str]]:
    """The first pairs of the list, plain."""
    with (DATA / "gutenberg" / "near_duplicates.tsv").open(encoding="utf-8") as listed:
        rows = list(csv.DictReader(listed, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows[:: max(len(rows) // count, 1)][:count]:
        names = tuple(row[side].removeprefix("books/").removesuffix(".txt.gz") for side in "ab")
        bodies = read_bodies(names=names)
        yield plain_words(bodies[names[0]]), plain_words(bodies[names[1]])


def size_of(texts: Iterable[str]) -> int:
    """UTF-8 bytes."""
    return sum(len(text.encode()) for text in texts)


def best(rounds: int, work: Callable[[], object]) -> float:
    """Seconds of the quickest round."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
