"""Selects the sentences of the benchmark from all articles that have a passage.

Articles are selected in the order of their ranks, which are random numbers derived from the seed. So the
result does not depend on the order of the candidates or the number of workers.

Reads the user's own documents: JSON Lines with the fields id, url, title, date, licence and text.
"""

import datetime
import heapq
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ..files.records import DOMAINS, Reason, Rejected, SourceSentence
from ..files.text import fingerprint
from . import passages
from .passages import MAX_SENTENCES, MIN_SENTENCES, Cell, Paragraph, Passage, Quota, Shortage
from .sentence_rules import topic_of
from .source_table import sentence_id

STAGE = "select-articles"

RELEASED_LENGTHS = {3: 287, 4: 135, 5: 140}
"""Number of sentences of an article → number of such articles in the released dev and devtest.

Articles of 1 and 2 sentences are counted as 3, those of 6 and 10 as 5.
"""

RESERVE_TIMES, RESERVE = 4, 500
"""The number of candidates of a domain is RESERVE_TIMES × wanted articles + RESERVE."""


class Candidate(NamedTuple):
    """An article whose passage may be selected for the benchmark."""

    domain: str  # one of DOMAINS, or the name of a domain of the user's documents
    page_id: int | str  # an int for a page, a str for a document
    title: str
    url: str
    topic: str  # one of TOPICS
    has_image: bool
    rank: int  # fingerprint of seed, domain and page id; the lowest are selected
    passage: Passage
    digest: int  # fingerprint of the whole cleaned text: equal for copies of an article
    licence: str = ""  # "" in a build without documents, where the site determines it


class Selection(NamedTuple):
    """The sentences selected for the benchmark."""

    sentences: tuple[SourceSentence, ...]  # sorted by split and position
    shortages: tuple[Shortage, ...]  # domains with fewer articles or sentences than their quota
    lengths: Mapping[int, int]  # number of sentences per article → number of articles
    duplicates: tuple[Rejected, ...]  # skipped candidates, sorted by domain and rank


def candidates_needed(articles: int) -> int:
    """Returns the number of candidates that `select` considers to get `articles` articles from a domain.

    This is more than the number of articles, so that articles with short passages and articles that repeat a
    sentence can be replaced. Copies of an article count as one candidate. If a domain has fewer candidates
    than this number, `select` considers all of them.
    """
    return RESERVE_TIMES * articles + RESERVE


def place_of(candidate: Candidate) -> tuple[int, Candidate]:
    """Returns the sort key of a candidate: (rank, candidate). The lowest key comes first."""
    return candidate.rank, candidate


def lowest_of_copies(candidates: Iterable[Candidate], most: int) -> list[Candidate]:
    """Returns the `most` candidates with the lowest ranks, without copies, sorted by `place_of`.

    Of several copies of an article, only the one with the lowest rank is kept. All candidates must be from
    the same domain.

    The function can be used as a combiner: it may be applied to parts of the candidates and then to the union
    of the results.
    """
    lowest: dict[int, Candidate] = {}  # digest → the lowest candidate with it
    for candidate in sorted(candidates, key=place_of):
        lowest.setdefault(candidate.digest, candidate)
        if len(lowest) == most:
            break
    return list(lowest.values())


def select(candidates: Iterable[Candidate], quotas: Mapping[Cell, Quota]) -> Selection:
    """Fills the quotas with sentences from the candidates with the lowest ranks.

    From each domain, only the candidates with the lowest ranks are considered; `candidates_needed` returns
    their number. Candidates are read domain by domain, in the order of their ranks. A candidate is skipped if
    it repeats an earlier candidate or a sentence of an earlier candidate, or if its own passage has a
    sentence twice. If a domain has too few articles or sentences, as many as possible are selected, and the
    domain is listed in `shortages`.

    Raises ValueError if a candidate's domain has no quota.
    """
    found, duplicates = _without_duplicates(_ranked(candidates, quotas))
    fitted = passages.fit_to_candidates(quotas, {domain: len(of) for domain, of in found.items()})
    taken: dict[Cell, list[Candidate]] = {}
    for domain, ranked in found.items():
        cells = {split: quota for (its, split), quota in fitted.items() if its == domain}
        chosen = _choose(ranked, cells.values())
        for split, dealt in _deal(chosen, cells).items():
            taken[domain, split] = _with_lengths(dealt, cells[split].sentences)
    lengths = Counter(_length(one) for cell in taken.values() for one in cell)
    return Selection(
        tuple(_sentences(taken)),
        tuple(_shortages(taken, quotas)),
        dict(sorted(lengths.items())),
        tuple(duplicates),
    )


