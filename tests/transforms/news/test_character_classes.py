import itertools
import re
import unicodedata

import pytest

from corpusmill.transforms.news.perl_text import (
    CODE_POINTS,
    PERL_VERSIONS,
    class_body,
    members_of,
    ranges_of,
)

NAMES = ["alphabetic", "assigned", "decimal_digit", "lowercase", "number", "white_space"]


@pytest.mark.parametrize("perl", PERL_VERSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_ranges_ascend_and_leave_room_between_them(name: str, perl: str) -> None:
    ranges = ranges_of(name, perl)
    assert all(first <= last < CODE_POINTS for first, last in ranges)
    for (_, last), (first, _) in itertools.pairwise(ranges):
        assert last + 1 < first


@pytest.mark.parametrize(
    ("name", "perl", "members"),
    [
        ("alphabetic", "5.36", 133_396),
        ("assigned", "5.36", 284_278),
        ("decimal_digit", "5.36", 660),
        ("lowercase", "5.36", 2_471),
        ("number", "5.36", 1_791),
        ("white_space", "5.36", 25),
        ("alphabetic", "5.14", 101_539),
        ("assigned", "5.14", 248_965),
        ("decimal_digit", "5.14", 420),
        ("lowercase", "5.14", 1_918),
        ("number", "5.14", 1_100),
        ("white_space", "5.14", 25),
    ],
)
def test_as_many_characters_as_perl_has(name: str, perl: str, members: int) -> None:
    assert members_of(name, perl).sum() == members


@pytest.mark.parametrize("perl", PERL_VERSIONS)
def test_what_is_assigned_and_numeric_is_so_in_any_later_unicode(perl: str) -> None:
    for first, last in ranges_of("decimal_digit", perl):
        assert {unicodedata.category(chr(point)) for point in range(first, last + 1)} == {"Nd"}
    assigned = members_of("assigned", perl)
    for name in NAMES:
        assert not (members_of(name, perl) & ~assigned).any(), name


def test_the_versions_differ_in_white_space() -> None:
    differing = members_of("white_space", "5.36") ^ members_of("white_space", "5.14")
    assert differing.nonzero()[0].tolist() == [0x0B, 0x180E]


def test_a_regex_class_has_the_members_below_its_end() -> None:
    pattern = re.compile(
        f"[{class_body('decimal_digit', 'white_space', perl='5.36', below=0x664)}]"
    )
    found = pattern.findall("a5 \t-\u0660\u0663\u0664\u3000")
    assert found == ["5", " ", "\t", "\u0660", "\u0663"]


def test_an_unknown_perl_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"there are no rules for Perl '5\.8'; available are 5\.36, 5\.14"
    ):
        ranges_of("alphabetic", "5.8")
