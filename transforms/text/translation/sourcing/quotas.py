"""How many articles and sentences of each domain go to each split.

Goyal et al. 2022, table 3: 3,001 sentences of 842 articles, a third of a domain each; dev has 997 of them,
devtest 1,012 and test 992, of 281, 281 and 280 whole articles.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from transforms.text.translation.records import DOMAINS, SPLITS
from transforms.text.translation.sourcing.passages import MAX_SENTENCES, MIN_SENTENCES

SENTENCES, ARTICLES = 3001, 842
SPLIT_SENTENCES = dict(zip(SPLITS, (997, 1012, 992), strict=True))

Cell = tuple[str, str]  # domain, split
_Table = list[list[int]]  # a row for each domain, a column for each split


class Quota(NamedTuple):
    """What a domain gives to a split."""

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

    Raises ValueError for weights without a positive sum.
    """
    whole = sum(weights)
    if whole <= 0:
        raise ValueError(f"weights must have a positive sum: {list(weights)}")
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
    _check(sentences, articles, splits, domains)
    sizes = list(splits.values())
    thirds = apportion(sentences, [1] * len(domains))
    dealt = _deal(articles, thirds, sizes, _level) or _deal(articles, thirds, sizes, apportion)
    if dealt is None:
        raise ValueError(_cannot_be_dealt(articles, thirds, sizes))
    return {
        (domain, split): dealt[row][column]
        for row, domain in enumerate(domains)
        for column, split in enumerate(splits)
    }


def _deal(
    articles: int,
    thirds: Sequence[int],
    sizes: Sequence[int],
    share: Callable[[int, Sequence[int]], list[int] | None],
) -> list[list[Quota]] | None:
    """A row of quotas for each domain; None where articles that are shared so cannot have the sentences."""
    by_domain, by_split = share(articles, thirds), share(articles, sizes)
    if by_domain is None or by_split is None:
        return None
    table = _round_table(by_domain, by_split)
    extra = _extra_sentences(table, thirds, sizes)
    if extra is None:
        return None
    return [
        [Quota(count, MIN_SENTENCES * count + more) for count, more in zip(*rows, strict=True)]
        for rows in zip(table, extra, strict=True)
    ]


def _check(
    sentences: int, articles: int, splits: Mapping[str, int], domains: Sequence[str]
) -> None:
    if sentences < 1 or articles < 1:
        raise ValueError(f"no benchmark has {sentences:,} sentences of {articles:,} articles")
    if not domains or len(set(domains)) < len(domains):
        raise ValueError(f"domains must be different ones: {', '.join(domains) or 'none'}")
    if any(size < 0 for size in splits.values()) or sum(splits.values()) != sentences:
        raise ValueError(
            f"splits of {_listed(list(splits.values()))} sentences do not make {sentences:,}"
        )
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
    total = sum(rows)
    table = [[row * column // total for column in columns] for row in rows]
    room = [[int(row * column % total > 0) for column in columns] for row in rows]
    rest = [[0] * len(columns) for _ in rows]
    missing_rows = [row - sum(line) for row, line in zip(rows, table, strict=True)]
    missing_columns = [
        column - sum(line[place] for line in table) for place, column in enumerate(columns)
    ]
    _fill(rest, missing_rows, missing_columns, room)
    return [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(table, rest, strict=True)]


def _extra_sentences(
    table: _Table, by_domain: Sequence[int], by_split: Sequence[int]
) -> _Table | None:
    """What each cell has above 3 sentences an article; None where 0 to 2 more do not meet the sums."""
    rows = [size - MIN_SENTENCES * sum(line) for size, line in zip(by_domain, table, strict=True)]
    columns = [
        size - MIN_SENTENCES * sum(line[place] for line in table)
        for place, size in enumerate(by_split)
    ]
    if min(*rows, *columns) < 0:
        return None
    room = [[(MAX_SENTENCES - MIN_SENTENCES) * articles for articles in line] for line in table]
    total = max(1, sum(rows))
    extra = [
        [min(most, row * column // total) for most, column in zip(line, columns, strict=True)]
        for row, line in zip(rows, room, strict=True)
    ]
    left_rows = [row - sum(line) for row, line in zip(rows, extra, strict=True)]
    left_columns = [
        column - sum(line[place] for line in extra) for place, column in enumerate(columns)
    ]
    return extra if _fill(extra, left_rows, left_columns, room) else None


def _fill(
    table: _Table, rows: list[int], columns: list[int], room: Sequence[Sequence[int]]
) -> bool:
    """Adds what is missing of each row and column, a cell never above its room; whether all could be.

    The table is changed. Where a row with something missing has no room in a column that misses something,
    it takes from another column what another row can put elsewhere: a flow along augmenting paths
    (Ford and Fulkerson), which ends with all that can be added.
    """
    for row in range(len(rows)):
        while rows[row]:
            path = _path(table, row, columns, room)
            if path is None:
                return False
            for (at, column), sign in path:
                table[at][column] += sign
            rows[row] -= 1
            columns[path[-1][0][1]] -= 1
    return not any(columns)


def _path(
    table: _Table, start: int, columns: Sequence[int], room: Sequence[Sequence[int]]
) -> list[tuple[tuple[int, int], int]] | None:
    """Cells to add one to (1) and to take one from (-1), in turn, that bring one from a row to a column."""
    paths: dict[int, list[tuple[tuple[int, int], int]]] = {
        start: []
    }  # to each row that was reached
    queue = [start]
    seen_columns = set()
    for row in queue:
        for column, missing in enumerate(columns):
            if column in seen_columns or table[row][column] >= room[row][column]:
                continue
            seen_columns.add(column)
            path = [*paths[row], ((row, column), 1)]
            if missing:
                return path
            for other in range(len(table)):
                if other not in paths and table[other][column]:
                    paths[other] = [*path, ((other, column), -1)]
                    queue.append(other)
    return None


def fit_to_candidates(
    quotas: Mapping[Cell, Quota], articles: Mapping[str, int]
) -> tuple[Mapping[Cell, Quota], tuple[Shortage, ...]]:
    """The quotas, those of a domain with fewer articles than wanted scaled down, and what such domains
    lack.

    `articles` counts those that each domain has. Sentences for each article stay what they were, about.
    """
    fitted = dict(quotas)
    shortages = []
    for domain in dict.fromkeys(domain for domain, _ in quotas):
        cells = {cell: quota for cell, quota in quotas.items() if cell[0] == domain}
        wanted = sum(quota.articles for quota in cells.values())
        found = articles.get(domain, 0)
        if found >= wanted:
            continue
        scaled = dict(_scaled(cells, found))
        fitted.update(scaled)
        sentences = sum(quota.sentences for quota in scaled.values())
        wanted_sentences = sum(quota.sentences for quota in cells.values())
        shortages.append(Shortage(domain, found, wanted, sentences, wanted_sentences))
    return fitted, tuple(shortages)


def _scaled(cells: Mapping[Cell, Quota], articles: int) -> Iterator[tuple[Cell, Quota]]:
    counts = apportion(articles, [quota.articles for quota in cells.values()])
    for (cell, quota), count in zip(cells.items(), counts, strict=True):
        # Rounded; the bounds are whole numbers, so it stays within 3 to 5 an article.
        sentences = (2 * quota.sentences * count + quota.articles) // max(1, 2 * quota.articles)
        yield cell, Quota(count, sentences)
