"""Reads the tables of a language, and additional tables given by the user."""

import tomllib
from collections.abc import Sequence

from corpusmill.transforms.files.open_input import InputError, read_input
from corpusmill.transforms.wikitext.clean import WikitextCleaner
from corpusmill.transforms.wikitext.language import Language, add_tables, load_language


def read_language(code: str, paths: Sequence[str] = ()) -> Language:
    """Returns the tables of a language, with additions from the TOML files in `paths`.

    `code` is the code of a Wikipedia, such as "uk", or of one of the Chinese corpora, such as "zh-cn". The
    files take precedence over the built-in tables. Raises InputError with the cause for an invalid file,
    and ValueError if a library for the language is not installed.
    """
    language = load_language(code)
    WikitextCleaner(language, {})
    for path in paths:
        data = read_input(path)
        try:
            language = add_tables(language, tomllib.loads(data.decode("utf-8")))
            WikitextCleaner(language, {})  # compiles the patterns
        except (ValueError, RecursionError) as error:  # includes errors of tomllib and the decoder
            raise InputError(path, str(error)) from None
    return language
