import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.real_data import DATA, needs_real_data
from transforms.text.builds.language_model_scores import (
    Normalisers,
    bits_per_character,
    bits_per_character_of_perplexity,
    in_nats,
    log_likelihood_of_bits_per_character,
    log_likelihood_of_perplexity,
    perplexity_per_piece,
    read_normalisers,
    sum_log_likelihoods,
    word_level_perplexity,
    word_level_perplexity_of_bits_per_character,
)

ROOT = Path(__file__).parents[4]
COUNTS = Normalisers(characters=1000, pieces=250, words=180, articles=3)

LOG_LIKELIHOODS = st.floats(-1e5, -1e-3)
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


def test_how_the_text_is_cut_does_not_matter() -> None:
    whole = bits_per_character_of_perplexity(16, pieces=100, characters=400)
    assert whole == close(1)
    # twice the pieces, each as sure as the square root tells: the same model
    assert bits_per_character_of_perplexity(4, pieces=200, characters=400) == close(whole)


def test_the_end_of_a_sentence_may_count_as_a_word() -> None:
    assert word_level_perplexity(-12 * math.log(7), words=10, sentences=2) == close(7)


def test_a_perplexity_out_of_range_is_infinite() -> None:
    assert word_level_perplexity(-1e6, 1) == math.inf


@given(LOG_LIKELIHOODS, COUNT, COUNT, COUNT)
def test_every_score_leads_to_every_other(
    log_likelihood: float, characters: int, pieces: int, words: int
) -> None:
    bits = bits_per_character(log_likelihood, characters)
    perplexity = perplexity_per_piece(log_likelihood, pieces)
    assert log_likelihood_of_bits_per_character(bits, characters) == close(log_likelihood)
    assert word_level_perplexity_of_bits_per_character(bits, characters, words) == close(
        word_level_perplexity(log_likelihood, words)
    )
    assert log_likelihood_of_perplexity(perplexity, pieces) == pytest.approx(
        log_likelihood, rel=1e-3, abs=1e-6
    )
    # the perplexity is near 1 here, and its logarithm loses digits
    assert bits_per_character_of_perplexity(perplexity, pieces, characters) == pytest.approx(
        bits, rel=1e-3, abs=1e-9
    )


@given(st.floats(1.0, 1e6), COUNT, COUNT)
def test_bits_per_character_are_the_formula_of_wiki40b(
    perplexity: float, pieces: int, characters: int
) -> None:
    assert bits_per_character_of_perplexity(perplexity, pieces, characters) == pytest.approx(
        math.log2(perplexity) * pieces / characters, rel=1e-9, abs=1e-12
    )


# The papers' numbers.

# Guo et al. 2020, table 7: language, pieces, characters and bits per character of test.
TABLE_7 = [
    ("en", 109_963_773, 489_931_919, 0.860),
    ("uk", 11_514_315, 46_442_543, 0.884),
    ("ja", 20_006_470, 38_591_027, 2.221),
    ("lv", 841_063, 3_668_947, 1.253),
    ("tl", 286_789, 1_232_607, 0.866),
]


def check_paper_row(pieces: int, characters: int, bits: float) -> None:
    """The perplexity that a row implies is one of a trained model, and leads back to the row."""
    log_likelihood = log_likelihood_of_bits_per_character(bits, characters)
    perplexity = perplexity_per_piece(log_likelihood, pieces)
    assert 7 < perplexity < 46
    found = bits_per_character_of_perplexity(perplexity, pieces, characters)
    assert round(found, 3) == bits


@pytest.mark.parametrize(("language", "pieces", "characters", "bits"), TABLE_7)
def test_rows_of_the_wiki40b_paper(
    language: str, pieces: int, characters: int, bits: float
) -> None:
    check_paper_row(pieces, characters, bits)


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


def test_the_perplexity_of_english_wiki40b() -> None:
    bits = log_likelihood_of_bits_per_character(0.860, 489_931_919)
    assert round(perplexity_per_piece(bits, 109_963_773), 1) == 14.2


def test_words_of_pg19() -> None:
    """Rae et al. 2020, tables 1 and 2: the words are those of the books, 69 thousand each."""
    train, validation, test = 1_973_136_207, 3_007_061, 6_966_499
    assert round(train / 28_602, -3) == 69_000
    for words in (train, validation, test):
        loss = words * math.log(33.6)
        assert word_level_perplexity(-loss, words) == close(33.6)
        assert word_level_perplexity(-loss, words) == close(math.e ** (loss / words))


def test_words_of_one_billion_word() -> None:
    """Chelba et al. 2013: the corpus' 829,250,940 words have both boundaries, those of test the ends."""
    both = 829_250_940 / 30_607_716  # words of a sentence
    ends = 159_658 / (306_688 / 50)
    assert abs(both - 1 - ends) < 0.1
    loss = -159_658 * math.log(67.6)
    sentences = 6134
    assert word_level_perplexity(loss, 159_658 - sentences, sentences) == close(67.6)


# Errors.


