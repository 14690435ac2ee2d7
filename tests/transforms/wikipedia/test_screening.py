import itertools
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.records import Page, Reason
from corpusmill.transforms.wikipedia.screening import (
    PageFacts,
    PageScreening,
    find_internal_class,
    find_template,
    merge_facts,
    reason_to_reject_facts,
)
from corpusmill.transforms.wikipedia.wikidata import LINKED_BY
from corpusmill.transforms.wikitext.language import load_language
from tests.tools.case_tables import read_cases, read_tables

CASES = read_tables("wikipedia")

PAGE = Page(1, 0, "Henn", 2, "wikitext", False, False, "The '''Henn''' is a river.")


def reason(page: Page, language: str = "en", by_template: bool = False) -> Reason | None:
    return PageScreening(load_language(language), by_template).reason_to_reject(page)


@pytest.mark.parametrize(("changed", "expected"), read_cases("wikipedia/screening", "pages"))
def test_the_first_rule_that_speaks_against_a_page(
    changed: dict[str, Any], expected: list[str]
) -> None:
    assert reason(PAGE._replace(**changed)) == (Reason(*expected) if expected else None)


@pytest.mark.parametrize(("language", "text"), CASES["redirect_words"])
def test_redirects_of_old_dumps_are_known_by_the_words_of_the_wiki(
    language: str, text: str
) -> None:
    assert reason(PAGE._replace(text=text), language) == Reason("redirect", "by its text")


@pytest.mark.parametrize(("language", "text", "name"), CASES["disambiguation"])
def test_disambiguation_pages_are_known_by_template_only_where_asked(
    language: str, text: str, name: str
) -> None:
    page = PAGE._replace(text=text)
    assert reason(page, language) is None
    assert reason(page, language, by_template=True) == Reason("disambiguation", f"template {name}")


@pytest.mark.parametrize("text", CASES["what_is_no_disambiguation_template"])
def test_what_is_no_disambiguation_template(text: str) -> None:
    assert reason(PAGE._replace(text=text), by_template=True) is None


def test_the_switch_that_the_templates_hold() -> None:
    page = PAGE._replace(text="Henn: __DISAMBIG__")
    assert reason(page, by_template=True) == Reason("disambiguation", "__DISAMBIG__")
    assert reason(page) is None


def test_find_template_takes_linear_time_over_open_braces() -> None:
    assert find_template("{{a" * 100_000 + "|" * 100_000, {"b"}) is None
    assert find_template("{{" * 200_000 + "B_ b}}", {"b b"}) == "b b"


def test_a_screening_can_be_sent_to_workers() -> None:
    screening = PageScreening(load_language("uk"), True)
    assert pickle.loads(pickle.dumps(screening)) == screening


@pytest.mark.parametrize(("facts", "expected"), read_cases("wikipedia/screening", "facts"))
def test_facts_that_speak_against_a_page(facts: dict[str, Any], expected: list[str]) -> None:
    reason = Reason(*expected) if expected else None
    assert reason_to_reject_facts(PageFacts(**facts)) == reason


@pytest.mark.parametrize(
    ("classes", "expected"),
    read_cases("wikipedia/screening", "of_several_classes_the_first_by_kind_and_number"),
)
def test_of_several_classes_the_first_by_kind_and_number(
    classes: list[int], expected: list[str]
) -> None:
    kinds = {
        10: "disambiguation",
        11: "category",
        12: "list",
        13: "list",
        14: "template",
        15: "internal",
        100: "list",
    }
    assert find_internal_class(classes, kinds) == tuple(expected)
    assert find_internal_class(classes[::-1], kinds) == tuple(expected)


def test_facts_of_several_tables_are_put_together() -> None:
    parts = [
        PageFacts(exists=True),
        PageFacts(is_disambiguation=True),
        PageFacts(pinned_split="test"),
        PageFacts("Q5", internal_kind="category", internal_class="Q4167836", is_class_known=True),
    ]
    merged = PageFacts("Q5", True, True, "category", "Q4167836", True, "test")
    assert all(merge_facts(order) == merged for order in itertools.permutations(parts))
    assert merge_facts([]) == PageFacts()


def test_of_two_items_the_smaller_counts_with_its_class_and_its_split() -> None:
    parts = [
        PageFacts("Q10", False, False, "category", "Q4167836", True, pinned_split="test"),
        PageFacts("Q9"),
    ]
    assert merge_facts(parts) == merge_facts(parts[::-1]) == PageFacts("Q9")
    parts = [PageFacts("Q10"), PageFacts("Q9", pinned_split="test")]
    assert merge_facts(parts) == merge_facts(parts[::-1]) == parts[1]


@pytest.mark.parametrize(
    ("linked", "right"),
    read_cases("wikipedia/screening", "of_two_items_the_one_that_is_linked_more_reliably_counts"),
)
def test_of_two_items_the_one_that_is_linked_more_reliably_counts(
    linked: list[tuple[str, str, bool]], right: str
) -> None:
    """An item by page id that the entity table lacks was merged into the one that has the title."""
    parts = [PageFacts(qid, linked_by=by, is_class_known=known) for qid, by, known in linked]
    assert merge_facts(parts).qid == merge_facts(parts[::-1]).qid == right


some_facts = st.builds(
    PageFacts,
    qid=st.sampled_from(["", "Q1", "Q2", "Q10"]),
    exists=st.booleans(),
    is_disambiguation=st.booleans(),
    internal_kind=st.sampled_from(["", "category", "list"]),
    internal_class=st.sampled_from(["", "Q4167836", "Q4167410"]),
    is_class_known=st.booleans(),
    pinned_split=st.sampled_from(["", "train", "test"]),
    linked_by=st.sampled_from(LINKED_BY),
)


@given(st.lists(some_facts, max_size=6), st.randoms(use_true_random=False))
def test_what_facts_say_together_does_not_depend_on_their_order(parts, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = parts.copy()
    random.shuffle(shuffled)
    assert merge_facts(shuffled) == merge_facts(parts)
