"""The released corpora that can become builds: among them Wiki-40B, and FLORES-101, FLORES-200 and FLORES+.

Of the releases of FLORES, a row is a sentence in one language.

Released books as builds: PG-19 with its books, SimpleBooks with its paragraphs.

The released One Billion Word as a build, with the text files of the release.
"""

import collections
import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import apache_beam as beam
from apache_beam.pvalue import AsDict, AsList

from corpusmill.pipelines.run.corpus_build import Place
from corpusmill.transforms.books import book_accounts
from corpusmill.transforms.books.catalog import read_released_lines
from corpusmill.transforms.books.count_book_vocabulary import CountBookVocabulary
from corpusmill.transforms.files.builds.finished_builds import opened
from corpusmill.transforms.files.builds.paper_figures import FLORES101, PAPER, SIMPLEBOOKS
from corpusmill.transforms.files.distribution import MapOnce, SpreadAll, transform
from corpusmill.transforms.files.line_blocks import SCHEMA, count_lines, in_batches
from corpusmill.transforms.files.markup import MalformedTableError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import (
    LineRange,
    LineShard,
    ReadError,
    ReleasedBook,
    TokenizedBook,
)
from corpusmill.transforms.files.released_layouts import ReleasedFile, open_released, read_table
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.files.terminal import name_some
from corpusmill.transforms.files.text import SPLITS, Shard, count_words
from corpusmill.transforms.files.write_rows import RowKind
from corpusmill.transforms.news import sentence_accounts, write_lines
from corpusmill.transforms.news.count_vocabulary import CountVocabulary
from corpusmill.transforms.translation import source_accounts, source_table
from corpusmill.transforms.wikipedia import article_accounts, article_rows
from corpusmill.transforms.wikitext.article_markers import add_stats, measure_article

from . import lm1b_settings, pg19_settings, simplebooks_settings, wiki40b_settings
from .adopt import (
    ROWS,
    Adopted,
    Counting,
    Members,
    ReleasedShard,
    Row,
    Unpacked,
    account_for_released,
    rows_like,
    texts_of,
)
from .adopt_settings import SEVERAL, AdoptConfig

BLOCK_BYTES = 1 << 22  # of lines that are read, and whose words are counted, at once
BOOK_CHARACTERS = 1 << 24  # in a row group; a longer book has a row group of its own


def read_books(
    shard: ReleasedShard, members: Members, _: Counter[str], books: Mapping[str, ReleasedBook]
) -> Iterator[Row]:
    """Yields the books in the files of a shard. `books` is id → line of metadata.csv."""
    for file in shard.files:
        with open_released(file, members) as stream:
            content = stream.read()
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(file.place, "not UTF-8", error.start) from None
        link = f"http://www.gutenberg.org/ebooks/{file.key}"
        known = books.get(file.key, ReleasedBook(int(file.key), "", 0, link))
        yield known.book_id, known.url, text, known.title, str(known.year or "")


def count_texts(column: int, end: str = "") -> Counting:
    """Returns the functions that count the texts in a column, to each of which `end` is added."""

    def measure(row: Row) -> book_accounts.BookStats:
        return book_accounts.measure_book(row[column] + end)

    return Counting(measure, book_accounts.add_book_stats, "words")


class AdoptedBooks(Adopted):
    """A build that is made of the released PG-19."""

    base = pg19_settings.DESCRIPTION
    kind_of_rows = rows_like(book_accounts.RELEASED_SCHEMA)._replace(
        weigh=lambda row: len(row[2]), batch=BOOK_CHARACTERS, text="book_text"
    )
    counting = count_texts(2)
    files_per_shard = 400  # 150 MB of text
    account_for = book_accounts.BookAccounts(SPLITS, whole=SPLITS)

    def check(self) -> None:
        """Reads metadata.csv. Raises InputError if it has other books than the folders."""
        self.books: dict[str, ReleasedBook] = {}
        self.read = functools.partial(read_books, books=self.books)
        if not (table := self.found.tables.get("metadata.csv")):
            return
        try:
            for book in read_released_lines(read_table(table).splitlines(keepends=True)):
                if str(book.book_id) in self.books:
                    raise MalformedTableError(f"the book {book.book_id} is repeated")
                self.books[str(book.book_id)] = book
        except MalformedTableError as error:
            raise InputError(table.place, str(error)) from None
        there = {file.key: file for of in self.found.files.values() for file in of}
        if others := [file.name for key, file in there.items() if key not in self.books]:
            raise InputError(table.place, f"does not list {name_some(others)}")
        missing = [f"{key}.txt" for key in self.books if key not in there]
        if missing and not self.config.partial:
            raise InputError(
                self.config.source,
                f"missing: {name_some(missing)}, which metadata.csv lists; --partial adopts the others",
            )


