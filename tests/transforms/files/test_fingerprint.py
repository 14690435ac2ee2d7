import collections

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.text import SPLITS, fingerprint, shard_of, split_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # printf %s TEXT | sha256sum | cut -c1-16
        ("", 0xE3B0C44298FC1C14),
        ("Q67", 0x44784DDDBDB00F04),
        ("Київ", 0x4EC43FF9C42014B8),
    ],
)
def test_fingerprint_is_fixed_forever(text: str, expected: int) -> None:
    assert fingerprint(text) == expected


def test_splits_have_their_shares() -> None:
    counts = collections.Counter(split_of(f"Q{number}") for number in range(1, 20_001))
    assert set(counts) == set(SPLITS)
    assert counts["train"] / 20_000 == pytest.approx(0.90, abs=0.01)
    assert counts["validation"] / 20_000 == pytest.approx(0.05, abs=0.01)


@given(st.text(), st.integers(1, 1000))
def test_shards_are_in_the_order_of_the_fingerprint(identity: str, shards: int) -> None:
    shard = shard_of(identity, shards)
    assert 0 <= shard < shards
    assert shard * 2**64 <= fingerprint(identity) * shards < (shard + 1) * 2**64
