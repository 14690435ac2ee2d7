"""Words after which a period ends no sentence: "Mr", "Gen". The lists are data."""

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources

ALWAYS = "always"
BEFORE_NUMBER = "before_number"

_TABLE = "nonbreaking_prefixes.toml"
_FALLBACK = "en"


@functools.cache
def prefixes_of(language: str) -> Mapping[str, str]:
    """Word → ALWAYS, or BEFORE_NUMBER for one that counts only before a digit 0-9.

    A language without a list has that of English, as in tokenizer.perl.
    """
    text = resources.files(__package__).joinpath(_TABLE).read_text("utf-8")
    tables = tomllib.loads(text)
    lists = tables.get(language, tables[_FALLBACK])
    return {word: kind for kind, words in lists.items() for word in words.split()}
