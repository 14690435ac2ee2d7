import pytest

from corpusmill.pipelines.translation.check_characters import addresses, find_changed_addresses
from tests.pipelines.translation.pair_cases import pair


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.org/b_(c).", ["https://a.org/b_(c"]),
        ("Siehe www.a-b.org/x?y=1, oder a.b@c.de!", ["www.a-b.org/x?y=1", "a.b@c.de"]),
        ("http://a.orgを見て", ["http://a.org"]),
        ("see www and @name, a.b", []),
    ],
)
def test_addresses(text: str, expected: list[str]) -> None:
    assert addresses(text) == expected


@pytest.mark.parametrize(
    ("english", "translation", "message"),
    [
        ("See www.a.org now.", "www.a.orgを見て。", None),
        ("See www.a.org now.", "見て。", 'the address "www.a.org" of the source is missing'),
        ("See it.", "www.a.org", 'the address "www.a.org" is not in the source'),
        ("www.a.org", "www.a.de", 'the address must stay "www.a.org", but is "www.a.de"'),
    ],
)
def test_changed_addresses(english: str, translation: str, message: str | None) -> None:
    findings = list(find_changed_addresses([pair(english, translation)]))
    assert [finding[1:4] for finding in findings] == (
        [("urls-differ", "error", message)] if message else []
    )
