import re
from typing import NamedTuple

import pytest

from corpusmill.transforms.files.builds.paper_figures import (
    PAPER,
    VOCABULARIES,
    PaperFigures,
)
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES
from tests.tools.real_data import DATA, needs_real_data

TEXT = DATA.parent / "papers" / "wiki40b.txt"
needs_the_paper = pytest.mark.skipif(
    not TEXT.is_file(), reason="no papers/wiki40b.txt beside the folder of CORPUSMILL_DATA"
)
SPLITS = ("train", "validation", "test")
TOTAL = PaperFigures(
    language="Total",
    articles=19_507_552,
    sections=54_314_618,
    published={},
    pieces_millions={"train": 8363.2, "validation": 465.0, "test": 464.2},
    characters_millions={"train": 34299.8, "validation": 1906.8, "test": 1904.3},
    characters_per_piece={"32k": 4.101},
    scores={},
)
"""The last row of Table 2, with the totals of all languages."""


def test_every_corpus_is_there() -> None:
    assert tuple(PAPER) == LANGUAGE_CODES


def test_a_row() -> None:
    figures = PAPER["zh-tw"]
    assert figures.language == "Chinese Traditional"
    assert (figures.articles, figures.sections) == (652_328, 1_611_524)
    assert figures.published == {"train": 552_031, "validation": 30_739, "test": 30_670}
    assert figures.pieces_millions == {"train": 199.7, "validation": 11.2, "test": 11.0}
    assert figures.characters_millions == {"train": 308.2, "validation": 17.3, "test": 17.0}
    assert tuple(figures.characters_per_piece.values()) == (1.543, 1.235, 1.264)
    assert figures.scores["128k", "test"] == (13_406_647, 16_951_793, 3.527)


def test_pages_and_sections_add_up_to_the_total() -> None:
    assert sum(figures.articles for figures in PAPER.values()) == TOTAL.articles
    assert sum(figures.sections for figures in PAPER.values()) == TOTAL.sections


@pytest.mark.parametrize("split", SPLITS)
def test_rounded_millions_add_up_to_the_total_about(split: str) -> None:
    pieces = sum(figures.pieces_millions[split] for figures in PAPER.values())
    assert pieces == pytest.approx(TOTAL.pieces_millions[split], abs=0.31)
    characters = sum(figures.characters_millions[split] for figures in PAPER.values())
    assert characters == pytest.approx(TOTAL.characters_millions[split], abs=0.21)


@pytest.mark.parametrize("split", SPLITS[1:])
def test_exact_counts_add_up_to_the_total(split: str) -> None:
    scores = [figures.scores["32k", split] for figures in PAPER.values()]
    pieces = sum(score.pieces for score in scores)
    characters = sum(score.characters for score in scores)
    assert round(pieces / 1e6, 1) == TOTAL.pieces_millions[split]
    assert round(characters / 1e6, 1) == TOTAL.characters_millions[split]


@pytest.mark.parametrize("code", LANGUAGE_CODES)
def test_the_tables_agree_with_each_other(code: str) -> None:
    """Tables 2 and 6 follow from the exact counts of Tables 7 to 9: a slip of the pen would show."""
    figures = PAPER[code]
    published = sum(figures.published.values())
    assert 0.7 < published / figures.articles < 1
    for split in SPLITS[1:]:
        assert figures.published[split] / published == pytest.approx(0.05, abs=0.003)
        score = figures.scores["32k", split]
        assert f"{score.pieces / 1e6:.1f}" == f"{figures.pieces_millions[split]:.1f}"
        assert f"{score.characters / 1e6:.1f}" == f"{figures.characters_millions[split]:.1f}"
    for size in VOCABULARIES:
        scores = [figures.scores[size, split] for split in SPLITS[1:]]
        per_piece = sum(s.characters for s in scores) / sum(s.pieces for s in scores)
        assert f"{per_piece:.3f}" == f"{figures.characters_per_piece[size]:.3f}"


# What the paper prints, line by line.


class Lines(NamedTuple):
    table_2: str
    table_6: str
    tables_7_to_9: tuple[str, ...]


def lines_of(code: str, figures: PaperFigures) -> Lines:
    """The lines of the paper that hold the figures of a corpus."""
    millions = [
        f"{column[split]:.1f}"
        for column in (figures.pieces_millions, figures.characters_millions)
        for split in SPLITS
    ]
    per_piece = [f"{figures.characters_per_piece[size]:.3f}" for size in VOCABULARIES]
    sizes = [f"{figures.articles:,}", f"{figures.sections:,}", *millions, per_piece[0]]
    scores = []
    for size in VOCABULARIES:
        columns = [
            f"{score.pieces:,} {score.characters:,} {score.bits_per_character:.3f}"
            for score in (figures.scores[size, split] for split in SPLITS[1:])
        ]
        scores.append(f"{code} {' '.join(columns)}")
    return Lines(
        f"{figures.language} {code} {' '.join(sizes)}",
        f"{code} {' '.join(per_piece)}",
        tuple(scores),
    )


@needs_real_data
@needs_the_paper
def test_every_figure_stands_in_the_paper() -> None:
    paper = TEXT.read_text("utf-8")
    tables = re.split(r"^Table (\d):", paper, flags=re.MULTILINE)
    before = dict(zip(map(int, tables[1::2]), tables[0::2], strict=False))  # caption → text above
    for code, figures in PAPER.items():
        lines = lines_of(code, figures)
        assert lines.table_2 in before[2].splitlines()
        assert lines.table_6 in before[6].splitlines()
        for table, line in zip((7, 8, 9), lines.tables_7_to_9, strict=True):
            assert line in before[table].splitlines()
    assert (
        "Total 19,507,552 54,314,618 8363.2 465.0 464.2 34299.8 1906.8 1904.3 4.101"
        in before[2].splitlines()
    )