def read_paragraphs(shard: ReleasedShard, members: Members, _: Counter[str]) -> Iterator[Row]:
    """Yields the paragraphs in the files of a shard, one on each line."""
    for file in shard.files:
        yield from ((text,) for text in texts_of(file, members))


@transform
def CountSize(
    root: beam.Pipeline,
    folder: str,
    scratch: str,
    size: str,
    files: Sequence[tuple[str, ReleasedFile]],
    members: AsDict,
) -> Any:
    """Counts the vocabulary of the released SimpleBooks-92 or SimpleBooks-2. Pipeline → CountedVocabulary.

    Args:
      folder: output folder of the build.
      scratch: folder for temporary files.
      size: "simplebooks-92" or "simplebooks-2", which is the name of the statistics.
      files: (split, file) of its tokenised text.
      members: side input, see `Members`.
    """
    name = f"vocabulary-{size.rpartition('-')[2]}.tsv"
    min_count = simplebooks_settings.SimpleBooksConfig.min_count
    counted = (
        root
        | "SpreadFiles" >> SpreadAll(files)
        | "ReadBlocks" >> beam.FlatMap(read_blocks, members, Scratch(scratch))
        | "Count" >> CountBookVocabulary(folder, name, min_count, scratch)
    )
    named = beam.Map(lambda stats, of: (of, stats.as_dict()), size)
    return counted._replace(stats=counted.stats | "Name" >> named)


def read_blocks(
    placed: tuple[str, ReleasedFile], members: Members, scratch: Scratch
) -> Iterator[tuple[str, TokenizedBook]]:
    """Yields (split, some lines of a file in the form in which words are counted) for (split, file)."""
    split, file = placed
    for lines in in_batches(texts_of(file, members), BLOCK_BYTES, len):
        text = "".join(f"{line}\n" for line in lines)
        packed = scratch.put_text(text)
        yield split, TokenizedBook(0, "", len(lines), b"", packed, count_words(text))


class AdoptedParagraphs(Adopted):
    """A build that is made of the released SimpleBooks."""

    base = simplebooks_settings.DESCRIPTION
    kind_of_rows = rows_like(SCHEMA)
    counting = count_texts(0, end="\n")  # the end of a paragraph is a character, as in other builds
    read = staticmethod(read_paragraphs)
    unit = "paragraphs"

    def check(self) -> None:
        self.account_for = book_accounts.BookAccounts(tuple(self.found.files), whole=self.whole())

    def whole(self) -> Sequence[str]:
        """Returns the splits of SimpleBooks-92, which has the text of SimpleBooks-2; of a part of the release
        without them, those of one other form of the text.
        """
        forms = ([f"{one}{end}" for one in SPLITS] for end in ("", "_2", "_raw", "_2_raw"))
        there = ([split for split in form if split in self.found.files] for form in forms)
        return next(filter(None, there))

    def count_vocabularies(
        self, root: beam.Pipeline, folder: str, scratch: str, members: AsDict
    ) -> list[Any]:
        """Returns a CountedVocabulary for each size of the corpus with text to learn it from."""
        files = self.found.files
        return [
            root
            | f"Vocabulary {size}"
            >> CountSize(
                folder,
                scratch,
                size,
                [(one, file) for one in SPLITS for file in files.get(f"{one}{end}", ())],
                members,
            )
            for size, end in zip(SIMPLEBOOKS.tables, ("", "_2"), strict=True)
            if f"train{end}" in files
        ]


Sentences: TypeAlias = tuple[ReleasedFile, str, int, int]
"""A file of the released One Billion Word, and its place: the last three fields are those of LineShard."""


def read_sentences(placed: Sentences, members: Members) -> LineShard:
    """Returns the sentences of a file."""
    file, series, shard, shards = placed
    with open_released(file, members) as stream:
        block = stream.read()
    if block and not block.endswith(b"\n"):
        raise InputError(file.place, "truncated: the last line has no line feed")
    return LineShard(series, shard, shards, block)


def store_sentences(shard: LineShard, scratch: Scratch) -> LineRange:
    """Stores the sentences of a file in scratch, to count their words."""
    return LineRange(shard.shard, count_lines(shard.block), scratch.put(shard.block))


