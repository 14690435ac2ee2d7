from typing import Any

import pytest

from corpusmill.pipelines.inspect.edition_changes import find_differences

OLD: dict[str, Any] = {
    "version": "1.2.0",
    "dump_date": "20260101",
    "settings": {"near_duplicates": 0.0, "pieces": {"size": 32000, "bytes": True}},
    "code": {"pyarrow": "24.0.0"},
    "inputs": [{"role": "dump", "sha256": "a"}, {"role": "dump", "sha256": "b"}],
}


def test_a_newer_dump_is_no_difference() -> None:
    new = OLD | {"dump_date": "20260201"}
    new["inputs"] = [{"role": "dump", "sha256": "c"}, {"role": "dump", "sha256": "d"}]
    assert find_differences(OLD, new) == ()
    assert find_differences({"version": "1"}, {"version": "1"}) == ()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"version": "1.3.0"}, "version: 1.2.0 → 1.3.0"),
        (
            {"settings": {"near_duplicates": 0.8, "pieces": {"size": 32000, "bytes": True}}},
            "settings near_duplicates: 0.0 → 0.8",
        ),
        (
            {"settings": {"near_duplicates": 0.0, "pieces": {"size": 9, "bytes": True}}},
            "settings pieces.size: 32000 → 9",
        ),
        ({"code": {}}, "code pyarrow: 24.0.0 → none"),
        ({"inputs": OLD["inputs"][:1]}, "inputs dump: 2 files → 1 file"),
        (
            {"settings": OLD["settings"] | {"wikis": "x" * 70}},
            f"settings wikis: none → {'x' * 60}…",
        ),
    ],
)
def test_what_differs_is_named_with_both_values(changed: dict[str, Any], told: str) -> None:
    assert find_differences(OLD, OLD | changed) == (told,)


def test_other_pins_are_a_difference_although_their_number_is_the_same() -> None:
    old, new = (
        OLD | {"inputs": [{"role": "pin-splits", "sha256": digest}]} for digest in ("aa", "bb")
    )
    assert find_differences(old, new) == ("pinned splits, SHA-256: aa → bb",)
