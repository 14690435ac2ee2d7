import itertools
import random
from collections import Counter
from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.files.records import Rejected, SourceSentence
from corpusmill.transforms.files.text import fingerprint
from corpusmill.transforms.translation.passages import (
    Cell,
    Passage,
    PassageSentence,
    Quota,
    plan_quotas,
    split_sizes,
)
from corpusmill.transforms.translation.selection import (
    Candidate,
    Selection,
    candidates_needed,
    lowest_of_copies,
    select,
)

THREE = ("wikinews", "wikibooks", "wikivoyage")


def candidate(
    page_id: int,
    length: int = 5,
    domain: str = "wikinews",
    rank: int = -1,
    text: str = "",
    digest: int = -1,
) -> Candidate:
    article = f"{domain}:{page_id}"
    sentences = tuple(
        PassageSentence(text if text and not place else f"{article}.{place}", place == 1)
        for place in range(length)
    )
    rank = fingerprint(article) if rank < 0 else rank
    url, passage = f"https://{domain}/{page_id}", Passage("end", 3, 1, sentences)
    digest = digest if digest >= 0 else fingerprint(f"{article} {text}")
    facts = f"Page {page_id}", url, "nature", page_id % 2 == 0
    return Candidate(domain, page_id, *facts, rank, passage, digest)


def many(articles: int, lengths: str = "5", domains: Iterable[str] = THREE) -> list[Candidate]:
    return [
        candidate(page_id, int(length), domain)
        for domain in domains
        for page_id, length in zip(range(articles), itertools.cycle(lengths), strict=False)
    ]


def cells_of(selection: Selection) -> dict[Cell, Quota]:
    sentences = Counter((one.domain, one.split) for one in selection.sentences)
    articles = Counter(
        (one[1], one[2])
        for one in {(one.article, one.domain, one.split) for one in selection.sentences}
    )
    return {cell: Quota(articles[cell], sentences[cell]) for cell in sentences}


def test_a_sentence_has_all_that_is_known_of_it() -> None:
    selection = select([candidate(4, 3, rank=9)], {("wikinews", "dev"): Quota(1, 3)})
    about = "https://wikinews/4", "wikinews", "nature", True
    sentences = tuple(
        SourceSentence(f"dev-000{n + 1}", "dev", "wikinews:4", f"wikinews:4.{n}", *about, n == 1)
        for n in range(3)
    )
    assert selection == Selection(sentences, (), {3: 1}, ())


@pytest.mark.parametrize("lengths", ["5", "4", "345", "33335", "3555"])
def test_the_paper(lengths: str) -> None:
    quotas = plan_quotas()
    selection = select(many(700, lengths), quotas)
    assert selection.shortages == ()
    assert cells_of(selection) == quotas
    assert len(selection.sentences) == 3001
    assert sum(selection.lengths.values()) == 842
    assert sum(length * articles for length, articles in selection.lengths.items()) == 3001
    assert len({one.article for one in selection.sentences}) == 842


def test_lengths_are_drawn() -> None:
    lengths = select(many(700), plan_quotas()).lengths
    assert lengths.keys() == {3, 4, 5}
    assert min(lengths.values()) > 120


def test_ids_count_the_sentences_of_a_split_and_articles_stay_together() -> None:
    selection = select(many(100), plan_quotas(360, 90))
    for split, of_split in itertools.groupby(selection.sentences, lambda one: one.split):
        sentences = list(of_split)
        assert [one.id for one in sentences] == [
            f"{split}-{n:04}" for n in range(1, len(sentences) + 1)
        ]
        runs = [
            (article, list(of))
            for article, of in itertools.groupby(sentences, lambda one: one.article)
        ]
        ranks = [fingerprint(article) for article, _ in runs]
        assert ranks == sorted(ranks)
        for article, of_article in runs:
            assert [one.text for one in of_article] == [
                f"{article}.{n}" for n in range(len(of_article))
            ]
    assert [split for split, _ in itertools.groupby(one.split for one in selection.sentences)] == [
        "dev",
        "devtest",
        "test",
    ]
    splits_of = {(one.article, one.split) for one in selection.sentences}
    assert len(splits_of) == len({article for article, _ in splits_of}) == 90


