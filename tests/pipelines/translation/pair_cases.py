"""Pairs for the tests of the checks."""

from collections.abc import Iterable

from corpusmill.pipelines.translation.sentence_pairs import Pair
from corpusmill.transforms.files.records import Finding, SourceSentence, Translation


def source(text: str, place: int = 1, split: str = "devtest", article: str = "") -> SourceSentence:
    name = article or f"wikinews:{place // 4}"
    id = f"{split}-{place:04}"
    return SourceSentence(
        id, split, name, text, "https://example.org/", "wikinews", "science", False, False
    )


def pair(text: str, translation: str, place: int = 1, split: str = "devtest") -> Pair:
    sentence = source(text, place, split)
    return Pair(sentence, Translation(sentence.id, translation, f"xx.{split}", place))


def pairs_of(lines: Iterable[tuple[str, str]]) -> list[Pair]:
    return [pair(text, translation, place) for place, (text, translation) in enumerate(lines, 1)]


def found(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """(rule, severity) of each."""
    return [(finding.rule, finding.severity) for finding in findings]
