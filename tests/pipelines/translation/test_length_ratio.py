from corpusmill.pipelines.translation.wrong_language import find_odd_lengths
from tests.pipelines.translation.pair_cases import found, pairs_of

# Translations of 150 % of the source, some more and some less.
LINES = [("x" * (40 + line), "y" * (60 + line + 3 * (line % 5))) for line in range(60)]


def test_usual_lengths() -> None:
    assert not list(find_odd_lengths(pairs_of(LINES)))


def test_much_too_short_and_much_too_long() -> None:
    lines = [*LINES, ("x" * 60, "y" * 25), ("x" * 60, "y" * 300), ("x" * 60, "y" * 150)]
    findings = list(find_odd_lengths(pairs_of(lines)))
    assert [(finding.line, finding.severity) for finding in findings] == [
        (61, "error"),
        (62, "error"),
        (63, "warning"),
    ]
    assert findings[0].message == (
        "the line has 25 letters and digits, but about 83 are usual; it is very short: is something left out?"
    )
    assert findings[1].message.endswith("very long: is something added?")


def test_a_third_of_the_lines_cut_does_not_hide_it() -> None:
    lines = [
        (source, target if place % 3 else target[:15])
        for place, (source, target) in enumerate(LINES)
    ]
    findings = list(find_odd_lengths(pairs_of(lines)))
    assert {finding.line for finding in findings} == set(range(1, 61, 3))


def test_few_lines_have_fixed_bounds() -> None:
    lines = [("x" * 50, "y" * 90), ("x" * 50, "中" * 15), ("x" * 80, "y"), ("x" * 20, "y" * 200)]
    findings = list(find_odd_lengths(pairs_of(lines)))
    assert [finding.line for finding in findings] == [3, 4]
    assert found(findings) == [("length-ratio", "warning")] * 2
