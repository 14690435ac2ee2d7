"""Compares with the Perl scripts, over lines made to try them; see `perl_scripts` for where they are.

CORPUSMILL_FUZZ_LINES sets how many lines, CORPUSMILL_FUZZ_SEED which.
"""

import itertools
import os

import pytest

from corpusmill.transforms.files.line_blocks import block_of, lines_of
from corpusmill.transforms.news.line_tokenizer import LineTokenizer
from corpusmill.transforms.news.punctuation import normalize_line, ranges_of
from corpusmill.transforms.news.wmt_tokenizer import tokenize_line
from tests.transforms.news import perl_scripts
from tests.transforms.news.cases import by_line
from tests.transforms.news.odd_lines import make_lines

LINES = int(os.environ.get("CORPUSMILL_FUZZ_LINES", "20000"))
SEED = int(os.environ.get("CORPUSMILL_FUZZ_SEED", "1"))
LANGUAGES = ["en", "de", "fr", "it", "el", "cs", "cz", "es", "xx"]
BATCH_LINES = 20_000
PERL_CLASSES = {
    "alphabetic": r"\p{IsAlpha}",
    "decimal_digit": r"\d",
    "number": r"\p{IsN}",
    "lowercase": r"\p{IsLower}",
    "white_space": r"\s",
    "assigned": r"\p{Assigned}",
}


def is_strict(lines: list[bytes]) -> list[bool]:
    return [line.decode(errors="ignore").encode() == line for line in lines]


def assert_same(ours: list[bytes], theirs: list[bytes], lines: list[bytes]) -> None:
    """One line that differs says more than two lists."""
    for line, our, their in zip(lines, ours, theirs, strict=True):
        assert our == their, f"of {line!r}"


@perl_scripts.needs_perl
@perl_scripts.needs_scripts
@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_and_blocks_come_out_as_the_scripts_write_them(language: str) -> None:
    perl = perl_scripts.rules_of_perl()
    tokenizer = LineTokenizer(language, perl=perl)
    share = 0.6 if language == "en" else 0.4 / (len(LANGUAGES) - 1)
    made = make_lines(SEED * len(LANGUAGES) + LANGUAGES.index(language), round(LINES * share))
    while lines := list(itertools.islice(made, BATCH_LINES)):
        block = block_of(lines)
        normalized = perl_scripts.run_script(perl_scripts.NORMALIZE, block, language)
        tokenized = perl_scripts.run_script(perl_scripts.TOKENIZE, block, language)
        both = perl_scripts.run_script(perl_scripts.TOKENIZE, normalized, language)
        assert_same(by_line(normalize_line, lines, language, perl), lines_of(normalized), lines)
        assert_same(by_line(tokenize_line, lines, language, perl), lines_of(tokenized), lines)
        # One line that Python cannot read keeps its neighbours from the way that most lines take.
        for chosen in (is_strict(lines), [True] * len(lines)):
            for change, expected in (
                (tokenizer.normalize, normalized),
                (tokenizer.tokenize, tokenized),
                (tokenizer, both),
            ):
                given = list(itertools.compress(lines, chosen))
                theirs = list(itertools.compress(lines_of(expected), chosen))
                assert_same(lines_of(change(block_of(given))), theirs, given)


@perl_scripts.needs_perl
def test_the_classes_are_those_of_perl() -> None:
    perl = perl_scripts.rules_of_perl()
    for name, pattern in PERL_CLASSES.items():
        program = (
            "no warnings; for (0..0x10ffff) { my $c = chr; utf8::upgrade($c);"
            f" print qq($_ ) if $c =~ /{pattern}/ }}"
        )
        members = [int(point) for point in perl_scripts.run_perl("-e", program).split()]
        ours = [point for first, last in ranges_of(name, perl) for point in range(first, last + 1)]
        assert ours == members, name
