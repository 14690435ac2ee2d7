import math
import random
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.review import choose_sample
from corpusmill.transforms.files.records import SourceSentence
from corpusmill.transforms.files.text import fingerprint


def sources(count: int, text: str = "A sentence.") -> list[SourceSentence]:
    return [
        SourceSentence(
            f"dev-{number:04}", "dev", "wikinews:1", text, "", "wikinews", "health", False, False
        )
        for number in range(1, count + 1)
    ]


def test_the_sample_is_fixed_forever() -> None:
    assert choose_sample(sources(20), Fraction(1, 5), 7) == (
        "dev-0008",
        "dev-0010",
        "dev-0017",
        "dev-0020",
    )


def test_those_with_the_smallest_fingerprints_are_chosen() -> None:
    chosen = choose_sample(sources(50), Fraction(1, 5), 3)
    prints = {f"dev-{n:04}": fingerprint(f"3\tdev-{n:04}") for n in range(1, 51)}
    assert sorted(chosen) == sorted(sorted(prints, key=prints.__getitem__)[:10])


@given(st.integers(0, 60), st.fractions(Fraction(1, 99), 1), st.integers(), st.randoms())
@example(10, Fraction(1, 1000), 1, random.Random(0))
@example(3001, Fraction("0.2"), 1, random.Random(0))
def test_laws(count: int, share: Fraction, seed: int, chance: random.Random) -> None:
    chosen = choose_sample(sources(count), share, seed)
    assert len(chosen) == math.ceil(share * count)
    assert list(chosen) == sorted(chosen)
    assert set(chosen) <= set(choose_sample(sources(count), min(share * 2, Fraction(1)), seed))
    shuffled = sources(count, "Another text.")
    chance.shuffle(shuffled)
    assert set(choose_sample(shuffled, share, seed)) == set(chosen)
