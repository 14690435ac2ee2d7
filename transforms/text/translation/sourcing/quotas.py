"""Plans the number of articles and sentences of each domain that go to each split.

Goyal et al. 2022, table 3: 3,001 sentences of 842 articles, a third of a domain each; dev has 997 of them,
devtest 1,012 and test 992, of 281, 281 and 280 whole articles.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from transforms.text.translation.records import DOMAINS, SPLITS
from transforms.text.translation.sourcing.passages import MAX_SENTENCES, MIN_SENTENCES

SENTENCES, ARTICLES = 3001, 842
SPLIT_SENTENCES = dict(zip(SPLITS, (997, 1012, 992), strict=True))

Cell = tuple[str, str]  # domain, split
_Table = npt.NDArray[np.int64]  # a row for each domain, a column for each split


class Quota(NamedTuple):
    """The number of articles and sentences that a domain gives to a split."""

    articles: int
    sentences: int  # 3 to 5 for each article


class Shortage(NamedTuple):
    """A domain that gives less than it should."""

    domain: str
    articles: int
    wanted_articles: int
    sentences: int
    wanted_sentences: int

    def __str__(self) -> str:
        """In one line: "wikinews: 40 of 281 articles, 143 of 1,001 sentences"."""
        articles = f"{self.articles:,} of {self.wanted_articles:,} articles"
        return (
            f"{self.domain}: {articles}, {self.sentences:,} of {self.wanted_sentences:,} sentences"
        )


def split_sizes(sentences: int) -> dict[str, int]:
    """Split → sentences, in the proportions of the release; 3,001 give its own numbers."""
    return dict(zip(SPLITS, apportion(sentences, list(SPLIT_SENTENCES.values())), strict=True))


def apportion(total: int, weights: Sequence[int]) -> list[int]:
    """The total in whole parts that are as the weights are, by largest remainders; of equal ones the first.

    The weights have a positive sum.
    """
    whole = sum(weights)
    parts = [total * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda place: -(total * weights[place] % whole))
    for place in by_remainder[: total - sum(parts)]:
        parts[place] += 1
    return parts


def plan_quotas(
    sentences: int = SENTENCES,
    articles: int = ARTICLES,
    splits: Mapping[str, int] | None = None,
    domains: Sequence[str] = DOMAINS[:3],
) -> Mapping[Cell, Quota]:
    """(domain, split) → its quota, in the order of domains and splits.

    Sums are exact: sentences over splits are the sizes in `splits` (those of `split_sizes` if none are
    told), sentences over domains and articles over either are as equal as can be, the first ones being the
    larger; articles are in proportion to sentences where equal ones leave no way. Raises ValueError where
    articles of 3 to 5 sentences cannot make such numbers, and says which can.
    """
    splits = split_sizes(sentences) if splits is None else splits
    _check(sentences, articles)
    sizes = list(splits.values())
    thirds = apportion(sentences, [1] * len(domains))
    dealt = _deal(articles, thirds, sizes, _level) or _deal(articles, thirds, sizes, apportion)
    if dealt is None:
        raise ValueError(_cannot_be_dealt(articles, thirds, sizes))
    cells = itertools.product(domains, splits)
    return dict(zip(cells, dealt, strict=True))


def _deal(
    articles: int,
    thirds: Sequence[int],
    sizes: Sequence[int],
    share: Callable[[int, Sequence[int]], list[int] | None],
) -> list[Quota] | None:
    """Domain by domain, its quotas; None where articles that are shared so cannot have the sentences."""
    by_domain, by_split = share(articles, thirds), share(articles, sizes)
    if by_domain is None or by_split is None:
        return None
    table = _round_table(by_domain, by_split)
    extra = _extra_sentences(table, thirds, sizes)
    if extra is None:
        return None
    sentences = MIN_SENTENCES * table + extra
    cells = zip(table.ravel().tolist(), sentences.ravel().tolist(), strict=True)
    return list(itertools.starmap(Quota, cells))


def _check(sentences: int, articles: int) -> None:
    if sentences < 1 or articles < 1:
        raise ValueError(f"no benchmark has {sentences:,} sentences of {articles:,} articles")
    low, high = MIN_SENTENCES * articles, MAX_SENTENCES * articles
    if not low <= sentences <= high:
        fewest, most = -(-sentences // MAX_SENTENCES), sentences // MIN_SENTENCES
        need = f"{fewest:,} to {most:,} articles" if fewest <= most else "other numbers"
        raise ValueError(
            f"{articles:,} articles have {low:,} to {high:,} sentences, not {sentences:,}, "
            f"which need {need}: each has {MIN_SENTENCES} to {MAX_SENTENCES}"
        )


def _cannot_be_dealt(articles: int, by_domain: Sequence[int], by_split: Sequence[int]) -> str:
    fewest = max(
        sum(-(-size // MAX_SENTENCES) for size in sizes) for sizes in (by_domain, by_split)
    )
    most = min(sum(size // MIN_SENTENCES for size in sizes) for sizes in (by_domain, by_split))
    would_do = fewest <= most and not fewest <= articles <= most
    return (
        f"{articles:,} articles of {MIN_SENTENCES} to {MAX_SENTENCES} sentences cannot be dealt to domains "
        f"of {_listed(by_domain)} and splits of {_listed(by_split)} sentences; "
        + (f"{fewest:,} to {most:,} articles may" if would_do else "more sentences may")
    )


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


def _level(articles: int, sentences: Sequence[int]) -> list[int] | None:
    """Articles for each of so many sentences, as equal as 3 to 5 an article allow; None where they do not."""
    counts = [-(-size // MAX_SENTENCES) for size in sentences]
    most = [size // MIN_SENTENCES for size in sentences]
    if not sum(counts) <= articles <= sum(most):
        return None
    if any(low > high for low, high in zip(counts, most, strict=True)):
        return None
    for _ in range(articles - sum(counts)):
        with_room = [place for place, count in enumerate(counts) if count < most[place]]
        counts[min(with_room, key=lambda place: counts[place])] += 1
    return counts


def _round_table(rows: Sequence[int], columns: Sequence[int]) -> _Table:
    """Whole numbers with these sums, each next to row · column / total, above or below."""
    table, remainder = np.divmod(np.outer(rows, columns), sum(rows))
    rest = np.zeros_like(table)
    _fill(rest, rows - table.sum(axis=1), columns - table.sum(axis=0), remainder > 0)
    return table + rest


def _extra_sentences(
    table: _Table, by_domain: Sequence[int], by_split: Sequence[int]
) -> _Table | None:
    """Returns the sentences of each cell above 3 for each article; None if 0 to 2 more do not meet the
    sums.
    """
    rows = by_domain - MIN_SENTENCES * table.sum(axis=1)
    columns = by_split - MIN_SENTENCES * table.sum(axis=0)
    if min(*rows, *columns) < 0:
        return None
    room = (MAX_SENTENCES - MIN_SENTENCES) * table
    extra = np.minimum(room, np.outer(rows, columns) // max(1, rows.sum()))
    is_met = _fill(extra, rows - extra.sum(axis=1), columns - extra.sum(axis=0), room)
    return extra if is_met else None


def _fill(table: _Table, rows: _Table, columns: _Table, room: npt.NDArray[Any]) -> bool:
    """Adds what is missing of each row and column, a cell never above its room; whether all could be.

    All but the room is changed. Where a row with something missing has no room in a column that misses
    something, it takes from another column what another row can put elsewhere: a flow along augmenting
    paths (Ford and Fulkerson), which ends with all that can be added.
    """
    for row in range(len(rows)):
        while rows[row]:
            path = _path(table, row, columns, room)
            if path is None:
                return False
            for (at, column), sign in path:
                table[at, column] += sign
            rows[row] -= 1
            columns[path[-1][0][1]] -= 1
    return not columns.any()


def _path(
    table: _Table, start: int, columns: _Table, room: npt.NDArray[Any]
) -> list[tuple[tuple[int, int], int]] | None:
    """Cells to add one to (1) and to take one from (-1), in turn, that bring one from a row to a column."""
    # To each row that was reached.
    paths: dict[int, list[tuple[tuple[int, int], int]]] = {start: []}
    queue = [start]
    seen_columns = set()
    for row in queue:
        for column, missing in enumerate(columns):
            if column in seen_columns or table[row, column] >= room[row, column]:
                continue
            seen_columns.add(column)
            path = [*paths[row], ((row, column), 1)]
            if missing:
                return path
            for other in range(len(table)):
                if other not in paths and table[other, column]:
                    paths[other] = [*path, ((other, column), -1)]
                    queue.append(other)
    return None


def articles_of(quotas: Mapping[Cell, Quota], domain: str) -> int:
    """Returns the number of articles that a domain is to give."""
    return sum(quota.articles for (its, _), quota in quotas.items() if its == domain)


def fit_to_candidates(
    quotas: Mapping[Cell, Quota], articles: Mapping[str, int]
) -> Mapping[Cell, Quota]:
    """The quotas, those of a domain with fewer articles than wanted scaled down.

    `articles` counts those that each domain has. Sentences for each article stay what they were, about.
    """
    fitted = dict(quotas)
    for domain in dict.fromkeys(domain for domain, _ in quotas):
        if articles.get(domain, 0) < articles_of(quotas, domain):
            cells = {cell: quota for cell, quota in quotas.items() if cell[0] == domain}
            fitted.update(_scaled(cells, articles.get(domain, 0)))
    return fitted


def _scaled(cells: Mapping[Cell, Quota], articles: int) -> Iterator[tuple[Cell, Quota]]:
    counts = apportion(articles, [quota.articles for quota in cells.values()])
    for (cell, quota), count in zip(cells.items(), counts, strict=True):
        # Rounded; the bounds are whole numbers, so it stays within 3 to 5 an article.
        sentences = (2 * quota.sentences * count + quota.articles) // max(1, 2 * quota.articles)
        yield cell, Quota(count, sentences)