def _ranked(
    candidates: Iterable[Candidate], quotas: Mapping[Cell, Quota]
) -> dict[str, list[Candidate]]:
    """Returns domain → its candidates with the lowest ranks, without copies, sorted by rank.

    The number of candidates of a domain is at most `candidates_needed`. Domains are in the order of `quotas`.
    """
    by_domain: dict[str, list[Candidate]] = {domain: [] for domain, _ in quotas}
    for candidate in candidates:
        if candidate.domain not in by_domain:
            raise ValueError(
                f"no quota for the domain of {_article(candidate)}, {candidate.title!r};"
                f" there are quotas for {', '.join(by_domain)}"
            )
        by_domain[candidate.domain].append(candidate)
    return {
        domain: lowest_of_copies(of_domain, candidates_needed(passages.articles_of(quotas, domain)))
        for domain, of_domain in by_domain.items()
    }


def _article(candidate: Candidate) -> str:
    return f"{candidate.domain}:{candidate.page_id}"


def _without_duplicates(
    ranked: Mapping[str, Sequence[Candidate]],
) -> tuple[dict[str, list[Candidate]], list[Rejected]]:
    known = _Known(set(), {}, {})
    kept: dict[str, list[Candidate]] = {domain: [] for domain in ranked}
    duplicates = []
    for domain, of_domain in ranked.items():
        for candidate in of_domain:
            article = _article(candidate)
            if repeated := _repeated(candidate, article, known):
                duplicates.append(Rejected(article, candidate.title, STAGE, *repeated))
                continue
            known.articles.add(article)
            known.first_of[candidate.digest] = article
            known.first_with.update(dict.fromkeys(_texts(candidate), article))
            kept[domain].append(candidate)
    return kept, duplicates


class _Known(NamedTuple):
    articles: set[str]
    first_of: dict[int, str]  # digest → article
    first_with: dict[str, str]  # sentence → article


def _texts(candidate: Candidate) -> list[str]:
    return [sentence.text for sentence in candidate.passage.sentences]


def _repeated(candidate: Candidate, article: str, known: _Known) -> tuple[str, str] | None:
    """Returns (reason, details) if a candidate repeats an earlier one, otherwise None.

    A candidate repeats an earlier one if it is the same page, or has the same text or a sentence of its
    passage. A candidate that has a sentence twice in its own passage is treated in the same way. The reason
    is "duplicate-page", "duplicate-article" or "duplicate-sentence". The details are a text that
    describes the repetition, such as the repeated sentence and the article that has it.

    Args:
      candidate: the candidate.
      article: its domain and page id, such as "wikinews:4711".
      known: the earlier candidates.
    """
    if article in known.articles:  # the same page may be in dumps of two dates
        return "duplicate-page", "it is there with another text"
    if candidate.digest in known.first_of:
        return "duplicate-article", f"{known.first_of[candidate.digest]} has the same text"
    texts = _texts(candidate)
    for place, text in enumerate(texts):
        if text in known.first_with or text in texts[:place]:
            return "duplicate-sentence", f"{known.first_with.get(text, article)} has it too: {text}"
    return None


def _length(candidate: Candidate) -> int:
    return len(candidate.passage.sentences)


def _capacity(candidates: Iterable[Candidate]) -> int:
    return sum(map(_length, candidates))


def _choose(ranked: Sequence[Candidate], quotas: Iterable[Quota]) -> list[Candidate]:
    """Chooses the articles of one domain.

    The candidates with the lowest ranks are chosen. If they have too few sentences, those with the shortest
    passages are replaced by candidates with longer passages.

    Args:
      ranked: the candidates of the domain, sorted by rank.
      quotas: the quotas of the domain in all splits.
    """
    cells = list(quotas)
    articles = sum(quota.articles for quota in cells)
    # Some spare sentences are needed so that splits can swap articles. Two passages differ by at most 2
    # sentences.
    wanted = sum(quota.sentences for quota in cells) + 2 * (len(cells) - 1)
    chosen = [(_length(candidate), -place) for place, candidate in enumerate(ranked[:articles])]
    capacity = sum(length for length, _ in chosen)
    # if several passages are equally short, the one with the highest rank comes first
    heapq.heapify(chosen)
    for place, candidate in enumerate(ranked[articles:], articles):
        if capacity >= wanted or not chosen:
            break
        more = _length(candidate) - chosen[0][0]
        if more > 0:
            heapq.heapreplace(chosen, (_length(candidate), -place))
            capacity += more
    return [ranked[place] for place in sorted(-negative for _, negative in chosen)]


