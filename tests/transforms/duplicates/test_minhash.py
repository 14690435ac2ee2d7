import itertools

import numpy
import pytest
from datasketch import MinHash
from datasketch.lsh import _optimal_param
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.duplicates import minhash
from tests.tools.case_tables import read_cases

SETS = st.lists(st.lists(st.binary(max_size=12), min_size=1, max_size=9), max_size=5)


@given(
    st.lists(st.lists(st.integers(0, (1 << 32) - 1), min_size=1, max_size=30), max_size=9),
    st.integers(1, 20),
    st.integers(1, 40),
)
@settings(max_examples=60)
def test_hashes_are_signed_in_pieces_as_in_one(
    sets: list[list[int]], permutations: int, piece: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minhash, "_PIECE_HASHES", piece)
        signed = minhash.sign_hashes([numpy.array(one, numpy.uint32) for one in sets], permutations)
    expected = []
    for one in sets:
        theirs = MinHash(num_perm=permutations, hashfunc=int)
        theirs.update_batch(one)
        expected.append(theirs.hashvalues.tolist())
    assert signed.shape == (len(sets), permutations)
    assert signed.tolist() == expected


@pytest.mark.parametrize("miss_weight", [0.5, 0.9])
@pytest.mark.parametrize("permutations", [2, 10, 128, 200])
@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.8, 0.9, 0.99])
def test_bands_are_those_of_datasketch(
    threshold: float, permutations: int, miss_weight: float
) -> None:
    bands, rows = _optimal_param(threshold, permutations, 1 - miss_weight, miss_weight)
    if bands < 2:
        with pytest.raises(
            ValueError, match=f"threshold {threshold} is too high for {permutations} perm"
        ):
            minhash.choose_bands(threshold, permutations, miss_weight)
    else:
        assert minhash.choose_bands(threshold, permutations, miss_weight) == (bands, rows)


def test_what_the_docstring_says_of_bands() -> None:
    for weight, expected, found_at in (
        (0.5, (9, 13), {0.8: 0.40, 0.9: 0.93}),
        (0.9, (14, 9), {0.8: 0.87, 0.9: 0.999}),
    ):
        bands, rows = minhash.choose_bands(0.8, 128, weight)
        assert (bands, rows) == expected
        for similarity, share in found_at.items():
            assert 1 - (1 - similarity**rows) ** bands == pytest.approx(share, abs=0.005)


def test_no_permutations_make_no_bands() -> None:
    with pytest.raises(ValueError, match="is too high for 0"):
        minhash.choose_bands(0.8, 0)


def test_a_bucket_is_shared_by_those_that_agree_in_a_band() -> None:
    signatures = numpy.array(
        [[1, 2, 3, 4, 5, 6], [1, 2, 9, 4, 5, 6], [2, 1, 3, 4, 6, 5], [1, 2, 3, 4, 5, 7]],
        numpy.uint32,
    )
    buckets = minhash.bucket_signatures(signatures, 3, 2).tolist()
    same = [
        "".join("+" if one == other else "-" for one, other in zip(first, second, strict=True))
        for first, second in itertools.combinations(buckets, 2)
    ]
    assert same == ["+-+", "-+-", "++-", "---", "+--", "-+-"]
    # Columns that are left over belong to no band, and equal rows of other bands are other buckets.
    assert minhash.bucket_signatures(signatures, 2, 2).tolist() == [row[:2] for row in buckets]
    ordered = numpy.repeat(numpy.arange(50, dtype=numpy.uint32), 100).reshape(50, 100)
    assert len(set(minhash.bucket_signatures(ordered, 100, 1).ravel().tolist())) == 50 * 100


def test_buckets_spread_over_all_bits() -> None:
    signatures = numpy.arange(1 << 14, dtype=numpy.uint32).reshape(-1, 1)
    buckets = minhash.bucket_signatures(signatures, 1, 1)[:, 0]
    for shift in (0, 20, 52):
        filled = numpy.bincount(((buckets >> numpy.uint64(shift)) & numpy.uint64(255)).astype(int))
        assert len(filled) == 256
        assert 20 < filled.min() <= filled.max() < 120  # of 64 expected


