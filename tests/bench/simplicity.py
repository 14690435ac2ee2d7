"""Compares the ratios of length and vocabulary with known measures of readability.

    python -m tests.bench.simplicity BUILD [--kept N]

BUILD is a folder of SimpleBooks (`…/simplebooks/en/DATE-VERSION`), built from the real books of
CORPUSMILL_DATA. Uses the books with a measured ratio and a file named by their number. Prints for each ratio
its correlation with the logarithm of the length, its rank correlations with textstat's Dale-Chall score and
Flesch-Kincaid grade (positive if books with a better ratio are easier to read), and the number of the N best
books in each third of the lengths. Also prints the exponent that fits these books. Needs the extra "bench".
"""

import argparse
import csv
import pathlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy
import numpy.typing
import textstat

from corpusmill.transforms.books.boilerplate import StrippedText, strip_boilerplate
from tests.tools.real_gutenberg import BOOKS, read_text

MEASURED = {"kept", "measure-books/ratio-too-low", "select-books/overlaps"}
PASSAGES = 10
PASSAGE_CHARACTERS = 12_000
RATIOS = {"L/V^1.35": (1, 1.35), "L/V^2": (1, 2), "L/V": (1, 1), "L/sqrt(V)": (1, 0.5)}
"""Name → powers of L and V."""

_FIRST_NUMBER = re.compile(r"[0-9]+")

Floats = numpy.typing.NDArray[numpy.float64]


class Measured(NamedTuple):
    """A book of the table of a build."""

    book_id: str
    tokens: int
    vocabulary: int


def main(arguments: Sequence[str]) -> None:
    """Prints the table in Markdown."""
    options = _parse_options(arguments)
    bodies = read_bodies()
    books = [book for book in read_measured(options.build) if book.book_id in bodies]
    lengths = numpy.log([book.tokens for book in books])
    vocabularies = numpy.log([book.vocabulary for book in books])
    slope, intercept = numpy.polyfit(lengths, vocabularies, 1)
    print(
        f"{len(books)} books: V = {numpy.exp(intercept):.2f} L^{slope:.3f}, exponent {1 / slope:.3f}\n"
    )
    harder = [
        numpy.array([_score(bodies[book.book_id], measure) for book in books])
        for measure in (textstat.dale_chall_readability_score, textstat.flesch_kincaid_grade)
    ]
    print("| ratio | with log L | with Dale-Chall | with Flesch-Kincaid | by thirds of length |")
    print("|---|---:|---:|---:|---|")
    thirds = numpy.argsort(numpy.argsort(lengths)) * 3 // len(books)
    for name, (of_length, of_vocabulary) in RATIOS.items():
        ratios = of_length * lengths - of_vocabulary * vocabularies
        simpler = [rank_correlation(ratios, -scores) for scores in harder]
        best = numpy.argsort(-ratios, kind="stable")[: options.kept]
        shares = ", ".join(map(str, numpy.bincount(thirds[best], minlength=3)))
        figures = [numpy.corrcoef(ratios, lengths)[0, 1], *simpler]
        print(f"| {name} | {' | '.join(f'{figure:.2f}' for figure in figures)} | {shares} |")


def _parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.simplicity")
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD", help="folder of a build")
    parser.add_argument("--kept", type=int, default=80, metavar="N", help="best books (80)")
    return parser.parse_args(arguments)


def read_measured(build: pathlib.Path) -> Iterator[Measured]:
    """The books of a build's tables whose ratio was measured."""
    for path in sorted(build.glob("books-*.tsv")):
        with path.open(encoding="utf-8", newline="") as table:
            for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
                if row["verdict"] in MEASURED:
                    yield Measured(row["book_id"], int(row["tokens"]), int(row["vocabulary"]))


def read_bodies() -> dict[str, str]:
    """Number of a real book → its text without what Project Gutenberg added."""
    bodies = {}
    for path in sorted(BOOKS.glob("*.txt.gz")):
        stripped = strip_boilerplate(read_text(path))
        if isinstance(stripped, StrippedText):
            bodies[_FIRST_NUMBER.findall(path.name)[0]] = stripped.text
    return bodies


def rank_correlation(one: Floats, other: Floats) -> float:
    """Spearman's, without a correction for ties."""
    ranks = [numpy.argsort(numpy.argsort(values, kind="stable")) for values in (one, other)]
    return float(numpy.corrcoef(ranks)[0, 1])


def _score(body: str, measure: Callable[[str], float]) -> float:
    """Mean score of passages at equal distances."""
    step = max(len(body) // PASSAGES, PASSAGE_CHARACTERS)
    passages = [body[start : start + PASSAGE_CHARACTERS] for start in range(0, len(body), step)]
    return float(numpy.mean([measure(passage) for passage in passages[:PASSAGES]]))


if __name__ == "__main__":
    main(sys.argv[1:])