def _deal(chosen: Sequence[Candidate], cells: Mapping[str, Quota]) -> dict[str, list[Candidate]]:
    """Distributes the articles to the splits at random, then swaps some if a split has too few sentences.

    Returns split → its articles, sorted by rank. `cells` maps each split to its quota.
    """
    drawn = iter(sorted(chosen, key=lambda one: (fingerprint(f"{one.rank} split"), place_of(one))))
    dealt = {split: [next(drawn) for _ in range(quota.articles)] for split, quota in cells.items()}
    while _swap(dealt, cells):
        pass
    return {split: sorted(candidates, key=place_of) for split, candidates in dealt.items()}


def _swap(dealt: dict[str, list[Candidate]], cells: Mapping[str, Quota]) -> bool:
    """Swaps two articles to give more sentences to the split that lacks the most.

    A short passage of this split is swapped for a longer one of another split. Each swap reduces the number
    of missing sentences. Returns True after a swap. Returns False if no split lacks sentences, or if no other
    split has sentences to spare.
    """
    spare = {split: _capacity(dealt[split]) - quota.sentences for split, quota in cells.items()}
    poor = min(spare, key=lambda split: spare[split])
    if spare[poor] >= 0:
        return False
    for rich in sorted(spare, key=lambda split: -spare[split]):
        for place, other in _pairs(dealt[poor], dealt[rich], spare[rich]):
            dealt[poor][place], dealt[rich][other] = dealt[rich][other], dealt[poor][place]
            return True
    return False


def _pairs(
    short: Sequence[Candidate], long: Sequence[Candidate], most: int
) -> Iterator[tuple[int, int]]:
    """Yields pairs of a passage and a longer passage: (index in `short`, index in `long`).

    The second passage has at most `most` sentences more than the first. Pairs with the greatest differences
    come first.
    """
    shortest, longest = (
        {_length(one): place for place, one in reversed([*enumerate(candidates)])}
        for candidates in (short, long)
    )
    for difference in range(min(most, MAX_SENTENCES - MIN_SENTENCES), 0, -1):
        for length, place in sorted(shortest.items()):
            if length + difference in longest:
                yield place, longest[length + difference]


def _with_lengths(candidates: Sequence[Candidate], sentences: int) -> list[Candidate]:
    """Shortens the passages so that they have `sentences` sentences in total.

    First, each passage gets a random length. These lengths are distributed as in the FLORES-101 release. If
    the total is wrong, passages become one sentence longer or shorter, in the order of the candidates, until
    it is correct or no length can be changed. No passage gets longer than it was or shorter than 3 sentences.
    """
    most = [_length(candidate) for candidate in candidates]
    lengths = [
        min(there_are, _preferred_length(candidate.rank))
        for there_are, candidate in zip(most, candidates, strict=True)
    ]
    step = 1 if sum(lengths) < sentences else -1
    while sum(lengths) != sentences:
        bounds = most if step > 0 else [MIN_SENTENCES] * len(most)
        movable = [place for place, length in enumerate(lengths) if length != bounds[place]]
        if not movable:
            break
        for place in movable[: abs(sentences - sum(lengths))]:
            lengths[place] += step
    return [
        one._replace(passage=one.passage._replace(sentences=one.passage.sentences[:length]))
        for one, length in zip(candidates, lengths, strict=True)
    ]


def _preferred_length(rank: int) -> int:
    draw = fingerprint(f"{rank} length") % sum(RELEASED_LENGTHS.values())
    for length, articles in RELEASED_LENGTHS.items():
        if draw < articles:
            return length
        draw -= articles
    return MAX_SENTENCES


def _sentences(taken: Mapping[Cell, Sequence[Candidate]]) -> Iterator[SourceSentence]:
    for split in dict.fromkeys(split for _, split in taken):
        # Ranks of all domains have the same distribution, so the domains are mixed.
        articles = sorted(
            (one for (_, its), of in taken.items() if its == split for one in of), key=place_of
        )
        pairs = ((one, sentence) for one in articles for sentence in one.passage.sentences)
        for number, (candidate, sentence) in enumerate(pairs, 1):
            yield SourceSentence(
                sentence_id(split, number),
                split,
                _article(candidate),
                sentence.text,
                candidate.url,
                candidate.domain,
                candidate.topic,
                candidate.has_image,
                sentence.has_hyperlink,
                candidate.licence,
            )


