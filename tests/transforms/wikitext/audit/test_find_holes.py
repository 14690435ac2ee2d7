"""Holes in texts that are made for it, beside the wikitext that they come from."""

import pytest

from corpusmill.transforms.wikitext.audit.audit_report import AuditTask, audit_page
from corpusmill.transforms.wikitext.audit.find_holes import compare
from corpusmill.transforms.wikitext.audit.holes import CLASSES, counts_as_hole
from corpusmill.transforms.wikitext.audit.source_view import view_source
from tests.test_architecture import ROOT, imports
from tests.tools.case_tables import read_cases

# wikitext, paragraphs of the text, (class, template) of each hole
HOLES = read_cases("wikitext/find_holes", "holes")

RIGHT = read_cases("wikitext/find_holes", "right")


@pytest.mark.parametrize(("wikitext", "paragraphs", "expected"), HOLES)
def test_a_hole_is_found_in_its_class(
    wikitext: str, paragraphs: list[str], expected: list[list[str]]
) -> None:
    found = compare(view_source(wikitext, {"file"}), paragraphs)
    holes = [hole for hole in found.holes if counts_as_hole(hole, found.uses)]
    assert [[hole.kind, hole.template] for hole in holes] == expected


def test_every_class_has_a_case() -> None:
    assert {kind for _, _, expected in HOLES for kind, _ in expected} == CLASSES.keys()


@pytest.mark.parametrize(("wikitext", "paragraphs"), RIGHT)
def test_a_text_that_is_right_has_no_hole(wikitext: str, paragraphs: list[str]) -> None:
    found = compare(view_source(wikitext, {"file"}), paragraphs)
    assert [hole for hole in found.holes if counts_as_hole(hole, found.uses)] == []


def test_uses_of_templates_are_counted_by_what_became_of_them() -> None:
    wikitext = "The lake is {{a|1}} long and {{b|2}} deep.{{c}} It is cold{{c}} all year."
    found = compare(
        view_source(wikitext, {"file"}), ["The lake is 1 km long and deep. It is cold all year."]
    )
    assert {name: tuple(uses) for name, uses in found.uses.items()} == {
        "A": (1, 0, 0),
        "B": (0, 1, 0),
        "C": (0, 0, 2),
    }


def test_a_page_that_is_no_article_has_lost_its_prose() -> None:
    found = audit_page(
        AuditTask("The lake is deep, and it is as cold as ice all year.", "", frozenset())
    )
    assert [hole.kind for hole in found.holes] == ["dropped-paragraph"]
    assert (found.paragraphs, found.source_words, found.found_words) == (0, 13, 0)


def test_the_audit_does_not_know_the_cleaner() -> None:
    folder = ROOT / "transforms/wikitext/audit"
    allowed = (
        "corpusmill.transforms.wikitext.audit",
        "corpusmill.transforms.wikitext.article_markers",
        "corpusmill.transforms.files.markup",
    )
    for path in folder.glob("*.py"):
        for name in imports(str(path.relative_to(ROOT))):
            assert not name.startswith("corpusmill") or name.startswith(allowed)