@pytest.mark.parametrize("value", [12.5, math.nan, -math.inf, math.inf])
def test_what_is_no_log_likelihood(value: float) -> None:
    message = rf"^{value} is no log-likelihood: it is finite and not above 0 \(a loss has the other sign\)$"
    for score in (bits_per_character, perplexity_per_piece, word_level_perplexity):
        with pytest.raises(ValueError, match=message):
            score(value, 10)


@pytest.mark.parametrize("value", [0.99, -3, math.inf, math.nan])
def test_what_is_no_perplexity(value: float) -> None:
    with pytest.raises(ValueError, match="is no perplexity: it is 1 at least"):
        bits_per_character_of_perplexity(value, 10, 10)


@pytest.mark.parametrize("value", [-0.1, math.inf, math.nan])
def test_what_is_no_number_of_bits(value: float) -> None:
    with pytest.raises(ValueError, match="is no number of bits per character"):
        log_likelihood_of_bits_per_character(value, 10)


def test_nothing_to_divide_by() -> None:
    with pytest.raises(ValueError, match=r"^there are 0 characters: nothing to divide by$"):
        bits_per_character(-1, 0)
    with pytest.raises(ValueError, match=r"^there are 0 words: nothing to divide by$"):
        word_level_perplexity(-1, 0)


def test_a_build_without_pieces() -> None:
    message = "the build has no SentencePiece model .it needs the package sentencepiece.$"
    with pytest.raises(ValueError, match=message):
        perplexity_per_piece(-1, 0)


# What goes in.


@pytest.mark.parametrize(("base", "value"), [("e", -1.0), ("2", -1.442695), ("10", -0.4342945)])
def test_bases_of_logarithms(base: str, value: float) -> None:
    assert in_nats(value, base) == pytest.approx(-1, rel=1e-6)


def test_no_such_base() -> None:
    with pytest.raises(ValueError, match=r"^the base of logarithms is one of e, 2, 10, not '7'$"):
        in_nats(-1, "7")


def test_numbers_of_articles_or_pieces_are_summed_exactly() -> None:
    assert sum_log_likelihoods(["-1e16\n", "-1\n", "-1\n"], COUNTS) == -1e16 - 2
    pieces = [f"{-number / 10}\n" for number in range(250)]
    assert sum_log_likelihoods(pieces, COUNTS) == close(-sum(range(250)) / 10)


@pytest.mark.parametrize("count", [0, 1, 2, 4, 249, 251, 180, 1000])
def test_a_model_that_left_text_out_gets_no_score(count: int) -> None:
    message = (
        rf"^{count:,} log-likelihoods are given, and the split has 250 pieces or 3 articles:"
        r" give one for each, or the sum of all$"
    )
    with pytest.raises(ValueError, match=message):
        sum_log_likelihoods(["-1"] * count, COUNTS)


def test_without_pieces_there_is_a_number_for_each_article() -> None:
    without = COUNTS._replace(pieces=0)
    assert sum_log_likelihoods(["-1"] * 3, without) == -3
    with pytest.raises(ValueError, match="2 log-likelihoods are given, and the split has 3 art"):
        sum_log_likelihoods(["-1"] * 2, without)
    with pytest.raises(ValueError, match="0 log-likelihoods are given"):
        sum_log_likelihoods([], without)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "line 2: '' is no number"),
        ("-1,5\n", "line 2: '-1,5' is no number"),
        ("Q1\t-3", r"line 2: 'Q1\t-3' is no number"),
        ("0.5\n", "line 2: 0.5 is no log-likelihood: it is finite and not above 0"),
        ("nan", "line 2: nan is no log-likelihood"),
        ("-inf\n", "line 2: -inf is no log-likelihood"),
    ],
)
def test_a_line_that_is_no_log_likelihood(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        sum_log_likelihoods(["-1", line, "-1"], COUNTS)


STATS = {"test": {"articles": 3, "words": 180, "characters": 1000, "text_bytes": 9}}


def test_normalisers_of_a_manifest() -> None:
    assert read_normalisers({"stats": STATS}, "test") == COUNTS._replace(pieces=0)
    with_pieces = {"test": STATS["test"] | {"pieces": 250}}
    assert read_normalisers({"signature": "x", "stats": with_pieces}, "test") == COUNTS


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({}, 'the manifest has no "stats": take those of stats.json beside it'),
        ({"stats": STATS}, "no such split: 'dev'; there are test"),
        ({"stats": {"dev": {"words": 1}}}, "the counts of dev lack characters, articles"),
    ],
)
def test_a_manifest_without_normalisers(manifest: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read_normalisers(manifest, "dev")


def test_a_training_job_imports_it_without_beam() -> None:
    script = (
        "import sys; before = set(sys.modules);"
        "import transforms.text.builds.language_model_scores as scores;"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(new - set(sys.stdlib_module_names)));"
        "assert 'apache_beam' not in sys.modules"
    )
    run = subprocess.run(
        [sys.executable, "-S", "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert run.stdout == "['transforms']\n"


def test_a_sum_that_is_no_number_is_an_error() -> None:
    with pytest.raises(ValueError, match="beyond all numbers"):
        sum_log_likelihoods(["-1e308"] * 10, Normalisers(100, 10, 10, 1))
