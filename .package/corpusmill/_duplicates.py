"""Signs texts with MinHash, and finds evaluation items in documents."""

import collections
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ._errors import CorpusmillError, check_text
from .transforms.duplicates.contamination_evidence import find_hits
from .transforms.duplicates.evaluation_index import (
    BLOCK_CHARACTERS,
    LONG_WORDS,
    EvaluationIndex,
    build_index,
    fold_block,
)
from .transforms.duplicates.matched_passages import find_matches
from .transforms.duplicates.minhash import (
    NGRAM_WORDS,
    PERMUTATIONS,
    SEED,
    hash_ngrams,
    sign_documents,
)
from .transforms.files.text import plain_words

if TYPE_CHECKING:
    from datasketch import MinHash


class Contamination(NamedTuple):
    """A passage of a document that is also in an evaluation item."""

    item: int  # index of the item
    document: int  # index of the document
    words: int  # number of words of the longest sequence that both have
    start: int  # position in the document in NFC, in characters
    end: int
    text: str  # of the document: the passage


def signature(text: str) -> "MinHash":
    """Returns the MinHash signature of a text, to find similar texts with the library datasketch.

    It is made of the 8-grams of words, in lower case and without punctuation, as in the search for
    near-duplicates. The library must be installed: `pip install 'corpusmill[datasketch]'`.

    Parameters
    ----------
    text : str

    Returns
    -------
    datasketch.MinHash
        128 numbers, with `scheme="affine32"` and `seed=1`. It is empty for a text without words.

    Raises
    ------
    CorpusmillError
        The text is no str, or datasketch is not installed.

    Examples
    --------
    >>> import corpusmill
    >>> words = "the ferry leaves the old harbour at nine and comes back at noon on every day but Sunday"
    >>> first, second = corpusmill.signature(words), corpusmill.signature(f"{words.upper()}!")
    >>> first.jaccard(second)
    1.0
    """
    check_text(text, "text")
    try:
        from datasketch import MinHash
    except ImportError as error:
        raise CorpusmillError(
            "the library datasketch is not installed; run pip install 'corpusmill[datasketch]'"
        ) from error
    ngrams = hash_ngrams(plain_words(text), NGRAM_WORDS)
    values = sign_documents([ngrams], PERMUTATIONS)[0] if len(ngrams) else None
    return MinHash(PERMUTATIONS, SEED, hashvalues=values, scheme="affine32")


def contaminated(items: Iterable[str], documents: Iterable[str]) -> Iterator[Contamination]:
    """Finds evaluation items in documents.

    These are the hits of `corpusmill contamination`, which also counts shorter matches, and says which hits
    are only common text. A passage has 13 words in a row of the item, or half of its words, or all. Case and
    punctuation do not matter. An item of fewer than about 8 words is never found, which does not mean that it
    is in no document: its words may be in any text.

    Parameters
    ----------
    items : iterable of str
        The texts of an evaluation set. Items without words are found nowhere.
    documents : iterable of str
        The texts that are searched. They are read as the result is asked for, some millions of characters at
        a time.

    Returns
    -------
    iterator of Contamination
        In the order of the documents. A document may have several passages of an item.

    Raises
    ------
    CorpusmillError
        An item is no text, or `items` is a single text. While the result is read: a document is no text.

    Examples
    --------
    >>> import corpusmill
    >>> items = ["Which of the two bridges over the river Henn was built by the monks of Ostrel Abbey?"]
    >>> documents = ["Nothing to see.", f"Question 7. {items[0].lower()} The older one."]
    >>> for found in corpusmill.contaminated(items, documents):
    ...     print(found.item, found.document, found.words)
    0 1 17
    """
    known = index_items(items)
    return _search(known, _iterator(documents, "documents"))


class EvaluationItems(NamedTuple):
    """The different items that have words, and the numbers of the items that have each text."""

    texts: Sequence[str]
    numbers: Sequence[Sequence[int]]

    def build(self) -> EvaluationIndex | None:
        """Returns the index of the texts, or None if there are none."""
        return build_index(self.texts, LONG_WORDS) if self.texts else None


def index_items(items: Iterable[str]) -> EvaluationItems:
    """Returns the items that have words. Raises CorpusmillError if an item is no text."""
    texts = list(_texts(items, "items"))
    bounds = fold_block(texts).bounds if texts else ()
    numbers: dict[str, list[int]] = collections.defaultdict(list)
    for number, text in enumerate(texts):
        if bounds[number + 1] > bounds[number]:
            numbers[text].append(number)
    return EvaluationItems(list(numbers), list(numbers.values()))


def _texts(texts: Iterable[str], name: str) -> Iterator[str]:
    for number, text in enumerate(_iterator(texts, name)):
        check_text(text, f"{name}[{number}]")
        yield text


def _iterator(texts: Iterable[str], name: str) -> Iterator[str]:
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise CorpusmillError(f"{name} must be several texts, not {type(texts).__name__}")
    return iter(texts)


def _search(items: EvaluationItems, documents: Iterator[str]) -> Iterator[Contamination]:
    known = items.build()
    first = 0
    for texts in _blocks(_texts(documents, "documents")):
        if known is not None:
            yield from find_in_block(known, items.numbers, texts, first)
        first += len(texts)


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    some: list[str] = []
    characters = 0
    for text in texts:
        some.append(text)
        characters += len(text)
        if characters >= BLOCK_CHARACTERS:
            yield some
            some, characters = [], 0
    if some:
        yield some


def find_in_block(
    known: EvaluationIndex, numbers: Sequence[Sequence[int]], texts: Sequence[str], first: int = 0
) -> Iterator[Contamination]:
    """Yields the passages of some documents that are in the items of an index.

    Args:
      known: the index of the different items.
      numbers: for each text of the index, the numbers of the items that have it.
      texts: the documents.
      first: the number of the first document.
    """
    block = fold_block(texts)
    for hit in (hit for some in find_matches(known, block) for hit in find_hits(block, some)):
        offset = int(block.offsets[hit.document])
        text = block.folded.text[offset + hit.start : offset + hit.end]
        for item in numbers[hit.item]:
            yield Contamination(item, first + hit.document, hit.words, hit.start, hit.end, text)
