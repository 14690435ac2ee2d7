"""Normalises and tokenises lines of news, as the One Billion Word benchmark does."""

import functools

from ._errors import CorpusmillError, check_text, reported
from .transforms.news.line_tokenizer import LineTokenizer

_PERL = "5.36"
_TOKENIZERS = 8


def normalize_news(line: str, language: str = "en", *, perl: str = _PERL) -> str:
    """Normalises the punctuation of a line, as normalize-punctuation.perl of Moses does.

    Parameters
    ----------
    line : str
        A line without a line feed.
    language : str, optional
        The code of the language, such as "de". The script has rules of its own for a few languages.
    perl : str, optional
        The version of Perl whose tables of characters are used. The published corpus was made with "5.14".

    Returns
    -------
    str

    Raises
    ------
    CorpusmillError
        The line has a line feed, the language is unknown, or there are no tables of the version of Perl.

    Examples
    --------
    >>> import corpusmill
    >>> corpusmill.normalize_news("“Stay”, she said – ( just once ).")
    '"Stay," she said -- (just once).'
    """
    content = _checked(line, language, perl)
    with reported():
        return _tokenizer(language, perl).normalize(content).decode()[:-1]


def tokenize_news(line: str, language: str = "en", *, perl: str = _PERL) -> str:
    """Normalises and tokenises a line, as the scripts of the One Billion Word benchmark do.

    Parameters
    ----------
    line, language, perl
        As for `normalize_news`.

    Returns
    -------
    str
        The words and marks, with a space between them.

    Raises
    ------
    CorpusmillError
        As for `normalize_news`.

    Examples
    --------
    >>> import corpusmill
    >>> corpusmill.tokenize_news("“It's late,” Dr. Lee said.")
    '" It \\'s late , " Dr. Lee said .'
    """
    content = _checked(line, language, perl)
    with reported():
        return _tokenizer(language, perl)(content).decode()[:-1]


def _checked(line: str, language: str, perl: str) -> bytes:
    check_text(line, "line")
    check_news(language, perl)
    if "\n" in line:
        raise CorpusmillError("line must be one line, without a line feed")
    return f"{line}\n".encode()


def check_news(language: str, perl: str) -> None:
    """Raises CorpusmillError for an unknown language, and for a version of Perl without tables."""
    check_text(language, "language")
    check_text(perl, "perl")
    if language not in _languages():
        raise CorpusmillError(f"no language has the code {language!r}")
    with reported():
        _tokenizer(language, perl)


@functools.cache
def _languages() -> frozenset[str]:
    from babel import Locale

    return frozenset({*Locale("en").languages, "cz"})  # the scripts call Czech so, too


@functools.lru_cache(_TOKENIZERS)
def _tokenizer(language: str, perl: str) -> LineTokenizer:
    return LineTokenizer(language, perl=perl)
