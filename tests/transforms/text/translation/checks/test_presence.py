import pytest

from tests.transforms.text.translation.checks.pair_cases import found, pair, source
from transforms.text.translation.checks.presence import find_empty, find_missing
from transforms.text.translation.records import Translation


def test_missing_and_unknown_ids() -> None:
    translations = {
        id: Translation(id, "x", "fra.dev", line)
        for line, id in enumerate(["devtest-0001", "devtest-9999"], 1)
    }
    findings = list(find_missing([source("One.", 1), source("Two.", 2)], translations))
    assert [finding[:3] for finding in findings] == [
        ("devtest-0002", "missing", "error"),
        ("devtest-9999", "unknown-id", "error"),
    ]
    assert findings[0].message == 'no translation of devtest-0002, "Two."'
    assert findings[1][4:] == ("fra.dev", 2)


@pytest.mark.parametrize("text", ["", "  ", "-", "…", "\u200b\ufeff", "«»", "\n"])
def test_empty(text: str) -> None:
    assert found(find_empty([pair("One.", text)])) == [("empty", "error")]


@pytest.mark.parametrize("text", ["1", "a", "क", "中", "٣"])
def test_not_empty(text: str) -> None:
    assert not list(find_empty([pair("One.", text)]))