class AdoptedSentences(Adopted):
    """A build that is made of the released One Billion Word. It also has the text files of the release."""

    base = lm1b_settings.DESCRIPTION
    kind_of_rows = rows_like(SCHEMA)

    def check(self) -> None:
        """Raises InputError if a part of the release has held-out text without the test set of the paper."""
        names = [file.name for file in self.found.files.get("test", ())]
        first = f"news.en.heldout-{0:05d}-of-00050"
        if names and not names[0].endswith(first):
            raise InputError(
                self.config.source,
                f"missing: {first}, the test set of the paper; there are {name_some(names)}",
            )
        self.description = self.description._replace(splits=sentence_accounts.SPLITS)

    def sentences(self) -> list[Sentences]:
        """Returns the files of the release. If some are missing, the others are numbered without gaps."""
        train, test = (self.found.files.get(split, ()) for split in ("train", "test"))
        whole = self.found.tables.get(sentence_accounts.HELD_OUT_FILE)
        series = sentence_accounts.TRAIN, sentence_accounts.HELDOUT
        return [
            *([(whole, series[0], 0, len(train) + 1)] if whole else []),
            *((file, series[0], n, len(train) + 1) for n, file in enumerate(train, 1)),
            *((file, series[1], n, len(test)) for n, file in enumerate(test)),
        ]

    def adopt(self, root: beam.Pipeline, place: Place, unpacked: Unpacked) -> None:
        """Writes the sentences as a build of One Billion Word has them, and counts their words."""
        config, folder = self.config, place.folder
        shards = (
            root
            | "SpreadFiles" >> SpreadAll(self.sentences())
            | "ReadSentences" >> beam.Map(read_sentences, AsDict(unpacked.members))
        )
        ranges = (
            shards
            | "InOneSplit" >> beam.Filter(lambda one: bool(sentence_accounts.split_of(*one[:2])))
            | "StoreSentences" >> beam.Map(store_sentences, Scratch(place.scratch))
        )
        vocabulary = (ranges, shards) | "CountVocabulary" >> CountVocabulary(
            folder, lm1b_settings.Lm1bConfig.min_count, scratch=place.scratch
        )
        written = shards | "WriteLines" >> write_lines.WriteLines(
            folder, config.corpus, self.lang, self.marks(), config.formats
        )
        checksums = MapOnce(write_lines.write_checksums, folder, AsList(written.md5s))
        self.close_ledger(
            folder,
            unpacked.ledger,
            functools.partial(
                account_for_released, account_for=sentence_accounts.account_for_released, unit=""
            ),
            outputs=(
                written.files,
                root | "WriteChecksums" >> checksums,
                vocabulary.files,
            ),
            splits=shards | "MeasureShards" >> write_lines.MeasureShards(),
            replaced=written.replaced | "AddReplaced" >> beam.CombinePerKey(sum),
            vocabulary=vocabulary.stats,
        )


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
        for number, text in enumerate(texts_of(file, members, ends=True), 1):
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
        number = 0
        with opened(file.path) as parquet:
            batches = parquet.iter_batches(ROWS)
            rows = itertools.chain.from_iterable(batch.to_pylist() for batch in batches)
            try:
                for number, found in enumerate(rows, 1):
                    row = source_table.plus_row(shard.shard.split, number, found)
                    if row[0] in seen:
                        raise ReadError(number, f"{row[0]} is repeated, it is in {seen[row[0]]}")
                    seen[row[0]] = file.name
                    notes[row[0].split("-", 2)[2]] += 1  # a language may have several varieties
                    yield row
            except ReadError as error:
                raise InputError(file.place, str(error)) from None
        if not number:
            raise InputError(file.place, "has no rows")


class AdoptedTranslations(Adopted):
    """A build that is made of a released FLORES, with a row for each sentence in each language."""

    base = source_accounts.DESCRIPTION._replace(title="", numbers=source_table.NUMBERS)
    counting = count_texts(3)
    files_per_shard = 1 << 20  # all languages
    unit = "sentences"
    lang = SEVERAL

    def check(self) -> None:
        """Reads the tables of metadata. Raises InputError if one is malformed, or has not all lines.

        Of FLORES+, which has no tables, the sentences are counted.
        """
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
        if not about:
            self.check_plus()

    def check_plus(self) -> None:
        """Counts the sentences of FLORES+. Raises InputError if a language has not all of a split, or more.

        There are languages with only one of the splits.
        """
        short = []
        for split, files in self.found.files.items():
            counts, wanted = Counter[str](), FLORES101.documents[split]
            collections.deque(read_plus(ReleasedShard(Shard(split, 0, 1), files), {}, counts), 0)
            for language, count in sorted(counts.items()):
                if count > wanted:
                    more = f"{count:,} sentences of {language} in {split}"
                    raise InputError(self.config.source, f"{more}, and the release has {wanted:,}")
            short += [
                (split, f"{wanted - count:,} of {wanted:,} sentences of {language} in {split}")
                for language, count in sorted(counts.items())
                if count < wanted
            ]
        if short and not self.config.partial:
            names = name_some([name for _, name in short])
            raise InputError(self.config.source, f"missing: {names}; --partial adopts the others")
        self.found = self.found._replace(
            missing=(*self.found.missing, *(name for _, name in short)),
            incomplete=tuple(sorted({*self.found.incomplete, *(split for split, _ in short)})),
        )

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
