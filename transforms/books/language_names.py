"""Converts names of languages in the heads of Project Gutenberg files to ISO 639 codes."""

import re

from corpusmill.transforms.files.toml_tables import read_table

_TABLE = "language_names.toml"
_BETWEEN = re.compile(r"\s*(?:[,;/&]|\band\b)\s*", re.IGNORECASE)


def parse_languages(names: str) -> tuple[str, ...]:
    """Converts a list such as "English, Spanish and Tagalog" to language codes, without repetitions.

    An unknown name is returned as it is.
    """
    whole = _code_of(names)
    if whole:
        return (whole,)
    parts = [part for part in _BETWEEN.split(names.strip(" .")) if part]
    return tuple(dict.fromkeys(_code_of(part) or part for part in parts))


def _code_of(name: str) -> str:
    """Returns the code of a language name, or "" if the name is unknown. `name` may be a code itself."""
    name = " ".join(name.lower().split()).strip(" .")
    table = read_table(__package__, _TABLE)
    return table.get(name) or (name if name in table.values() else "")
