"""The released corpora that can become builds: among them Wiki-40B, and FLORES-101, FLORES-200 and FLORES+.

Of the releases of FLORES, a row is a sentence in one language.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpusmill.transforms.books import book_accounts
from corpusmill.transforms.files.builds.finished_builds import opened
from corpusmill.transforms.files.builds.paper_figures import PAPER
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import ReadError
from corpusmill.transforms.files.released_layouts import read_table
from corpusmill.transforms.files.write_rows import RowKind
from corpusmill.transforms.translation import source_accounts, source_table
from corpusmill.transforms.wikipedia import article_accounts, article_rows
from corpusmill.transforms.wikitext.article_markers import add_stats, measure_article

from . import wiki40b_settings
from .adopt import ROWS, Adopted, Counting, Members, ReleasedShard, Row, rows_like, texts_of
from .adopt_books import AdoptedBooks, AdoptedParagraphs, count_texts
from .adopt_sentences import AdoptedSentences
from .adopt_settings import SEVERAL, AdoptConfig


def read_articles(shard: ReleasedShard, _: Members, notes: Counter[str]) -> Iterator[Row]:
    """Yields the articles in the files of a shard."""
    for file in shard.files:
        yield from article_rows.read_released(file.path, notes)


def key_of_article(row: Row) -> tuple[str, str]:
    """Returns the id of an article, and its other values."""
    identity, text, version = row
    return identity, f"{version} {text}"


class AdoptedArticles(Adopted):
    """A build that is made of the released Wiki-40B of one language."""

    base = wiki40b_settings.DESCRIPTION._replace(license_id="cc-by-sa-3.0")
    kind_of_rows = article_rows.ARTICLES._replace(values=tuple)
    counting = Counting(
        lambda row: measure_article(row[1]), add_stats, "characters", key=key_of_article
    )
    account_for = staticmethod(article_accounts.account_for_articles)
    read = staticmethod(read_articles)
    read_as = "pages"

    def check(self) -> None:
        """Raises ValueError if the language of the release is not known."""
        named = [one for one in self.found.languages if one in PAPER]
        if not self.config.language and not named:
            raise ValueError(
                f"{self.config.source}: no folder is named by the code of a language: give --language"
            )
        if named and self.config.language not in ("", *named):
            raise ValueError(
                f"{self.config.source}: the language is {named[0]}, not {self.config.language}"
            )
        self.lang = self.config.language or named[0]


def read_translations(
    shard: ReleasedShard, members: Members, notes: Counter[str], about: Mapping[str, Sequence[Any]]
) -> Iterator[Row]:
    """Yields the sentences in the files of a shard. `about` is split → values of its metadata."""
    split, number = shard.shard.split, 0
    for file in shard.files:
        for number, text in enumerate(texts_of(file, members), 1):
            if number <= len(about[split]):
                of_article = about[split][number - 1]
                identity = f"{source_table.sentence_id(split, number)}-{file.key}"
                yield identity, file.key, number, text, *of_article
        if number != (lines := len(about[split])):
            raise InputError(file.place, f"has {number:,} lines, and the release has {lines:,}")
        notes[file.key] = number


def read_plus(shard: ReleasedShard, _: Members, notes: Counter[str]) -> Iterator[Row]:
    """Yields the sentences of FLORES+ in the files of a shard."""
    seen: dict[str, str] = {}
    for file in shard.files:
        with opened(file.path) as parquet:
            batches = parquet.iter_batches(ROWS)
            rows = itertools.chain.from_iterable(batch.to_pylist() for batch in batches)
            try:
                for number, found in enumerate(rows, 1):
                    row = source_table.plus_row(shard.shard.split, number, found)
                    if row[0] in seen:
                        raise ReadError(number, f"{row[0]} is repeated, it is in {seen[row[0]]}")
                    seen[row[0]] = file.name
                    notes[row[1]] += 1
                    yield row
            except ReadError as error:
                raise InputError(file.place, str(error)) from None


class AdoptedTranslations(Adopted):
    """A build that is made of a released FLORES, with a row for each sentence in each language."""

    base = source_accounts.DESCRIPTION._replace(title="", numbers=source_table.NUMBERS)
    counting = count_texts(3)
    files_per_shard = 1 << 20  # all languages
    unit = "sentences"
    lang = SEVERAL

    def check(self) -> None:
        """Reads the tables of metadata. Raises InputError if one is malformed, or has not all lines."""
        self.account_for = book_accounts.BookAccounts(self.whole(), whole=self.whole())
        about: dict[str, list[Any]] = {}
        for split, lines in self.found.layout.rows.items():
            about[split] = [source_table.NOTHING_KNOWN] * lines
            if table := self.found.tables.get(f"metadata {split}"):
                try:
                    about[split] = source_table.read_metadata(read_table(table).splitlines())
                except (ReadError, UnicodeDecodeError) as error:
                    raise InputError(table.place, str(error)) from None
                if (found := len(about[split])) != lines:
                    message = f"has {found:,} sentences, and the release has {lines:,}"
                    raise InputError(table.place, message)
        self.read = functools.partial(read_translations, about=about) if about else read_plus

    def whole(self) -> Sequence[str]:
        return tuple(self.found.files)

    @property
    def kind_of_rows(self) -> RowKind:  # type: ignore[override]
        """The rows, which have more columns in FLORES+."""
        is_plus = not self.found.layout.rows
        return rows_like(source_table.PLUS_SCHEMA if is_plus else source_table.RELEASED_SCHEMA)

    @property
    def edition(self) -> str:
        """The name of the edition, such as "mul-flores101-released"."""
        return super().edition.replace(SEVERAL, f"{SEVERAL}-{self.found.name}", 1)


_KINDS: Mapping[str, type[Adopted]] = {
    "wiki40b": AdoptedArticles,
    "lm1b": AdoptedSentences,
    "pg19": AdoptedBooks,
    "simplebooks": AdoptedParagraphs,
    "flores101": AdoptedTranslations,
}


def adopted(config: AdoptConfig) -> Adopted:
    """Returns the build that is made of a released corpus. Raises InputError as `Adopted` does."""
    return _KINDS[config.corpus](config)
