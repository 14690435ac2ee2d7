"""Numbers from the Wiki-40B paper, for comparison with builds. Builds are not expected to match them exactly.

The numbers are from the tables in Guo et al., LREC 2020:

    Table 2         sizes
    Table 6         characters per piece; Table 3 is a part of it
    Tables 7 to 9   bits per character; Tables 4 and 5 are parts of them

`paper_figures.tsv` has a line for each corpus, in the order of LANGUAGE_CODES. The paper's "dev" is called
validation here, and its tokens are called pieces.

In Table 2, the numbers of pages and of sections add up to the row Total. The numbers in millions were rounded
separately, so their sums differ from Total by up to 0.3. The exact counts in Table 7 add up to Total.
The sizes of the split train in Table 2 are estimates by the paper's authors.
"""

import csv
from collections.abc import Mapping
from importlib import resources
from typing import NamedTuple

VOCABULARIES = ("32k", "64k", "128k")  # 32k: one language each; the others are multilingual


class PaperScore(NamedTuple):
    """The paper's numbers for one split and one vocabulary."""

    pieces: int
    characters: int
    bits_per_character: float


class PaperFigures(NamedTuple):
    """The paper's numbers for one corpus, or for all corpora together."""

    language: str  # "Ukrainian"
    articles: int
    sections: int
    pieces_millions: Mapping[str, float]  # by split, with the 32k vocabulary; train is estimated
    characters_millions: Mapping[str, float]  # by split; a marker is 1; train is estimated
    characters_per_piece: Mapping[str, float]  # by vocabulary, on validation and test together
    scores: Mapping[tuple[str, str], PaperScore]  # by (vocabulary, split), without train


def _figures_of(row: Mapping[str, str]) -> PaperFigures:
    splits = ("train", "validation", "test")
    return PaperFigures(
        language=row["language"],
        articles=int(row["articles"]),
        sections=int(row["sections"]),
        pieces_millions={split: float(row[f"{split}_pieces_millions"]) for split in splits},
        characters_millions={split: float(row[f"{split}_characters_millions"]) for split in splits},
        characters_per_piece={
            size: float(row[f"characters_per_piece_{size}"]) for size in VOCABULARIES
        },
        scores={
            (size, split): PaperScore(
                pieces=int(row[f"{split}_pieces_{size}"]),
                characters=int(row[f"{split}_characters"]),
                bits_per_character=float(row[f"{split}_bpc_{size}"]),
            )
            for size in VOCABULARIES
            for split in splits[1:]
        },
    )


def _read_table() -> dict[str, PaperFigures]:
    table = resources.files(__package__).joinpath("paper_figures.tsv").read_text("utf-8")
    rows = csv.DictReader(table.splitlines(), delimiter="\t")
    return {row["code"]: _figures_of(row) for row in rows}


PAPER: Mapping[str, PaperFigures] = _read_table()
"""Code of the language → the paper's numbers."""

TOTAL = PaperFigures(
    language="Total",
    articles=19_507_552,
    sections=54_314_618,
    pieces_millions={"train": 8363.2, "validation": 465.0, "test": 464.2},
    characters_millions={"train": 34299.8, "validation": 1906.8, "test": 1904.3},
    characters_per_piece={"32k": 4.101},
    scores={},
)
"""The last row of Table 2, with the totals of all languages."""

CHARACTERS_PER_PIECE: Mapping[str, tuple[float, ...]] = {
    code: tuple(figures.characters_per_piece[size] for size in VOCABULARIES)
    for code, figures in PAPER.items()
}
"""Code of the language → characters per piece of the 32k, 64k and 128k vocabularies."""


def figures_for_card(language: str) -> dict[str, str]:
    """Returns name → number from the paper, for the dataset card of a build.

    Returns an empty mapping if the paper does not have the language.
    """
    if language not in PAPER:
        return {}
    figures = PAPER[language]
    rows = {"articles": f"{figures.articles:,}", "sections": f"{figures.sections:,}"}
    for split in ("validation", "test"):
        score = figures.scores["32k", split]
        rows[f"pieces (32k), characters of {split}"] = f"{score.pieces:,}, {score.characters:,}"
    for size in VOCABULARIES:
        rows[f"characters per piece ({size})"] = f"{figures.characters_per_piece[size]:.3f}"
        bits = (figures.scores[size, split].bits_per_character for split in ("validation", "test"))
        name = f"bits per character of its models ({size}), validation and test"
        rows[name] = ", ".join(f"{value:.3f}" for value in bits)
    return rows
