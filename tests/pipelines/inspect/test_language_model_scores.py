import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.inspect.language_model_scores import (
    Normalisers,
    bits_per_byte,
    bits_per_character,
    covers_text,
    in_nats,
    log_likelihood_of_perplexity,
    perplexity_per_piece,
    read_normalisers,
    sum_log_likelihoods,
    word_level_perplexity,
)
from tests.tools.error_of import error_of
from tests.tools.real_data import DATA, needs_real_data

ROOT = Path(__file__).parents[3]
COUNTS = Normalisers(characters=1000, pieces=250, words=180, documents=3)

COUNT = st.integers(1_000, 10**9)


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-9)


# Formulas.


def test_a_model_that_knows_nothing_needs_the_bits_of_the_alphabet() -> None:
    # 600 characters out of 256, each one piece: 8 bits a character, perplexity 256.
    log_likelihood = -600 * math.log(256)
    assert bits_per_character(log_likelihood, 600) == close(8)
    assert perplexity_per_piece(log_likelihood, 600) == close(256)
    assert word_level_perplexity(log_likelihood, 100) == close(256**6)


def test_a_model_that_knows_all_needs_none() -> None:
    assert bits_per_character(0.0, 10) == 0
    assert math.copysign(1, bits_per_character(-0.0, 10)) == 1
    assert perplexity_per_piece(0.0, 10) == word_level_perplexity(0.0, 10) == 1


def test_a_perplexity_out_of_range_is_infinite() -> None:
    assert word_level_perplexity(-1e6, 1) == math.inf


def bits_of_perplexity(perplexity: float, pieces: int, characters: int) -> float:
    return bits_per_character(log_likelihood_of_perplexity(perplexity, pieces), characters)


@given(st.floats(1.0, 1e6), COUNT, COUNT)
def test_bits_per_character_are_the_formula_of_wiki40b(
    perplexity: float, pieces: int, characters: int
) -> None:
    log_likelihood = log_likelihood_of_perplexity(perplexity, pieces)
    assert perplexity_per_piece(log_likelihood, pieces) == close(perplexity)
    assert bits_of_perplexity(perplexity, pieces, characters) == pytest.approx(
        math.log2(perplexity) * pieces / characters, rel=1e-9, abs=1e-12
    )


# The papers' numbers.

# Guo et al. 2020, table 7: pieces, characters and bits per character of test.
TABLE_7 = [
    (109_963_773, 489_931_919, 0.860),  # en
    (11_514_315, 46_442_543, 0.884),  # uk
    (20_006_470, 38_591_027, 2.221),  # ja
    (841_063, 3_668_947, 1.253),  # lv
    (286_789, 1_232_607, 0.866),  # tl
]


def check_paper_row(pieces: int, characters: int, bits: float) -> None:
    """The perplexity that a row implies is one of a trained model, and leads back to the row."""
    perplexity = perplexity_per_piece(-bits * math.log(2) * characters, pieces)
    assert 7 < perplexity < 46
    assert round(bits_of_perplexity(perplexity, pieces, characters), 3) == bits


def test_rows_of_the_wiki40b_paper() -> None:
    for row in TABLE_7:
        check_paper_row(*row)


@needs_real_data
def test_all_rows_of_the_wiki40b_paper() -> None:
    paper = DATA.parent / "papers" / "wiki40b.txt"
    if not paper.is_file():
        pytest.skip("the papers are not here")
    _, _, appendix = paper.read_text("utf-8").partition("B Full Report on Monolingual Benchmark")
    triple = r" ([\d,]+) ([\d,]+) (\d\.\d{3})"
    rows = re.findall(rf"^([a-z-]+){triple}{triple}$", appendix, re.MULTILINE)
    assert len(rows) == 3 * 41
    for _, *values in rows:
        numbers = [float(value.replace(",", "")) for value in values]
        for pieces, characters, bits in (numbers[:3], numbers[3:]):
            check_paper_row(int(pieces), int(characters), bits)


