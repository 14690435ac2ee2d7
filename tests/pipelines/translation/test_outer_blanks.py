import pytest

from corpusmill.pipelines.translation.check_characters import find_outer_blanks
from tests.pipelines.translation.pair_cases import pair


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (" a", "before"),
        ("a\u00a0", "behind"),
        ("\ta ", "before and behind"),
        ("a\u200b", "behind"),
        ("\ufeffa", "before"),
        ("a b", None),
        (" ", None),
    ],
)
def test_outer_blanks(text: str, where: str | None) -> None:
    findings = list(find_outer_blanks([pair("A.", text)]))
    assert [finding[1:4] for finding in findings] == (
        [("outer-blanks", "warning", f"spaces {where} the line")] if where else []
    )
