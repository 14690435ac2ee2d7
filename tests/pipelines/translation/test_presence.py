import pytest

from corpusmill.pipelines.translation.sentence_pairs import find_empty, find_missing
from corpusmill.transforms.files.records import Translation
from tests.pipelines.translation.pair_cases import found, pair, source
from tests.tools.case_tables import read_cases


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


SENTENCE = "The old dog sleeps beside the warm oven all day long."


@pytest.mark.parametrize("text", ["", "  ", "-", "…", "\u200b\ufeff", "«»", "\n"])
def test_empty(text: str) -> None:
    assert found(find_empty([pair("One.", text)])) == [("empty", "error")]


@pytest.mark.parametrize("text", ["TODO", "to do", "[T.B.D.]", "n/a", "Lorem ipsum", "x", "ок"])
def test_a_placeholder_is_empty(text: str) -> None:
    (finding,) = find_empty([pair(SENTENCE, text)])
    assert (finding.rule, finding.severity) == ("empty", "error")
    assert (
        finding.message
        == f'the translation is only "{text}"; expected a translation of "{SENTENCE}"'
    )


@pytest.mark.parametrize(
    ("source", "text"),
    read_cases("translation/sentence_pairs", "not_empty"),
)
def test_not_empty(source: str, text: str) -> None:
    assert not list(find_empty([pair(source, text)]))
