"""Kinds of sections, and the headings that are learned from them."""

import itertools

import pytest

from corpusmill.transforms.wikitext.sections import (
    MAX_NAME,
    HeadingCounts,
    HeadingKey,
    add_counts,
    count_headings,
    learn_headings,
)
from tests.tools.case_tables import read_cases
from tests.tools.growth import call_linear

SENTENCE = (
    "The house stood at the end of a long road that nobody had ever walked in all those years. "
)
PROSE = f"{SENTENCE * 9}\n"


def kinds_of(wikitext: str, title: str = "House") -> dict[str, str]:
    """Heading → kind of the section, of a page with prose before."""
    return {
        key.name: next(kind for kind in counts._fields[2:-1] if getattr(counts, kind))
        for key, counts in count_headings(title, PROSE + wikitext)
        if key.name
    }


@pytest.mark.parametrize(
    ("body", "kind"), read_cases("wikitext/section_kinds", "kinds_of_sections")
)
def test_kinds_of_sections(body: str, kind: str) -> None:
    assert kinds_of(f"== What ==\n{body}\n")["what"] == kind


@pytest.mark.parametrize(
    "body", ["", "<!-- nothing yet -->", "[[Category:A]] [[Category:B]]\n[[de:Haus]]", "<br />"]
)
def test_an_empty_section_says_nothing(body: str) -> None:
    assert kinds_of(f"== What ==\n{body}\n") == {}


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("'''Notes'''", "notes"),
        ("See  also :", "see also"),
        ("A&amp;B", "a&b"),
        ("[[Notes]]", None),
        ("{{Notes}}", None),
        ("N" * (MAX_NAME + 1), None),
    ],
)
def test_names_of_headings(heading: str, name: str | None) -> None:
    assert kinds_of(f"== {heading} ==\n{SENTENCE}\n") == ({name: "prose"} if name else {})


def test_sections_that_end_a_page() -> None:
    text = (
        f"{PROSE}== List ==\n* a\n== Prose ==\n{SENTENCE}\n== Notes ==\n* [[A]]\n=== Sub ===\n* b"
    )
    closing = {key: counts.closing for key, counts in count_headings("House", text)}
    assert closing == {
        HeadingKey("", True): 0,
        HeadingKey("list", True): 0,
        HeadingKey("prose", True): 1,
        HeadingKey("notes", True): 1,
        HeadingKey("sub", False): 1,
    }


@pytest.mark.parametrize("title", ["1803", "3 February", "फेब्रुवारी ३"])
def test_years_and_days_do_not_take_part(title: str) -> None:
    assert kinds_of("== Notes ==\n{{Reflist}}", title) == {}


def test_pages_with_little_prose_do_not_take_part() -> None:
    assert list(count_headings("House", f"{SENTENCE}\n== Notes ==\n{{{{Reflist}}}}")) == []


def counted(sections: int, **kinds: int) -> HeadingCounts:
    given = {"closing": sections, "prose": 0, "notes": sections, "sources": 0, "links": 0}
    return HeadingCounts(**{"sections": sections, "lists": 0, "templates": 0, "page": "A"} | given | kinds)  # type: ignore[arg-type]  # fmt: skip


TOP, BELOW = HeadingKey("x", is_top=True), HeadingKey("x", is_top=False)


@pytest.mark.parametrize(
    ("counts", "learned"),
    [
        ({TOP: counted(5)}, [False]),
        ({TOP: counted(4)}, []),
        ({TOP: counted(4), BELOW: counted(1)}, [False]),
        ({TOP: counted(20, prose=2, notes=18)}, [False]),
        ({TOP: counted(20, prose=3, notes=17)}, []),
        ({TOP: counted(20, closing=18)}, [False]),
        ({TOP: counted(20, closing=17)}, []),
        ({TOP: counted(20, notes=6, lists=14)}, [False]),
        ({TOP: counted(20, notes=5, lists=15)}, []),
        ({TOP: counted(20, notes=2, sources=2, links=2, lists=14)}, [False]),
        ({TOP: counted(20), BELOW: counted(5, prose=5, notes=0, closing=0)}, [True]),
        ({TOP: counted(5, prose=5, notes=0), BELOW: counted(20)}, []),
        ({TOP: counted(9), HeadingKey("", True): counted(18_000)}, [False]),
        ({TOP: counted(9), HeadingKey("", True): counted(20_000)}, []),
    ],
)
def test_what_is_learned(counts: dict[HeadingKey, HeadingCounts], learned: list[bool]) -> None:
    for order in itertools.permutations(counts.items()):
        found = learn_headings(order)
        assert [heading.is_top_only for heading in found] == learned
        assert [heading.name for heading in found] == ["x"] * len(learned)


def test_counts_are_added() -> None:
    a, b = counted(2), counted(3, closing=1)._replace(page="B")
    assert add_counts([b, a]) == counted(5, closing=3)


@pytest.mark.parametrize(
    "bad", ["{{", "[[", "{{a|", "[http://", "== x ==\n", "{{{", "[[[", "[[a:b", "|="]
)
def test_bad_input_takes_time_linear_in_its_length(bad: str) -> None:
    call_linear(
        lambda text: list(count_headings("House", text)),
        lambda size: PROSE + bad * (size // len(bad)),
        400_000,
    )
