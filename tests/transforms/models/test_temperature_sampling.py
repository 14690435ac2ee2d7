from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.models.sentence_sampling import Share, check_temperature, share_out

COUNTS = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3), st.integers(0, 10**9), min_size=1, max_size=8
).filter(lambda counts: any(counts.values()))


def wanted(counts: dict[str, int], temperature: str, total: int) -> dict[str, int]:
    return {name: share.wanted for name, share in share_out(counts, temperature, total).items()}


def test_shares_of_the_fifth_root() -> None:
    # 1 : 32 sentences weigh 1 : 2 at T = 5, and 1 : 32 at T = 1.
    assert share_out({"b": 32, "a": 1}, "5", 99) == {
        "a": Share(1, float(Fraction(1, 3)), 33),
        "b": Share(32, float(Fraction(2, 3)), 66),
    }
    assert wanted({"a": 1, "b": 32}, "1", 99) == {"a": 3, "b": 96}
    assert wanted({"a": 9, "b": 4}, "2", 500) == {"a": 300, "b": 200}
    assert wanted({"a": 2, "b": 4}, "0.5", 100) == {"a": 20, "b": 80}


def test_what_is_left_goes_to_the_largest_remainders_and_then_by_name() -> None:
    assert wanted({"c": 7, "a": 7, "b": 7}, "5", 8) == {"a": 3, "b": 3, "c": 2}
    assert wanted({"a": 1, "b": 1, "c": 3}, "1", 3) == {"a": 1, "b": 0, "c": 2}  # 0.6 0.6 1.8


def test_a_language_without_a_sentence_gets_nothing() -> None:
    found = share_out({"a": 0, "b": 3}, "5", 7)
    assert found == {"a": Share(0, 0.0, 0), "b": Share(3, 1.0, 7)}
    assert (found["a"].times, found["a"].once_more) == (0, 0)
    assert (found["b"].times, found["b"].once_more) == (2, 1)


@given(COUNTS, st.sampled_from(["0.7", "1", "2", "5", "100"]), st.integers(1, 10**9))
def test_the_shares_add_up_and_larger_languages_give_more(
    counts: dict[str, int], temperature: str, total: int
) -> None:
    shares = share_out(counts, temperature, total)
    assert list(shares) == sorted(counts)
    assert sum(share.wanted for share in shares.values()) == total
    for share in shares.values():
        assert share.times * share.sentences + share.once_more == share.wanted
        assert abs(share.wanted - share.probability * total) < 1 + total / 10**12
    by_size = sorted(shares.values(), key=lambda share: share.sentences)
    assert all(a.wanted <= b.wanted + (a.sentences == b.sentences) for a, b in pairwise(by_size))


@given(COUNTS, st.integers(1, 10**6))
def test_the_order_in_which_languages_come_does_not_count(
    counts: dict[str, int], total: int
) -> None:
    backwards = dict(reversed(counts.items()))
    assert share_out(backwards, "5", total) == share_out(counts, "5", total)


@pytest.mark.parametrize("temperature", ["0", "-1", "nan", "inf", "warm", ""])
def test_no_temperature(temperature: str) -> None:
    with pytest.raises(ValueError, match="temperature must be a positive number, not"):
        check_temperature(temperature)


def test_nothing_to_learn_from() -> None:
    with pytest.raises(ValueError, match="no sentence"):
        share_out({"a": 0}, "5", 10)
