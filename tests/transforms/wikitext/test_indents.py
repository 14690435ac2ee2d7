"""Indented lines that are prose, and the time to detect them on bad input."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikitext.marks import BREAK, FORMULA_END, FORMULA_START, HOLE
from corpusmill.transforms.wikitext.paragraphs import raise_indented_prose
from tests.tools.case_tables import read_cases
from tests.tools.growth import call_linear

SENTENCE = "The house stood at the end of a long road that nobody had walked for years."
LONG = f"{SENTENCE} {SENTENCE}"
FORMULA = f"{FORMULA_START}x{FORMULA_END}"


def written(line: str) -> str:
    """The line of a table, in which names stand for what is long."""
    names = {
        "SENTENCE": SENTENCE,
        "FRAGMENT": SENTENCE.rstrip("."),
        "FORMULA": FORMULA,
        "HOLE": HOLE,
    }
    names |= {"START": FORMULA_START, "END": FORMULA_END}
    return re.sub("|".join(names), lambda found: names[found[0]], line)


def is_kept(line: str, before: str = "He wrote:\n") -> bool:
    text = f"\n{before}{line}\nAfter."
    return raise_indented_prose(text) != text


@pytest.mark.parametrize("line", read_cases("wikitext/indents", "prose"))
def test_sentences_after_prose_are_prose(line: str) -> None:
    assert is_kept(written(line))


@pytest.mark.parametrize("line", read_cases("wikitext/indents", "no_prose"))
def test_entries_formulas_and_fragments_are_not(line: str) -> None:
    assert not is_kept(written(line))


@pytest.mark.parametrize(
    "before", ["", "* An entry\n", "; A term\n", ":Short.\n", f"{BREAK}\n", f"Prose.\n{BREAK}\n"]
)
def test_without_prose_before_it_takes_a_paragraph_of_several_sentences(before: str) -> None:
    assert not is_kept(f":{SENTENCE}", before)
    assert is_kept(f":{LONG}", before)
    assert not is_kept(f":''{LONG}''", before)


def test_an_image_between_prose_and_its_quotation_does_not_part_them() -> None:
    assert is_kept(f":{SENTENCE}", f"He wrote:\n{HOLE}\n\n")


@given(st.text(alphabet=f":*;'\"(). \nab1{BREAK}{HOLE}", max_size=60))
def test_only_colons_and_blanks_change(text: str) -> None:
    raised = raise_indented_prose(text)
    assert [c for c in raised if c not in ": \n"] == [c for c in text if c not in ": \n"]


@pytest.mark.parametrize("unit", ["\n:", "\n:''a ", '\n:."', ":", "''", '."', ". ", "\n:(", "&"])
def test_time_grows_with_the_length(unit: str) -> None:
    call_linear(
        raise_indented_prose, lambda size: "\nProse.\n:" + unit * (size // len(unit)), 1_000_000
    )
