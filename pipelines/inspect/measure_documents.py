"""Lists, for each corpus, the functions that compute the counts in stats.json from documents."""

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from corpusmill.transforms.books.book_stats import BookStats, add_book_stats, measure_book
from corpusmill.transforms.files.builds.lengths import length_class
from corpusmill.transforms.files.line_stats import LineStats, add_line_stats, measure_lines
from corpusmill.transforms.files.records import CorpusStats
from corpusmill.transforms.news.sentence_accounts import describe_lines
from corpusmill.transforms.wikitext.corpus_stats import add_stats, measure_article


class Measure(NamedTuple):
    """The functions that compute the counts in stats.json from the documents of a corpus."""

    column: str  # name of the column with the text
    # texts → one count object per text, or one for all texts
    measure: Callable[[Sequence[str]], Iterator[Any]]
    add: Callable[[Iterable[Any]], Any]
    empty: Any
    documents: Callable[[Any], int]  # counts → number of documents
    describe: Callable[[Any], Mapping[str, Any]]
    # field of the counts from which the histogram is made; "" if `describe` makes one
    length: str = ""

    def histogram(self, counted: Iterable[Any]) -> Counter[int]:
        """Returns length class → number of documents. `counted` has the counts of each document."""
        lengths = map(operator.attrgetter(self.length), counted) if self.length else ()
        return Counter(map(length_class, lengths))


def _each(measure: Callable[[str], Any]) -> Callable[[Sequence[str]], Iterator[Any]]:
    return lambda texts: map(measure, texts)


def _measure_lines(texts: Sequence[str]) -> Iterator[LineStats]:
    if texts:
        yield measure_lines("".join(f"{text}\n" for text in texts).encode())


def _as_dict(counts: Any) -> Mapping[str, int]:
    fields: Mapping[str, int] = counts._asdict()
    return fields


def _books(column: str) -> Measure:
    first = operator.itemgetter(0)
    book = _each(measure_book)
    return Measure(column, book, add_book_stats, BookStats(), first, _as_dict, "words")


MEASURES: Mapping[str, Measure] = {
    "wiki40b": Measure(
        "text",
        _each(measure_article),
        add_stats,
        CorpusStats(),
        operator.itemgetter(0),
        _as_dict,
        "characters",
    ),
    "lm1b": Measure(
        "text",
        _measure_lines,
        add_line_stats,
        LineStats(),
        operator.itemgetter(0),
        describe_lines,
    ),
    "pg19": _books("book_text"),
    "simplebooks": _books("text"),
}
"""Name of a corpus → the functions that count its documents."""
