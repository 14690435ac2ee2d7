import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from corpusmill.transforms.translation.passages import (
    Cell,
    Quota,
    apportion,
    fit_to_candidates,
    plan_quotas,
    split_sizes,
)
from tests.tools.case_tables import read_cases

THREE = ("wikinews", "wikibooks", "wikivoyage")


def margin(quotas: Mapping[Cell, Quota], name: str) -> tuple[int, int]:
    """(articles, sentences) of a domain or split."""
    cells = [quota for cell, quota in quotas.items() if name in cell]
    return sum(quota.articles for quota in cells), sum(quota.sentences for quota in cells)


def test_the_paper() -> None:
    quotas = plan_quotas()
    assert margin(quotas, "dev") == (281, 997)
    assert margin(quotas, "devtest") == (281, 1012)
    assert margin(quotas, "test") == (280, 992)
    assert margin(quotas, "wikinews") == (281, 1001)
    assert margin(quotas, "wikibooks") == (281, 1000)
    assert margin(quotas, "wikivoyage") == (280, 1000)
    assert list(quotas) == [
        (domain, split) for domain in THREE for split in ("dev", "devtest", "test")
    ]
    assert {quota.articles for quota in quotas.values()} == {93, 94}
    assert all(329 <= quota.sentences <= 338 for quota in quotas.values())


@pytest.mark.parametrize(
    ("domains", "articles", "sentences"),
    [
        (THREE[:2], (421, 421), (1501, 1500)),
        ((*THREE, "news"), (211, 211, 210, 210), (751, 750, 750, 750)),
    ],
)
def test_the_paper_with_two_and_four_domains(
    domains: tuple[str, ...], articles: tuple[int, ...], sentences: tuple[int, ...]
) -> None:
    quotas = plan_quotas(domains=domains)
    margins = zip(articles, sentences, strict=True)
    assert [margin(quotas, domain) for domain in domains] == list(margins)
    splits = {"dev": (281, 997), "devtest": (281, 1012), "test": (280, 992)}
    assert {split: margin(quotas, split) for split in splits} == splits
    for split in splits:
        cells = [quotas[domain, split].sentences for domain in domains]
        assert max(cells) - min(cells) <= 9  # as many articles as can be, of 3 to 5 sentences each


@pytest.mark.parametrize(
    ("sentences", "sizes"),
    read_cases("translation/passages", "split_sizes"),
)
def test_sizes_of_splits(sentences: int, sizes: list[int]) -> None:
    assert list(split_sizes(sentences).values()) == sizes


def test_a_small_benchmark() -> None:
    assert plan_quotas(36, 9) == {
        (domain, split): Quota(1, 4) for domain in THREE for split in ("dev", "devtest", "test")
    }


def test_splits_may_be_of_any_size() -> None:
    quotas = plan_quotas(1000, 250, {"dev": 100, "test": 900}, ("wikinews", "wikipedia"))
    assert margin(quotas, "dev") == (
        33,
        100,
    )  # as near to half of the articles as 3 sentences allow
    assert margin(quotas, "test") == (217, 900)
    assert margin(quotas, "wikinews") == margin(quotas, "wikipedia") == (125, 500)


def test_articles_go_by_sentences_where_equal_ones_leave_no_way() -> None:
    quotas = plan_quotas(
        510, 125, {"dev": 168, "test": 342}
    )  # equal ones: 56 of 3 sentences, 69 of 4.96
    assert margin(quotas, "dev") == (41, 168)
    assert margin(quotas, "test") == (84, 342)


@pytest.mark.parametrize(
    ("arguments", "message"),
    read_cases("translation/passages", "impossible"),
)
def test_impossible_numbers(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        plan_quotas(**arguments)


def check(
    quotas: Mapping[Cell, Quota], articles: int, splits: Mapping[str, int], domains: list[str]
) -> None:
    assert all(3 * one.articles <= one.sentences <= 5 * one.articles for one in quotas.values())
    assert sum(quota.articles for quota in quotas.values()) == articles
    for split, size in splits.items():
        assert margin(quotas, split)[1] == size
    sizes = [margin(quotas, domain)[1] for domain in domains]
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes) - min(sizes) <= 1


@given(st.data())
def test_sums_are_exact(data: st.DataObject) -> None:
    domains = data.draw(st.lists(st.sampled_from("wxyz"), min_size=1, max_size=4, unique=True))
    sizes = data.draw(st.lists(st.integers(0, 400), min_size=1, max_size=4).filter(any))
    splits = {f"s{place}": size for place, size in enumerate(sizes)}
    sentences = sum(sizes)
    articles = data.draw(st.integers(1, sentences // 3 + 1))
    try:
        quotas = plan_quotas(sentences, articles, splits, domains)
    except ValueError:
        # Where there is room between 3 and 5 in all splits and domains, all can be dealt.
        smallest = min(*sizes, sentences // len(domains), 400)
        assert smallest < 20 * len(domains) or not 3.3 <= sentences / articles <= 4.7
        return
    check(quotas, articles, splits, domains)


@given(st.integers(150, 4000), st.floats(3.5, 4.5), st.integers(1, 4))
def test_splits_of_the_paper_can_always_be_scaled(sentences: int, mean: float, count: int) -> None:
    assume(sentences >= 150 * count)
    articles, domains = round(sentences / mean), list("wxyz")[:count]
    splits = split_sizes(sentences)
    quotas = plan_quotas(sentences, articles, splits, domains)
    check(quotas, articles, splits, domains)
    for names in (domains, splits):
        counts = [margin(quotas, name)[0] for name in names]
        assert max(counts) - min(counts) <= 1
        assert counts == sorted(counts, reverse=True)


@given(st.integers(0, 500), st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any))
def test_parts_are_next_to_their_share(total: int, weights: list[int]) -> None:
    parts = apportion(total, weights)
    assert sum(parts) == total
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - total * weight / sum(weights)) < 1


def test_a_domain_with_too_few_articles() -> None:
    quotas = plan_quotas()
    fitted = fit_to_candidates(quotas, {"wikinews": 40, "wikibooks": 281, "wikivoyage": 1000})
    assert margin(fitted, "wikinews") == (40, 143)
    assert [fitted["wikinews", split].articles for split in ("dev", "devtest", "test")] == [
        14,
        13,
        13,
    ]
    assert {cell: quota for cell, quota in fitted.items() if cell[0] != "wikinews"} == {
        cell: quota for cell, quota in quotas.items() if cell[0] != "wikinews"
    }


def test_a_domain_without_articles() -> None:
    fitted = fit_to_candidates(plan_quotas(36, 9), {"wikinews": 3, "wikivoyage": 1})
    assert margin(fitted, "wikibooks") == (0, 0)
    assert margin(fitted, "wikivoyage") == (1, 4)
    assert fitted["wikivoyage", "dev"] == Quota(1, 4)


@given(st.integers(0, 300), st.integers(165, 255))
def test_scaled_quotas_stay_within_bounds(found: int, articles: int) -> None:
    quotas = plan_quotas(800, articles, None, ("w",))
    fitted = fit_to_candidates(quotas, {"w": found})
    assert margin(fitted, "w")[0] == min(found, articles)
    assert all(3 * one.articles <= one.sentences <= 5 * one.articles for one in fitted.values())
    assert (fitted == quotas) == (found >= articles)