def test_domains_mix_in_a_split() -> None:
    selection = select(many(100), plan_quotas(360, 90))
    domains = [one.domain for one in selection.sentences if one.split == "dev"]
    changes = sum(one != following for one, following in itertools.pairwise(domains))
    assert changes > 10


def test_lowest_ranks_are_taken_and_page_ids_where_they_are_equal() -> None:
    candidates = [candidate(page_id, rank=page_id // 2) for page_id in range(11)]
    selection = select(candidates[::-1], {("wikinews", "dev"): Quota(3, 12)})
    assert [one.article for one in selection.sentences if one.text.endswith(".0")] == [
        "wikinews:0",
        "wikinews:1",
        "wikinews:2",
    ]


def test_a_repeated_sentence_is_passed_over() -> None:
    candidates = [
        candidate(1, rank=1, text="Same."),
        candidate(2, rank=2),
        candidate(3, rank=3, text="Same."),
        candidate(4, rank=4, text="wikinews:4.2"),  # repeats itself
        candidate(5, rank=5),
        candidate(7, rank=0, domain="wikivoyage", text="Same."),
        candidate(8, rank=9, domain="wikivoyage"),
    ]
    quotas = {("wikinews", "dev"): Quota(3, 12), ("wikivoyage", "dev"): Quota(1, 3)}
    selection = select(candidates, quotas)
    taken = list(dict.fromkeys(one.article for one in selection.sentences))
    assert taken == ["wikinews:1", "wikinews:2", "wikinews:5", "wikivoyage:8"]
    stage, reason = "select-articles", "duplicate-sentence"
    assert selection.duplicates == (
        Rejected("wikinews:3", "Page 3", stage, reason, "wikinews:1 has it too: Same."),
        Rejected("wikinews:4", "Page 4", stage, reason, "wikinews:4 has it too: wikinews:4.2"),
        Rejected("wikivoyage:7", "Page 7", stage, reason, "wikinews:1 has it too: Same."),
    )


def test_a_copy_and_another_version_of_a_page_are_passed_over() -> None:
    candidates = [
        candidate(1, rank=1, digest=77),
        candidate(2, rank=2),
        candidate(2, rank=2, text="Of a later dump."),
        candidate(5, rank=0, domain="wikivoyage", digest=77),
        candidate(6, rank=9, domain="wikivoyage"),
    ]
    quotas = {("wikinews", "dev"): Quota(2, 8), ("wikivoyage", "dev"): Quota(1, 3)}
    selection = select(candidates, quotas)
    taken = list(dict.fromkeys(one.article for one in selection.sentences))
    assert taken == ["wikinews:1", "wikinews:2", "wikivoyage:6"]
    assert [(one.id, one.reason, one.detail) for one in selection.duplicates] == [
        ("wikinews:2", "duplicate-page", "it is there with another text"),
        ("wikivoyage:5", "duplicate-article", "wikinews:1 has the same text"),
    ]


def test_copies_of_low_rank_take_no_place() -> None:
    quotas = plan_quotas(36, 9, domains=["wikinews"])
    copies = [candidate(page_id, rank=page_id, digest=7) for page_id in range(3000)]
    stubs = [
        candidate(page_id, rank=page_id, text="It lies here.") for page_id in range(3000, 3400)
    ]
    others = [candidate(page_id, rank=page_id) for page_id in range(3400, 3407)]
    selection = select(copies + stubs + others, quotas)
    assert selection.shortages == ()
    articles = {one.article for one in selection.sentences}
    assert articles == {f"wikinews:{page_id}" for page_id in (0, 3000, *range(3400, 3407))}


COPIES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=40)


@given(COPIES, st.integers(1, 6), st.integers(0, 40), st.randoms())
@settings(max_examples=100)
def test_candidates_may_be_cut_down_in_parts(
    drawn: list[tuple[int, int]], most: int, middle: int, chance: random.Random
) -> None:
    candidates = [candidate(page_id, rank=page_id // 2, digest=copy) for page_id, copy in drawn]
    whole = lowest_of_copies(candidates, most)
    first_ranks = sorted({one.digest: one for one in sorted(candidates)[::-1]}.values())[:most]
    assert [one.digest for one in whole] == [one.digest for one in first_ranks]
    chance.shuffle(candidates)
    parts = candidates[:middle], candidates[middle:]
    cut = [one for part in parts for one in lowest_of_copies(part, most)]
    assert lowest_of_copies(cut, most) == whole


def test_long_passages_take_the_place_of_short_ones_where_sentences_lack() -> None:
    candidates = [
        candidate(page_id, 3 if page_id < 4 else 5, rank=page_id) for page_id in range(12)
    ]
    selection = select(candidates, {("wikinews", "dev"): Quota(4, 14)})
    assert selection.shortages == ()
    taken = Counter(one.article for one in selection.sentences)
    assert set(taken) == {"wikinews:0", "wikinews:1", "wikinews:2", "wikinews:4"}
    assert sum(taken.values()) == 14


@pytest.mark.parametrize("seed", range(20))
def test_a_split_that_lacks_sentences_gets_long_passages_from_another(seed: int) -> None:
    lengths = [3, 3, 3, 3, 5, 5, 5, 5]
    random.Random(seed).shuffle(lengths)
    candidates = [
        candidate(page_id, length, rank=page_id + 100 * seed)
        for page_id, length in enumerate(lengths)
    ]
    quotas = {("wikinews", "dev"): Quota(4, 19), ("wikinews", "test"): Quota(4, 12)}
    assert cells_of(select(candidates, quotas)) == quotas


def test_shortages_tell_what_lacks() -> None:
    quotas = plan_quotas(120, 30)
    candidates = (
        many(4, "5", ["wikinews"]) + many(10, "3", ["wikibooks"]) + many(11, "5", ["wikivoyage"])
    )
    selection = select(candidates, quotas)
    assert list(map(str, selection.shortages)) == [
        "wikinews: 4 of 10 articles, 16 of 40 sentences",
        "wikibooks: 10 of 10 articles, 30 of 40 sentences",
    ]
    assert Counter(one.domain for one in selection.sentences) == {
        "wikinews": 16,
        "wikibooks": 30,
        "wikivoyage": 40,
    }


def test_no_candidates_give_no_sentences() -> None:
    selection = select([], plan_quotas(36, 9))
    assert (selection.sentences, selection.lengths, selection.duplicates) == ((), {}, ())
    assert [shortage.articles for shortage in selection.shortages] == [0, 0, 0]


def test_a_domain_without_quota_is_refused() -> None:
    with pytest.raises(ValueError, match="no quota for the domain of wikipedia:1, 'Page 1'"):
        select([candidate(1, domain="wikipedia")], plan_quotas(36, 9))


LENGTHS = st.lists(st.integers(3, 5), max_size=40)
QUOTAS: list[Mapping[Cell, Quota]] = [plan_quotas(36, 9), plan_quotas(50, 12), plan_quotas(67, 17)]


FOUR = (*THREE, "news")


@given(st.data(), st.sampled_from([2, 3, 4]), st.integers(60, 400), st.randoms())
@settings(max_examples=40, deadline=None)
def test_quotas_are_met_to_the_sentence_where_there_is_enough(
    data: st.DataObject, count: int, sentences: int, chance: random.Random
) -> None:
    """However short the passages are, as long as enough of them have five sentences."""
    quotas = plan_quotas(sentences, round(sentences / 3.6), domains=FOUR[:count])
    most = max(quota.articles for quota in quotas.values()) * 3
    candidates = [
        candidate(page_id, length, domain)
        for domain in FOUR[:count]
        for page_id, length in enumerate(
            [*data.draw(st.lists(st.integers(3, 5), max_size=30)), *[5] * most]
        )
    ]
    chance.shuffle(candidates)
    selection = select(candidates, quotas)
    assert selection.shortages == ()
    assert cells_of(selection) == {cell: one for cell, one in quotas.items() if one.articles}
    of_domain = Counter(one.domain for one in selection.sentences)
    assert max(of_domain.values()) - min(of_domain.values()) <= 1
    of_split = Counter(one.split for one in selection.sentences)
    assert of_split == {split: size for split, size in split_sizes(sentences).items() if size}


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_domain_that_lacks_articles_takes_nothing_from_others(count: int) -> None:
    quotas = plan_quotas(domains=FOUR[:count])
    few, *others = FOUR[:count]
    candidates = many(40, "345", [few]) + many(1000, "345", others)
    selection = select(candidates, quotas)
    [shortage] = selection.shortages
    wanted = sum(one.sentences for cell, one in quotas.items() if cell[0] == few)
    assert (shortage.domain, shortage.articles) == (few, 40)
    assert shortage.wanted_sentences == wanted
    cells = cells_of(selection)
    of_others = {cell: one for cell, one in quotas.items() if cell[0] != few}
    assert {cell: cells[cell] for cell in of_others} == of_others
    sizes = [sum(q.sentences for c, q in cells.items() if c == (few, s)) for s in split_sizes(9)]
    assert max(sizes) - min(sizes) <= 10
    assert sum(sizes) == shortage.sentences


def test_ids_of_documents_and_pages_stand_side_by_side() -> None:
    """Numbers and texts are never compared, be the ranks equal."""
    candidates = [
        *(candidate(page_id, rank=7) for page_id in range(3)),
        *(
            candidate(number, rank=7, domain="news")._replace(page_id=name)
            for number, name in enumerate("cab")
        ),
    ]
    quotas = {("wikinews", "dev"): Quota(2, 8), ("news", "dev"): Quota(2, 8)}
    selection = select(candidates, quotas)
    taken = dict.fromkeys(one.article for one in selection.sentences)
    assert list(taken) == ["news:a", "news:b", "wikinews:0", "wikinews:1"]


@given(st.lists(LENGTHS, min_size=3, max_size=3), st.sampled_from(QUOTAS), st.randoms())
@settings(max_examples=60)
def test_order_and_what_is_not_needed_change_nothing(
    lengths: list[list[int]], quotas: Mapping[Cell, Quota], chance: random.Random
) -> None:
    candidates = [
        candidate(page_id, length, domain, text="Same." if page_id == 3 else "")
        for domain, of_domain in zip(THREE, lengths, strict=True)
        for page_id, length in enumerate(of_domain)
    ]
    selection = select(candidates, quotas)
    chance.shuffle(candidates)
    assert select(candidates, quotas) == selection
    check(selection, candidates, quotas)


def check(selection: Selection, candidates: list[Candidate], quotas: Mapping[Cell, Quota]) -> None:
    known = {f"{one.domain}:{one.page_id}": one for one in candidates}
    texts = [one.text for one in selection.sentences]
    assert len(set(texts)) == len(texts)
    short = {shortage.domain for shortage in selection.shortages}
    cells = cells_of(selection)
    for cell, quota in quotas.items():
        got = cells.get(cell, Quota(0, 0))
        assert got == quota or cell[0] in short
        assert got.articles <= quota.articles
        assert 3 * got.articles <= got.sentences <= 5 * got.articles
    for article, of_article in itertools.groupby(selection.sentences, lambda one: one.article):
        passage = known[article].passage.sentences
        taken = list(of_article)
        assert 3 <= len(taken) <= len(passage)
        assert [one.text for one in taken] == [one.text for one in passage[: len(taken)]]
    for shortage in selection.shortages:
        if shortage.articles == shortage.wanted_articles:
            assert shortage.sentences < shortage.wanted_sentences


def test_candidates_beyond_the_reserve_change_nothing() -> None:
    quotas = {("wikinews", "dev"): Quota(10, 40)}
    needed = candidates_needed(10)
    lowest = [candidate(page_id, 3, rank=page_id) for page_id in range(needed)]
    others = [candidate(page_id, 5, rank=page_id) for page_id in range(needed, needed + 20)]
    selection = select(lowest, quotas)
    assert list(map(str, selection.shortages)) == [
        "wikinews: 10 of 10 articles, 30 of 40 sentences"
    ]
    assert select(others + lowest, quotas) == selection
    assert select(others + lowest[20:], quotas).shortages == ()
