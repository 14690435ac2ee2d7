import itertools
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.news import punctuation
from tests.tools.case_tables import read_cases

NAMES = ["alphabetic", "assigned", "decimal_digit", "lowercase", "number", "white_space"]


@pytest.mark.parametrize("perl", punctuation.PERL_VERSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_ranges_ascend_and_leave_room_between_them(name: str, perl: str) -> None:
    ranges = punctuation.ranges_of(name, perl)
    assert all(first <= last < punctuation.CODE_POINTS for first, last in ranges)
    for (_, last), (first, _) in itertools.pairwise(ranges):
        assert last + 1 < first


MEMBERS = {
    "5.36": (133_396, 284_278, 660, 2_471, 1_791, 25),
    "5.14": (101_539, 248_965, 420, 1_918, 1_100, 25),
}


@pytest.mark.parametrize("perl", MEMBERS)
def test_as_many_characters_as_perl_has(perl: str) -> None:
    found = [punctuation.members_of(name, perl).sum() for name in NAMES]
    assert tuple(found) == MEMBERS[perl]


@pytest.mark.parametrize("perl", punctuation.PERL_VERSIONS)
def test_what_is_assigned_and_numeric_is_so_in_any_later_unicode(perl: str) -> None:
    for first, last in punctuation.ranges_of("decimal_digit", perl):
        assert {unicodedata.category(chr(point)) for point in range(first, last + 1)} == {"Nd"}
    assigned = punctuation.members_of("assigned", perl)
    for name in NAMES:
        assert not (punctuation.members_of(name, perl) & ~assigned).any(), name


def test_the_versions_differ_in_white_space() -> None:
    differing = punctuation.members_of("white_space", "5.36") ^ punctuation.members_of(
        "white_space", "5.14"
    )
    assert differing.nonzero()[0].tolist() == [0x0B, 0x180E]


def test_a_regex_class_has_the_members_below_its_end() -> None:
    pattern = re.compile(
        f"[{punctuation.class_body('decimal_digit', 'white_space', perl='5.36', below=0x664)}]"
    )
    found = pattern.findall("a5 \t-\u0660\u0663\u0664\u3000")
    assert found == ["5", " ", "\t", "\u0660", "\u0663"]


def test_an_unknown_perl_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"there are no rules for Perl '5\.8'; available are 5\.36, 5\.14"
    ):
        punctuation.ranges_of("alphabetic", "5.8")


MARKS = "\u0301\u0323\u0327\u0344\u0345\u0f71\u0f72\u0f73\u3099"
KNOWN = punctuation.members_of("assigned", "5.14")
texts = st.text(
    st.one_of(st.sampled_from(MARKS + "aeAco"), st.characters(exclude_categories=["Cn"]))
)


@given(texts.filter(lambda text: all(KNOWN[ord(character)] for character in text)))
def test_characters_of_old_compose_as_python_has_it(text: str) -> None:
    assert punctuation.compose(text, "5.14") == unicodedata.normalize("NFC", text)
    assert punctuation.compose(text, "5.36") == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("text", "in_5_14", "in_5_36"),
    read_cases("news/perl_text", "a_version_does_not_touch_what_is_younger"),
)
def test_a_version_does_not_touch_what_is_younger(text: str, in_5_14: str, in_5_36: str) -> None:
    assert punctuation.compose(text, "5.14") == in_5_14
    assert punctuation.compose(text, "5.36") == unicodedata.normalize("NFC", in_5_36)


@given(st.text(st.sampled_from(MARKS + "a☃"), min_size=150, max_size=400))
def test_many_marks_are_sorted_as_few_are(text: str) -> None:
    assert punctuation.compose(text, "5.36") == unicodedata.normalize("NFC", text)


def test_many_marks_take_no_quadratic_time() -> None:
    acute, dot = "\u0301", "\u0323"
    expected = "ạ" + dot * 199_999 + acute * 200_000
    assert punctuation.compose("a" + (acute + dot) * 200_000, "5.36") == expected
