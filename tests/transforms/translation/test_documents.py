import json
import re
from typing import Any

import pytest

from corpusmill.transforms.files.records import Reason
from corpusmill.transforms.translation.selection import (
    Document,
    check_domain,
    find_candidate,
    is_day,
    parse_document,
    read_paragraphs,
)
from tests.makers.documents import make_documents
from tests.tools.case_tables import read_cases

GOOD = make_documents(1)[0]


def line_of(**changes: Any) -> bytes:
    fields = {name: value for name, value in (GOOD | changes).items() if value is not None}
    return json.dumps(fields).encode()


def test_a_good_document_and_what_is_not_looked_at() -> None:
    assert parse_document(line_of(language="en", tags=[1, {}])) == Document(**GOOD)
    spaced = parse_document(line_of(title="  A title ", date=" 2026-02-28T23:59:59.5+02:00"))
    assert (spaced.title, spaced.date) == ("A title", "2026-02-28")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": None}, "Object missing required field `id`"),
        ({"licence": None}, "Object missing required field `licence`"),
        ({"licence": "x" * 201}, "the licence has 201 characters; the limit is 200"),
        *read_cases("translation/documents", "bad_fields"),
    ],
)
def test_a_document_with_a_bad_field(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_document(line_of(**changes))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[]", "Expected `object`, got `array`"),
        (b'{"id": "a"', "truncated"),
        (b"<!DOCTYPE html>", "malformed"),
        (line_of() + b" {}", "trailing characters"),
        (line_of().replace(b"Tarnholt", b"T\xe4rnholt", 1), "not UTF-8: invalid byte "),
        (b'{"x": ' + b"[" * 100_000, "nested too deep"),
        (line_of(title="TITLE").replace(b"TITLE", rb"\ud800"), "malformed"),
        (line_of(title="TITLE").replace(b"TITLE", rb"\udc00 x"), "malformed"),
    ],
)
def test_a_line_that_is_no_document(line: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_document(line)


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    read_cases("translation/documents", "paragraphs"),
)
def test_paragraphs_have_blank_lines_between(text: str, paragraphs: list[str]) -> None:
    assert [one.text for one in read_paragraphs(text)] == paragraphs


def test_the_passage_of_a_document() -> None:
    document = Document(**GOOD)
    found = find_candidate(document, "news", 0)
    assert not isinstance(found, Reason)
    named = found.domain, found.page_id, found.licence, found.url, found.has_image
    assert named == ("news", "bridge-tarnholt", "CC BY 4.0", document.url, False)
    sentences = [one.text for one in found.passage.sentences]
    assert " ".join(sentences) in document.text
    again = find_candidate(document, "news", 1)
    assert not isinstance(again, Reason)
    assert again.rank != found.rank
    short = find_candidate(document._replace(text="It rained."), "news", 0)
    assert isinstance(short, Reason)
    assert short.slug == "no-passage"


@pytest.mark.parametrize("name", ["wikinews", "News", "a-b", "", "9", "x" * 33, "a=b"])
def test_names_that_no_domain_of_documents_may_have(name: str) -> None:
    with pytest.raises(ValueError, match="the set of documents"):
        check_domain(name)


@pytest.mark.parametrize(("text", "expected"), [("2024-02-29", True), ("2023-02-29", False)])
def test_days_are_those_of_the_calendar(text: str, expected: bool) -> None:
    assert is_day(text) == expected