@pytest.mark.parametrize(("bits", "first", "rest"), [(12, 0xABC, 12), (10, 0xABC >> 2, 10)])
def test_buckets_are_dealt_by_their_first_bits(bits: int, first: int, rest: int) -> None:
    # The last bits are left out: of the first two they differ.
    buckets = numpy.array([[0xABC12345678FFFFF, 5], [0xABC12345678EEEEE, 1 << 63]], numpy.uint64)
    dealt = minhash.deal_buckets(numpy.array([7, -3]), buckets, bits)
    kept = 0xABC12345678FFFFF >> 32 - rest & 0xFFFFFFFF
    assert [(part, members.tolist(), own.tolist()) for part, members, own in dealt] == [
        (0, [7], [0]),
        (1 << bits - 1, [-3], [0]),
        (first, [7, -3], [kept, kept]),
    ]
    assert all(
        own.itemsize == 4 for _, _, own in minhash.deal_buckets(numpy.array([7, 8]), buckets, bits)
    )


def pairs_of(buckets: list[int], ids: list[int]) -> list[list[int]]:
    pairs = minhash.pair_members(numpy.array(buckets, numpy.uint32), numpy.array(ids, numpy.int64))
    assert pairs.shape == (len(pairs), 2)
    assert pairs.dtype == numpy.dtype(numpy.int64)
    return sorted(pairs.tolist())


@pytest.mark.parametrize(
    ("buckets", "ids", "expected"),
    read_cases("duplicates/minhash", "members_of_a_bucket_are_paired"),
)
def test_members_of_a_bucket_are_paired(
    buckets: list[int], ids: list[int], expected: list[list[int]]
) -> None:
    assert pairs_of(buckets, ids) == expected


@given(st.integers(0, 40))
def test_of_a_large_bucket_some_are_paired_and_the_first_with_all(members: int) -> None:
    ids = [100 + 3 * place for place in range(members)]
    found = pairs_of([5] * members, ids[::-1])
    expected = [
        [ids[low], ids[high]]
        for low, high in itertools.combinations(range(members), 2)
        if low < minhash.ANCHORS or high - low <= minhash.NEIGHBOURS
    ]
    assert found == expected
    assert len(found) <= (minhash.ANCHORS + minhash.NEIGHBOURS) * members
    if members <= 9:
        assert len(found) == members * (members - 1) // 2


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 50)), unique=True, max_size=40))
def test_even_ids_are_paired_with_odd_ones(members: list[tuple[int, int]]) -> None:
    """In small buckets all; in large ones none is left out, and each is paired with eight at least."""
    buckets, ids = (
        (numpy.array(one, numpy.int64) for one in zip(*members, strict=True))
        if members
        else (
            numpy.empty(0, numpy.int64),
            numpy.empty(0, numpy.int64),
        )
    )
    found = set(map(tuple, minhash.pair_across(buckets.astype(numpy.uint32), ids).tolist()))
    every = {
        (min(one, other), max(one, other))
        for bucket, one in members
        for other_bucket, other in members
        if bucket == other_bucket and one % 2 == 0 and other % 2
    }
    assert found <= every
    for bucket, one in members:
        others = [other for b, other in members if b == bucket and (one + other) % 2]
        paired = [other for other in others if (min(one, other), max(one, other)) in found]
        assert len(paired) >= min(len(others), 8)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), unique=True, max_size=30))
def test_pairs_do_not_depend_on_the_order_of_members(members: list[tuple[int, int]]) -> None:
    ordered = sorted(members)
    assert pairs_of([b for b, _ in members], [i for _, i in members]) == pairs_of(
        [b for b, _ in ordered], [i for _, i in ordered]
    )