# Errors.


@pytest.mark.parametrize("value", [12.5, math.nan, -math.inf, math.inf])
def test_what_is_no_log_likelihood(value: float) -> None:
    message = rf"^{value} is not a log-likelihood: it must be finite and at most 0 \(a loss has the"
    message += r" other sign\)$"
    for score in (bits_per_character, bits_per_byte, perplexity_per_piece, word_level_perplexity):
        with pytest.raises(ValueError, match=message):
            score(value, 10)


@pytest.mark.parametrize("value", [0.99, -3, math.inf, math.nan])
def test_what_is_no_perplexity(value: float) -> None:
    with pytest.raises(ValueError, match="is not a perplexity, which is at least 1"):
        log_likelihood_of_perplexity(value, 10)


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (bits_per_character, "the text has 0 characters: the score is undefined"),
        (bits_per_byte, "the text has 0 bytes: the score is undefined"),
        (word_level_perplexity, "the text has 0 words: the score is undefined"),
        (
            perplexity_per_piece,
            "the number of pieces is not known: the build has no SentencePiece model (it needs the package"
            " sentencepiece): give log-likelihoods instead",
        ),
    ],
)
def test_nothing_to_divide_by(score: Callable[[float, int], float], message: str) -> None:
    assert error_of(ValueError, score, -1, 0) == message


# What goes in.


@pytest.mark.parametrize(("base", "value"), [("e", -1.0), ("2", -1.442695), ("10", -0.4342945)])
def test_bases_of_logarithms(base: str, value: float) -> None:
    assert in_nats(value, base) == pytest.approx(-1, rel=1e-6)


def test_no_such_base() -> None:
    message = "the base of logarithms must be one of e, 2, 10, not '7'"
    assert error_of(ValueError, in_nats, -1, "7") == message


def test_documents_are_summed_exactly_in_any_order() -> None:
    assert sum_log_likelihoods([(2, -1), (0, -1e16), (1, -1.0)], COUNTS).log_likelihood == -1e16 - 2


ENDED = COUNTS._replace(ends=5, line_feeds=5)


@pytest.mark.parametrize(
    ("listed", "counts", "unit"),
    [(180, COUNTS, "word"), (250, COUNTS, "piece"), (185, ENDED, "word and end of line")],
)
def test_words_and_pieces_and_ends_of_lines_may_be_listed(
    listed: int, counts: Normalisers, unit: str
) -> None:
    rows = [(0, [-0.5]), (1, []), (2, [-0.5] * (listed - 1))]
    assert sum_log_likelihoods(rows, counts) == (-listed / 2, unit)


@pytest.mark.parametrize(
    ("unit", "line_feeds", "is_all"),
    [
        ("word", 0, True),  # a sentence of FLORES-101
        ("word", 7, False),
        ("word", None, False),
        ("word and end of line", 5, True),
        ("piece", 7, True),
        ("document", 7, True),
    ],
)
def test_words_alone_leave_out_line_feeds(unit: str, line_feeds: int | None, is_all: bool) -> None:
    assert covers_text(unit, COUNTS._replace(line_feeds=line_feeds)) == is_all


ONE = COUNTS._replace(documents=1)
ONE_ENDED = ENDED._replace(documents=1)
NO_NUMBER = "the lists have 0 log-likelihoods in total; expected 18"


