from corpusmill.pipelines.translation.sentence_pairs import find_repeats
from tests.pipelines.translation.pair_cases import found, pair, pairs_of


def test_both_of_two_repeats_are_named() -> None:
    pairs = pairs_of(
        [
            ("The first one.", "Das ist der Satz."),
            ("Another one.", "Etwas anderes."),
            ("A third one.", "Das ist der Satz!"),
        ]
    )
    findings = list(find_repeats(pairs))
    assert [(finding.id, finding.rule, finding.severity) for finding in findings] == [
        ("devtest-0001", "duplicate", "error"),
        ("devtest-0003", "duplicate", "error"),
    ]
    assert "devtest-0003" in findings[0].message
    assert "devtest-0001" in findings[1].message


def test_repeats_that_may_be_right_are_warnings() -> None:
    same_sources = pairs_of(
        [("One and the same.", "Ein und dasselbe."), ("One and the same", "Ein und dasselbe.")]
    )
    short = pairs_of([("Thanks.", "Danke."), ("Thank you.", "Danke!")])
    assert found(find_repeats(same_sources)) == [("duplicate", "warning")] * 2
    assert found(find_repeats(short)) == [("duplicate", "warning")] * 2
    assert not list(find_repeats(pairs_of([("a", ""), ("b", ""), ("c", "–")])))


def test_repeats_in_two_splits_overlap() -> None:
    pairs = [
        pair("The first one.", "Das ist der Satz.", 1, "devtest"),
        pair("The second one.", "Das ist der Satz.", 1, "dev"),
    ]
    findings = list(find_repeats(pairs))
    assert found(findings) == [("dev-devtest-overlap", "error")] * 2
    assert findings[0].message.endswith("dev and devtest overlap")
