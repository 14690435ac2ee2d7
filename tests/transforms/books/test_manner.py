import pytest

from corpusmill.transforms.books.genres import Manner, measure_manner
from tests.transforms.books.sample_texts import MANUAL, PROSE, RECIPES


@pytest.mark.parametrize(
    ("samples", "manner"),
    [
        ([], Manner(0, 0, 0, 0)),
        (["12 34"], Manner(0, 0, 0, 0)),
        (["He said so", "She, said HE"], Manner(5000 / 6, 0, 0, 0)),
        (["It must be so and may be"], Manner(0, 2000 / 7, 0, 0)),
        (["1. One\n (2) two\n 3) ten\n (c) four\n1900 was"], Manner(1000 / 6, 0, 4000 / 6, 0)),
        (["take 2 ounces, half a pint and two teaspoonfuls"], Manner(0, 0, 0, 3000 / 8)),
        (["1 lb of it, a gill"], Manner(0, 0, 0, 2000 / 5)),
        (["the cup of some pounds"], Manner(0, 0, 0, 0)),
    ],
)
def test_counts_in_1000_words(samples: list[str], manner: Manner) -> None:
    assert tuple(measure_manner(samples)) == pytest.approx(tuple(manner))


def test_manners_are_apart() -> None:
    tale, rules, recipes = (measure_manner([text]) for text in (PROSE, MANUAL, RECIPES))
    assert tale.narrating > 200
    assert max(rules.narrating, recipes.narrating) < 2
    assert rules.obliging > 60
    assert tale.obliging == 0
    assert recipes.measured > 80
    assert tale.measured == rules.measured == 0