@pytest.mark.parametrize(
    ("rows", "counts", "message"),
    [
        ([], COUNTS, "3 of 3 documents are missing, the first is 0"),
        ([(2, -1.0), (0, -1.0)], COUNTS, "1 of 3 documents are missing, the first is 1"),
        ([(0, -1.0), (0, -1.0)], COUNTS, "document 0 occurs twice"),
        ([(3, -1.0)], COUNTS, "document 3: the split has 3 documents, numbered from 0"),
        ([(-1, -1.0)], COUNTS, "document -1: the split has 3 documents, numbered from 0"),
        (
            [(0, 0.5)],
            COUNTS,
            "document 0: 0.5 is not a log-likelihood: it must be finite and at most 0",
        ),
        ([(0, math.nan)], COUNTS, "document 0: nan is not a log-likelihood"),
        ([(0, [-1.0, -math.inf])], COUNTS, "document 0: -inf is not a log-likelihood"),
        ([(0, [-1e308] * 10)], COUNTS, "the sum of the log-likelihoods is infinite"),
        (
            [(0, [-1.0]), (1, -1.0), (2, -1.0)],
            COUNTS,
            "1 of 3 documents have lists of log-likelihoods: give lists for all documents",
        ),
        (
            [(0, [-1.0]), (1, [-1.0]), (2, [-1.0])],
            COUNTS,
            "the lists have 3 log-likelihoods in total; expected 180 (one per word) or 250 (one per piece)",
        ),
        ([(0, [])], ONE, NO_NUMBER),
        ([(0, [])], ONE_ENDED, NO_NUMBER),
        ([(0, [])], ONE_ENDED._replace(pieces=0), NO_NUMBER),
        (
            [(0, [-1.0] * 180)],
            ONE_ENDED,
            "the lists have 180 log-likelihoods, one per word, but none for the 5 ends of lines",
        ),
    ],
)
def test_a_model_that_left_text_out_gets_no_score(
    rows: list[tuple[int, float | list[float]]], counts: Normalisers, message: str
) -> None:
    assert error_of(ValueError, sum_log_likelihoods, rows, counts).startswith(message)


# The convention of each paper, worked out by hand. A model gives each character one of two, so each
# costs ln 2 nats and one bit: scores are counts over counts.


class Convention(NamedTuple):
    text: str  # of the split, as it is in the corpus, a document a line of the table
    stats: dict[str, Any]  # as stats.json has them
    split: str
    counts: Normalisers
    bits_per_character: float
    other_bits_per_character: float  # without line feeds, or with those of markers
    bits_per_byte: float
    perplexity: float


CONVENTIONS = {
    # Two sentences, "a cat ." and "é !": 5 words and 2 ends; 7 + 3 characters and 2 line feeds; 13 bytes.
    # 12 bits over 7 predicted words: 2^(12/7).
    "lm1b": Convention(
        "a cat .\né !\n",
        {
            "heldout_shards": [],
            "paper_test": {"sentences": 2, "words": 5, "characters": 12, "text_bytes": 13},
        },
        "paper_test",
        Normalisers(12, 0, 5, 2, ends=2, line_feeds=2, text_bytes=13),
        bits_per_character=1,
        other_bits_per_character=12 / 10,
        bits_per_byte=12 / 13,
        perplexity=2 ** (12 / 7),
    ),
    # Title "A", paragraphs "b c" and "d": 5 characters, and 3 markers, each with its line feeds one: 8. The
    # 4 line feeds are beside: 12 with them. Words: A, b, c, d.
    "wiki40b": Convention(
        "\nMAM\nPb cNd",
        {
            "test": {
                "articles": 1,
                "words": 4,
                "characters": 8,
                "line_feeds": 4,
                "text_bytes": 58,
                "pieces": 7,
            }
        },
        "test",
        Normalisers(8, 7, 4, 1, line_feeds=4, has_line_feeds=False, text_bytes=58),
        bits_per_character=1,
        other_bits_per_character=8 / 12,
        bits_per_byte=8 / 58,
        perplexity=2 ** (8 / 4),
    ),
    # "One day.\n\nIt": 3 words, 12 characters, 2 line feeds. Ends of lines are no words.
    "pg19": Convention(
        "One day.\n\nIt",
        {"test": {"books": 1, "words": 3, "characters": 12, "line_feeds": 2, "text_bytes": 12}},
        "test",
        Normalisers(12, 0, 3, 1, line_feeds=2, text_bytes=12),
        bits_per_character=1,
        other_bits_per_character=12 / 10,
        bits_per_byte=1,
        perplexity=2 ** (12 / 3),
    ),
    # "Hi !" and "Go .", each a line: 4 tokens and 2 <eos>, 10 characters.
    "simplebooks": Convention(
        "Hi !\nGo .\n",
        {
            "validation": {"books": 1, "words": 4, "characters": 10, "text_bytes": 10},
            "simplebooks-92": {"splits": {"validation": {"lines": 2, "tokens": 4}}},
        },
        "validation",
        Normalisers(10, 0, 4, 1, ends=2, line_feeds=2, text_bytes=10),
        bits_per_character=1,
        other_bits_per_character=10 / 8,
        bits_per_byte=1,
        perplexity=2 ** (10 / 6),
    ),
    # Two sentences, which no line feed ends: "I am." and "No."
    "flores101": Convention(
        "I am.No.",
        {"dev": {"sentences": 2, "articles": 1, "words": 3, "characters": 8, "with_hyperlink": 0}},
        "dev",
        Normalisers(8, 0, 3, 2, line_feeds=0),
        bits_per_character=1,
        other_bits_per_character=1,
        bits_per_byte=math.nan,
        perplexity=2 ** (8 / 3),
    ),
}


