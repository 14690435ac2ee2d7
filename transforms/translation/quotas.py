"""Plans the number of articles and sentences that each split gets from each domain.

In Goyal et al. 2022, table 3, there are 3,001 sentences from 842 articles, one third from each domain. The
split dev has 997 sentences from 281 articles, devtest 1,012 from 281, and test 992 from 280. No article is
divided between splits.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from corpusmill.transforms.files.translation_records import DOMAINS, SPLITS
from corpusmill.transforms.translation.passages import MAX_SENTENCES, MIN_SENTENCES

SENTENCES, ARTICLES = 3001, 842
SPLIT_SENTENCES = dict(zip(SPLITS, (997, 1012, 992), strict=True))

Cell = tuple[str, str]  # domain, split
_Table = npt.NDArray[np.int64]  # one row per domain, one column per split


class Quota(NamedTuple):
    """The number of articles and sentences that a split gets from a domain."""

    articles: int
    sentences: int  # 3 to 5 for each article


class Shortage(NamedTuple):
    """A domain with fewer articles or sentences than its quota."""

    domain: str
    articles: int
    wanted_articles: int
    sentences: int
    wanted_sentences: int

    def __str__(self) -> str:
        """Returns a line such as "wikinews: 40 of 281 articles, 143 of 1,001 sentences"."""
        articles = f"{self.articles:,} of {self.wanted_articles:,} articles"
        return (
            f"{self.domain}: {articles}, {self.sentences:,} of {self.wanted_sentences:,} sentences"
        )


def split_sizes(sentences: int) -> dict[str, int]:
    """Divides sentences among the splits in the proportions of FLORES-101. Returns split → sentences."""
    return dict(zip(SPLITS, apportion(sentences, list(SPLIT_SENTENCES.values())), strict=True))


def apportion(total: int, weights: Sequence[int]) -> list[int]:
    """Divides a total into whole numbers in proportion to the weights (largest remainder method).

    Of several parts with equal remainders, the first ones are rounded up. The sum of the weights must be
    positive.
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
    """Plans the quota of each split and domain.

    Returns (domain, split) → quota, in the order of domains and splits. The totals `sentences` and `articles`
    are met exactly. Up to rounding, all domains get equal numbers of sentences and articles, and all splits
    get equal numbers of articles. The first domains and splits get what is left over by rounding. If equal
    numbers of articles are impossible, articles are divided in proportion to sentences.

    Args:
      sentences: total number of sentences.
      articles: total number of articles.
      splits: split → number of its sentences. The default is the result of `split_sizes`.
      domains: names of the domains.

    Raises:
      ValueError: articles of 3 to 5 sentences cannot have these totals. The message says what to change.
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
    """Divides articles and sentences among domains and splits.

    Returns the quota of each domain and split, domain by domain. Returns None if articles of 3 to 5 sentences
    cannot have these numbers of sentences.

    Args:
      articles: total number of articles.
      thirds: number of sentences of each domain (a third of the total if there are three domains).
      sizes: number of sentences of each split.
      share: function that divides the articles among domains or splits. Its arguments are the total number of
        articles and the number of sentences of each domain or split.
    """
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
        raise ValueError(
            f"expected at least 1 sentence and 1 article, found {sentences:,} and {articles:,}"
        )
    low, high = MIN_SENTENCES * articles, MAX_SENTENCES * articles
    if not low <= sentences <= high:
        fewest, most = -(-sentences // MAX_SENTENCES), sentences // MIN_SENTENCES
        need = f"; {sentences:,} need {fewest:,} to {most:,} articles" if fewest <= most else ""
        raise ValueError(
            f"{articles:,} articles of {MIN_SENTENCES} to {MAX_SENTENCES} sentences have {low:,} to {high:,}"
            f" sentences, not {sentences:,}{need}"
        )


def _cannot_be_dealt(articles: int, by_domain: Sequence[int], by_split: Sequence[int]) -> str:
    fewest = max(
        sum(-(-size // MAX_SENTENCES) for size in sizes) for sizes in (by_domain, by_split)
    )
    most = min(sum(size // MIN_SENTENCES for size in sizes) for sizes in (by_domain, by_split))
    would_do = fewest <= most and not fewest <= articles <= most
    return (
        f"{articles:,} articles of {MIN_SENTENCES} to {MAX_SENTENCES} sentences cannot be divided among"
        f" domains with {_listed(by_domain)} sentences and splits with {_listed(by_split)} sentences; use "
        + (f"{fewest:,} to {most:,} articles" if would_do else "more sentences")
    )


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


def _level(articles: int, sentences: Sequence[int]) -> list[int] | None:
    """Divides articles as equally as possible among groups with given numbers of sentences.

    Returns None if a group would need articles with fewer than 3 or more than 5 sentences.
    """
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
    """Returns a table of whole numbers with given row sums and column sums.

    Each number is the row sum times the column sum, divided by the total, and rounded up or down.
    """
    table, remainder = np.divmod(np.outer(rows, columns), sum(rows))
    rest = np.zeros_like(table)
    _fill(rest, rows - table.sum(axis=1), columns - table.sum(axis=0), remainder > 0)
    return table + rest


def _extra_sentences(
    table: _Table, by_domain: Sequence[int], by_split: Sequence[int]
) -> _Table | None:
    """Distributes the sentences beyond 3 per article. An article has at most 2 such sentences.

    Returns the number of these sentences for each domain and split, or None if a distribution is impossible.

    Args:
      table: the number of articles for each domain (row) and split (column).
      by_domain: the number of all sentences of each domain.
      by_split: the number of all sentences of each split.
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
    """Increases cells of a table until all row and column sums are large enough.

    Returns True if this is possible. Each step adds 1 to a row sum along an augmenting path (Ford and
    Fulkerson), so a solution is found if there is one.

    Args:
      table: the table, which is changed in place.
      rows: the amount that is missing in each row sum; reduced in place.
      columns: the amount that is missing in each column sum; reduced in place.
      room: the largest value that each cell may have.
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
    """Finds an augmenting path from row `start` to a column whose sum is still too small.

    Returns the cells of the path as ((row, column), change), or None if there is no path. The change is
    alternately 1 and -1.

    Args:
      table: the numbers in the cells.
      start: the index of the row.
      columns: the amount that is missing in each column sum.
      room: the largest value that each cell may have.
    """
    # Row that was reached → the path to it.
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
    """Returns the number of articles in all quotas of a domain."""
    return sum(quota.articles for (its, _), quota in quotas.items() if its == domain)


def fit_to_candidates(
    quotas: Mapping[Cell, Quota], articles: Mapping[str, int]
) -> Mapping[Cell, Quota]:
    """Reduces the quotas of domains for which fewer articles are available than planned.

    `articles` maps each domain to its number of available articles. The ratio of sentences to articles
    remains nearly the same.
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
        # The number is rounded. There are still 3 to 5 sentences per article, because these bounds are whole
        # numbers.
        sentences = (2 * quota.sentences * count + quota.articles) // max(1, 2 * quota.articles)
        yield cell, Quota(count, sentences)
