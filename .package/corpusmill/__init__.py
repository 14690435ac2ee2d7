"""Rebuilds language-model benchmark corpora from their raw sources.

The functions below are for single texts and files. They are imported when they are first used, so that
`import corpusmill` is fast; none of them needs Apache Beam. `corpusmill.beam` has transforms for pipelines of
Apache Beam. pipelines/docs/python.md shows both.

The names in `__all__` and those in `corpusmill.beam.__all__` are stable. All other names are private. All
functions raise CorpusmillError for bad input.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import CorpusmillError

if TYPE_CHECKING:
    from ._books import date_book, strip_gutenberg
    from ._builds import load
    from ._duplicates import Contamination, contaminated, signature
    from ._news import normalize_news, tokenize_news
    from ._wikipedia import CleanPage, Templates, clean, read_pages, read_templates
    from .transforms.books.publication_dates import PublicationDate
    from .transforms.files.records import Author, Page
    from .transforms.wikitext.sections import Section

__version__ = "0.1.0"

__all__ = [
    "Author",
    "CleanPage",
    "Contamination",
    "CorpusmillError",
    "Page",
    "PublicationDate",
    "Section",
    "Templates",
    "clean",
    "contaminated",
    "date_book",
    "load",
    "normalize_news",
    "read_pages",
    "read_templates",
    "signature",
    "strip_gutenberg",
    "tokenize_news",
]

_MODULES = {
    "_books": ("date_book", "strip_gutenberg"),
    "_builds": ("load",),
    "_duplicates": ("Contamination", "contaminated", "signature"),
    "_news": ("normalize_news", "tokenize_news"),
    "_wikipedia": ("CleanPage", "Templates", "clean", "read_pages", "read_templates"),
    "transforms.books.publication_dates": ("PublicationDate",),
    "transforms.files.records": ("Author", "Page"),
    "transforms.wikitext.sections": ("Section",),
}


if not TYPE_CHECKING:  # so that type checkers find misspelt names

    def __getattr__(name: str) -> Any:
        """Imports a public function or class when it is first used."""
        for module, names in _MODULES.items():
            if name in names:
                value = getattr(importlib.import_module(f".{module}", __name__), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