@pytest.mark.parametrize("corpus", CONVENTIONS)
def test_the_convention_of_each_paper(corpus: str) -> None:
    case = CONVENTIONS[corpus]
    counts = read_normalisers({"stats": case.stats}, case.split)
    assert counts == case.counts
    total = -counts.characters * math.log(2)
    assert bits_per_character(total, counts.characters) == close(case.bits_per_character)
    others = bits_per_character(total, counts.other_characters)
    assert others == close(case.other_bits_per_character)
    assert word_level_perplexity(total, counts.words, counts.ends) == close(case.perplexity)
    if counts.text_bytes:
        assert bits_per_byte(total, counts.text_bytes) == close(case.bits_per_byte)
    if corpus != "wiki40b":  # whose markers are written short here
        assert len(case.text) == counts.characters
        assert len(case.text.split("\n")) - 1 == counts.line_feeds


def test_the_small_training_set_of_simplebooks() -> None:
    stats = {
        "train_2": {"books": 1, "words": 4, "characters": 10},
        "simplebooks-2": {"splits": {"train": {"lines": 3, "tokens": 4}}},
        "simplebooks-92": {"splits": {"train": {"lines": 9, "tokens": 40}}},
    }
    assert read_normalisers({"stats": stats}, "train_2").ends == 3


STATS = {"test": {"articles": 3, "words": 180, "characters": 1000, "text_bytes": 9}}


def test_normalisers_of_a_manifest() -> None:
    found = COUNTS._replace(text_bytes=9)  # line feeds: not counted by older builds
    assert read_normalisers({"stats": STATS}, "test") == found._replace(pieces=0)
    with_pieces = {"test": STATS["test"] | {"pieces": 250}}
    assert read_normalisers({"signature": "x", "stats": with_pieces}, "test") == found


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (
            {},
            'the manifest has no key "stats": pass {"stats": <content of stats.json>} instead of the manifest'
            " (stats.json is in the same folder)",
        ),
        ({"stats": STATS}, "no such split: 'dev'; there are test"),
        (
            {"stats": {"dev": {"words": 1}}},
            "the counts of the split dev lack the keys characters, articles",
        ),
    ],
)
def test_a_manifest_without_normalisers(manifest: dict[str, object], message: str) -> None:
    assert error_of(ValueError, read_normalisers, manifest, "dev") == message


def test_a_training_job_imports_it_without_beam() -> None:
    script = (
        "import sys; before = set(sys.modules);"
        "import corpusmill.pipelines.inspect.language_model_scores as scores;"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(new - set(sys.stdlib_module_names)));"
        "assert 'apache_beam' not in sys.modules"
    )
    run = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={"PYTHONPATH": str(ROOT / ".package")},
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout == "['corpusmill']\n"
