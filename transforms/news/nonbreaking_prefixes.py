"""Reads lists of words after which a period does not end a sentence, such as "Mr" and "Gen"."""

import functools
from collections.abc import Mapping

from corpusmill.transforms.files.toml_tables import read_table

ALWAYS = "always"
BEFORE_NUMBER = "before_number"

_FALLBACK = "en"


@functools.cache
def prefixes_of(language: str) -> Mapping[str, str]:
    """Returns word → ALWAYS or BEFORE_NUMBER, for words after which a period does not end a sentence.

    BEFORE_NUMBER means that this is so only if a digit 0-9 follows. A language without its own list gets the
    English list, as in tokenizer.perl.
    """
    tables = read_table(__package__, "nonbreaking_prefixes.toml")
    lists = tables.get(language, tables[_FALLBACK])
    return {word: kind for kind, words in lists.items() for word in words.split()}