def _shortages(
    taken: Mapping[Cell, Sequence[Candidate]], quotas: Mapping[Cell, Quota]
) -> Iterator[Shortage]:
    for domain in dict.fromkeys(domain for domain, _ in quotas):
        given = [one for (its, _), cell in taken.items() if its == domain for one in cell]
        wanted = [quota for (its, _), quota in quotas.items() if its == domain]
        articles, sentences = len(given), _capacity(given)
        wanted_articles = passages.articles_of(quotas, domain)
        wanted_sentences = sum(quota.sentences for quota in wanted)
        if (articles, sentences) != (wanted_articles, wanted_sentences):
            yield Shortage(domain, articles, wanted_articles, sentences, wanted_sentences)


MAX_LINE_BYTES = 1 << 24
MAX_CHARACTERS = {"id": 200, "url": 2_000, "title": 1_000, "licence": 200}

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_URL = re.compile(r"https?://[^\s/]\S*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")


class Document(NamedTuple):
    """One of the user's own documents."""

    id: str  # unique in its domain
    url: str
    title: str
    date: str  # date of publication, "2026-05-04"
    licence: str  # "CC BY 4.0"
    text: str  # paragraphs separated by empty lines


_Line = msgspec.defstruct("_Line", [(name, str) for name in Document._fields])


def check_domain(name: str) -> None:
    """Raises ValueError if `name` cannot be the name of a domain of the user's documents."""
    if name in DOMAINS:
        raise ValueError(
            f"the set of documents {name!r} has the name of a Wikimedia site; choose another name, such as"
            " 'my_news'"
        )
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"the set of documents {name!r} has an invalid name: expected a lower-case letter (a to z),"
            " then at most 31 lower-case letters, digits or _"
        )


def parse_document(line: bytes) -> Document:
    """Parses one line of JSON. Unknown fields are ignored.

    Raises ValueError in these cases: the line is not a JSON object in UTF-8; a field is missing, empty, too
    long or not a string; a field other than the text has a line break; or the url or date is invalid.
    """
    try:
        found = msgspec.json.decode(line.decode("utf-8"), type=_Line)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: invalid byte at offset {error.start} of the line") from None
    except RecursionError:
        raise ValueError("not a JSON object: nested too deeply") from None
    document = Document(*(getattr(found, name).strip() for name in Document._fields))
    for name, value in document._asdict().items():
        _check(name, value)
    day, time = document.date[:10], document.date[10:]
    if not is_day(day) or not _TIME.fullmatch(time):
        raise ValueError(f"the date is {document.date!r}; expected one like '2026-05-04'")
    return document._replace(date=day)


def _check(name: str, value: str) -> None:
    if not value:
        raise ValueError(f"the {name} is empty")
    if name == "text":
        return
    if len(value) > MAX_CHARACTERS.get(name, len(value)):
        raise ValueError(
            f"the {name} has {len(value):,} characters; the limit is {MAX_CHARACTERS[name]:,}"
        )
    if _BREAKS.search(value):
        raise ValueError(f"the {name} {value!r} has a line break or another control character")
    if name == "url" and not _URL.fullmatch(value):
        raise ValueError(f"the url is {value!r}; expected one like 'https://…'")


def is_day(text: str) -> bool:
    """Returns True if the text is a valid date like "2026-05-04"."""
    if not _DATE.fullmatch(text):
        return False
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def read_paragraphs(text: str) -> list[Paragraph]:
    """Splits a text into paragraphs at empty lines. Line breaks within a paragraph become spaces."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return [
        Paragraph(" ".join(one.split()), ()) for one in _BLANK_LINES.split(lines) if one.strip()
    ]


def find_candidate(document: Document, domain: str, seed: int) -> Candidate | Reason:
    """Chooses a passage of a document. Returns a Candidate, or the reason why there is no passage.

    The document's topic is guessed from its title, by the rules for Wikinews.

    Args:
      document: the document.
      domain: the name of its domain.
      seed: the seed of all random choices.
    """
    return with_passage(
        read_paragraphs(document.text),
        seed,
        domain=domain,
        page_id=document.id,
        title=document.title,
        url=document.url,
        topic=topic_of("wikinews", document.title, ()),
        has_image=False,
        licence=document.licence,
    )


def with_passage(paragraphs: Sequence[Paragraph], seed: int, **facts: Any) -> Candidate | Reason:
    """Chooses a passage of an article or document. Returns a Candidate, or the reason why there is none.

    `facts` are the other fields of the Candidate. The choice depends on seed, domain and page id.
    """
    key = f"{seed} {facts['domain']} {facts['page_id']}"
    passage = passages.choose_passage(paragraphs, key)
    if isinstance(passage, Reason):
        return passage
    digest = fingerprint("\n".join(paragraph.text for paragraph in paragraphs))
    return Candidate(rank=fingerprint(key), passage=passage, digest=digest, **facts)
