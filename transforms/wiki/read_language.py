"""The tables of a language, with those that a user gives."""

import tomllib
from collections.abc import Sequence

from transforms.files.open_input import InputError, read_input
from transforms.text.wikimedia.language import Language, add_tables, load_language
from transforms.text.wikimedia.wikitext.clean import WikitextCleaner


def read_language(code: str, paths: Sequence[str] = ()) -> Language:
    """Return the tables of a corpus; those of TOML files come before the built-in ones.

    Raises InputError for a file that is not such a table, naming what is wrong in it, and ValueError where
    a library that the language needs is not installed.
    """
    language = load_language(code)
    WikitextCleaner(language, {})
    for path in paths:
        data = read_input(path)
        try:
            language = add_tables(language, tomllib.loads(data.decode("utf-8")))
            WikitextCleaner(language, {})  # compiles the patterns
        except (ValueError, RecursionError) as error:  # also what tomllib and the decoder raise
            raise InputError(path, str(error)) from None
    return language
