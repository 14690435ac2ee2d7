"""Chooses a passage of an article: 3 to 5 consecutive sentences of one paragraph.

"We selected one paragraph per document, from either the beginning, middle, or end of the article": Goyal et
al. 2022, section 3.1. The choice depends only on the article's key (which includes the seed) and text. So the
same seed and dump always give the same passage, whatever other articles are read and in whatever order.

Plans the number of articles and sentences that each split gets from each domain.

In Goyal et al. 2022, table 3, there are 3,001 sentences from 842 articles, one third from each domain. The
split dev has 997 sentences from 281 articles, devtest 1,012 from 281, and test 992 from 280. No article is
divided between splits.
"""

import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..files.records import DOMAINS, SPLITS, Reason
from ..files.text import fingerprint
from ..models.sentences import split_sentences
from .sentence_rules import reason_to_reject_sentence

MIN_SENTENCES, MAX_SENTENCES = 3, 5
PARTS = ("beginning", "middle", "end")

_CUT_BEHIND = {"no-end", "abbreviation"}
_CUT_BEFORE = {"lower-case", "punctuation"}
_BITS = 64


class Paragraph(NamedTuple):
    """A paragraph of running text; not a heading, caption or list item."""

    text: str
    # Offsets in `text` where a link to another page begins, ascending, in code points.
    link_offsets: tuple[int, ...]


class PassageSentence(NamedTuple):
    """A sentence of a passage that was chosen from an article."""

    text: str  # one line; words are separated by one space
    has_hyperlink: bool


class Passage(NamedTuple):
    """The passage of an article: 3 to 5 consecutive sentences of one paragraph.

    All sentences of a passage, or only the first ones, can be selected for the benchmark.
    """

    part: str  # one of PARTS: position of the paragraph in the article
    paragraph: int  # number of the paragraph in the article, from 0
    first: int  # number of the first sentence in the paragraph, from 0, counting all sentences
    sentences: tuple[PassageSentence, ...]  # 3 to 5


def choose_passage(paragraphs: Sequence[Paragraph], key: str) -> Passage | Reason:
    """Chooses the passage of an article from its paragraphs, or returns the reason why there is none.

    `key` identifies the article and the seed, and determines all random choices. A sentence is fit if no rule
    in sentence_rules.py rejects it. The choice has three steps:

    1. A part of the article is drawn: beginning, middle or end.
    2. One of the part's paragraphs with at least 3 consecutive fit sentences is drawn. If there is none, the
       other parts are tried in random order.
    3. One of the paragraph's longest passages of at most 5 fit sentences is drawn.

    If there is no such passage, the reason is `no-passage`. Its details are the number of fit sentences and
    the reasons why the others are not fit: "12 paragraphs, 20 sentences, 9 fit; no-end 3, too-short 8".
    """
    fates: Counter[str] = Counter()
    parts = [part_of(place, len(paragraphs)) for place in range(len(paragraphs))]
    for part in sorted(PARTS, key=lambda name: fingerprint(f"{key} part {name}")):
        places = [place for place, its_part in enumerate(parts) if its_part == part]
        # Because the order is random, the first suitable paragraph is a random one of all suitable
        # paragraphs.
        for place in sorted(places, key=lambda place: fingerprint(f"{key} paragraph {place}")):
            sentences = list(_sentences_of(paragraphs[place]))
            starts, length = _longest_passages([reason is None for _, reason in sentences])
            if starts:
                first = starts[fingerprint(f"{key} sentence") * len(starts) >> _BITS]
                chosen = sentences[first : first + length]
                return Passage(part, place, first, tuple(one for one, _ in chosen))
            fates.update(reason or "" for _, reason in sentences)
    return Reason("no-passage", _describe(len(paragraphs), fates))


def part_of(place: int, paragraphs: int) -> str:
    """Returns the part of an article (beginning, middle or end) that contains the middle of a paragraph.

    `place` is the index of the paragraph, counted from 0, and `paragraphs` the number of paragraphs. If there
    are two paragraphs, they are the beginning and the end. A single paragraph is the beginning.
    """
    return PARTS[0] if paragraphs == 1 else PARTS[(2 * place + 1) * len(PARTS) // (2 * paragraphs)]


def _sentences_of(paragraph: Paragraph) -> Iterator[tuple[PassageSentence, str | None]]:
    """Yields (sentence, reason) for each sentence of a paragraph.

    The reason says why the sentence is not fit for translation. It is None for a fit sentence.
    """
    spans = split_sentences(paragraph.text)
    texts = [" ".join(paragraph.text[start:end].split()) for start, end in spans]
    reasons = _reasons_of(texts)
    for (start, end), text, reason in zip(spans, texts, reasons, strict=True):
        next_link = bisect_left(paragraph.link_offsets, start)
        has_link = any(offset < end for offset in paragraph.link_offsets[next_link : next_link + 1])
        yield PassageSentence(text, has_link), reason


def _reasons_of(texts: Sequence[str]) -> list[str | None]:
    """Returns for each sentence of a paragraph the reason to reject it, or None if it is fit for translation.

    The reason `cut` means that a sentence and its neighbour are probably two parts of one sentence.
    """
    own = [reason_to_reject_sentence(text) for text in texts]
    reasons = list(own)
    for place, (one, following) in enumerate(itertools.pairwise(own)):
        if one in _CUT_BEHIND and following is None:
            reasons[place + 1] = "cut"
        if following in _CUT_BEFORE and one is None:
            reasons[place] = "cut"
    return reasons


def _longest_passages(is_fit: Sequence[bool]) -> tuple[list[int], int]:
    """Finds the longest passages of a paragraph, which all have the same number of sentences.

    Returns (index of the first sentence of each of these passages, number of their sentences), or ([], 0) if
    all passages are too short. `is_fit` has True for each sentence that is fit for translation.
    """
    # Number of consecutive fit sentences from each sentence on.
    fits = map(int, reversed(is_fit))
    runs = [*itertools.accumulate(fits, lambda run, fit: fit * (run + 1))][::-1]
    length = min(max(runs, default=0), MAX_SENTENCES)
    if length < MIN_SENTENCES:
        return [], 0
    return [place for place, run in enumerate(runs) if run >= length], length


def _describe(paragraphs: int, fates: Counter[str]) -> str:
    reasons = [f"{reason} {count}" for reason, count in sorted(fates.items()) if reason]
    fit = f"{paragraphs} paragraphs, {fates.total()} sentences, {fates['']} fit"
    return f"{fit}; {', '.join(reasons)}" if reasons else fit


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
    return dict(zip(itertools.product(domains, splits), dealt, strict=True))


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
    if (extra := _extra_sentences(table, thirds, sizes)) is None:
        return None
    sentences = MIN_SENTENCES * table + extra
    return list(map(Quota, table.ravel().tolist(), sentences.ravel().tolist()))


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
            if (path := _path(table, row, columns, room)) is None:
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
