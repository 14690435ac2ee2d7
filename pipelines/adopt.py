"""Released corpora as builds: their rows in the formats of builds, with statistics, manifest and card.

No text is changed. A row is an article, a sentence, a book, a paragraph, or a sentence in one language. Rows
are in the order of the release.
"""

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.pvalue import AsDict, AsList

from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place, Stage
from corpusmill.transforms.books import book_accounts
from corpusmill.transforms.books.count_book_vocabulary import CountBookVocabulary
from corpusmill.transforms.books.released import read_released_lines
from corpusmill.transforms.files.builds.finished_builds import opened
from corpusmill.transforms.files.builds.ledger import AccountFor, Accounts, Ledger, length_class
from corpusmill.transforms.files.builds.manifest import Description, Provenance
from corpusmill.transforms.files.builds.paper_figures import PAPER, SIMPLEBOOKS
from corpusmill.transforms.files.distribution import MapOnce, SpreadAll
from corpusmill.transforms.files.formats import parse_formats
from corpusmill.transforms.files.line_blocks import SCHEMA, count_lines, in_batches
from corpusmill.transforms.files.markup import MalformedTableError, render
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import (
    LineRange,
    LineShard,
    OutputFile,
    ReadError,
    ReleasedBook,
    TokenizedBook,
)
from corpusmill.transforms.files.released_layouts import (
    LAYOUTS,
    ReleasedFile,
    find_release,
    open_released,
    read_table,
    tar_files,
)
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.files.terminal import name_some
from corpusmill.transforms.files.text import SPLITS, Shard, count_words, fingerprint
from corpusmill.transforms.files.write_files import mark
from corpusmill.transforms.files.write_rows import RowKind, encode_rows, row_files, write_files
from corpusmill.transforms.news import sentence_accounts, write_lines
from corpusmill.transforms.news.count_vocabulary import CountVocabulary
from corpusmill.transforms.translation import source_accounts, source_table
from corpusmill.transforms.wikipedia import article_accounts, article_rows
from corpusmill.transforms.wikitext.article_markers import add_stats, measure_article

from . import lm1b_settings, pg19_settings, simplebooks_settings, wiki40b_settings
from .adopt_settings import LITERALS, RELEASED, SEVERAL, AdoptConfig

BLOCK_BYTES = 1 << 22  # of lines that are read, and whose words are counted, at once
BOOK_CHARACTERS = 1 << 24  # in a row group; a longer book has a row group of its own
ROWS = 1 << 12  # sentences or paragraphs in a row group

Row: TypeAlias = tuple[Any, ...]
Members: TypeAlias = Mapping[str, bytes]
"""Name of a file of a .tar archive → reference to its content in scratch."""


class ReleasedShard(NamedTuple):
    """The files of a release from which one shard of a build is made."""

    shard: Shard
    files: Sequence[ReleasedFile]


class Counting(NamedTuple):
    """The functions that compute the statistics of rows."""

    measure: Callable[[Row], Any]
    add: Callable[[Iterable[Any]], Any]
    length: str  # name of the statistic that is the length of a row
    key: Callable[[Row], tuple[str, str]] | None = None  # row → (its id, all else in it)


ReadRows: TypeAlias = Callable[[ReleasedShard, Members, Counter[str]], Iterator[Row]]
"""Function (shard, unpacked files, counts to add to) → rows."""


class Writing(NamedTuple):
    """The settings for writing the shards of a build."""

    folder: str
    corpus: str
    formats: Sequence[str]
    kind: RowKind
    read: ReadRows
    counting: Counting


class Written(NamedTuple):
    """The files of a shard, and the counts of its rows."""

    split: str
    files: list[OutputFile]
    stats: Any
    lengths: Mapping[int, int]  # class of lengths → number of rows
    notes: Mapping[str, int]  # counts that only some corpora have
    keys: bytes  # fingerprints of the keys of rows


class Unpacked(NamedTuple):
    """The result of the stage "unpack". Only files of .tar archives are unpacked."""

    members: beam.PCollection  # of (name, reference to the content)
    ledger: beam.PCollection  # of Entry


def write_shard(shard: ReleasedShard, members: Members, how: Writing) -> Written:
    """Writes the rows of a shard in all formats, one row group at a time, and counts them."""
    notes, lengths = Counter[str](), Counter[int]()
    counting, total, keys = how.counting, how.counting.add([]), list[tuple[int, int]]()

    def counted() -> Iterator[Row]:
        nonlocal total
        for row in how.read(shard, members, notes):
            stats = counting.measure(row)
            total = counting.add([total, stats])
            lengths[length_class(getattr(stats, counting.length))] += 1
            if counting.key:
                identity, others = map(fingerprint, counting.key(row))
                keys.append((identity, others))
            yield row

    batches = encode_rows(counted(), how.kind, how.formats)
    targets = row_files(how.formats, how.corpus, shard.shard)
    files = write_files(how.folder, targets, how.kind.schema, batches, how.kind.encoding)
    packed = np.array(keys, np.uint64).tobytes()
    return Written(shard.shard.split, files, total, lengths, notes, packed)


def unpack(archive: str, names: frozenset[str], scratch: Scratch) -> Iterator[tuple[str, bytes]]:
    """Yields (name, reference to the content in scratch) for the files `names` of a .tar archive."""
    for member in tar_files(archive):
        if member.name in names:
            yield member.name, scratch.put(member.content.read())


def count_repeated(source: str, blocks: Iterable[bytes]) -> int:
    """Returns the number of rows whose id an earlier row has.

    Raises InputError if all values of two rows are equal.

    Args:
      source: the source of the release, for the message.
      blocks: fingerprints of the ids and of the other values of rows, see `Written.keys`.
    """
    keys = np.frombuffer(b"".join(blocks), np.uint64).reshape(-1, 2)
    keys = keys[np.lexsort((keys[:, 1], keys[:, 0]))]
    is_same = keys[1:] == keys[:-1]
    if whole := int(is_same.all(axis=1).sum()):
        raise InputError(
            source, f"{whole:,} rows are repeated: are files there twice, under two names?"
        )
    return int(is_same[:, 0].sum())


def texts_of(file: ReleasedFile, members: Members) -> Iterator[str]:
    """Yields the lines of a file without their line feeds. Raises InputError if one is not UTF-8."""
    with open_released(file, members) as stream:
        for number, line in enumerate(stream, 1):
            try:
                yield line.removesuffix(b"\n").decode("utf-8")
            except UnicodeDecodeError:
                raise InputError(file.place, f"line {number:,} is not UTF-8") from None


def account_for_released(
    ledger: Ledger, provenance: Provenance, account_for: AccountFor, unit: str
) -> Accounts:
    """Returns the counts, statistics and card of a build that is made of a released corpus.

    Args:
      ledger: the entries of the stages. In addition to those that `account_for` reads, it has `notes`:
        ((split, language or LITERALS), number of rows); and `repeated`: number of rows whose id another has.
      provenance: the facts about the build that were known before it ran.
      account_for: the function for the corpus. Its sections of the card are replaced.
      unit: the name of the rows, which replaces "books" in the statistics.
    """
    accounts = account_for(ledger, provenance)
    stats: dict[str, Any] = {
        split: {name.replace("books", unit): value for name, value in counts.items()}
        if isinstance(counts, Mapping)
        else counts
        for split, counts in accounts.stats.items()
    }
    languages: dict[str, dict[str, int]] = {}
    for (split, language), count in sorted(ledger.values("notes")):
        languages.setdefault(language, {})[split] = count
    literals = languages.pop(LITERALS, {})
    counts = {
        "kept": accounts.counts["kept"],
        LITERALS: sum(literals.values()),
        "repeated_ids": ledger.number("repeated"),
    }
    sections = render(
        "released",
        layout=LAYOUTS[provenance.settings["layout"]].title,
        stats=stats,
        counts=counts,
        languages=languages,
    )
    findings = {"rows_by_language": languages} if languages else {}
    return Accounts(counts, stats, sections, {"stats": stats, **findings}, accounts.caveats)


def rows_in(written: Written, splits: Sequence[str]) -> Iterator[int]:
    """Yields the number of rows of a shard, if its split is one of `splits`."""
    if written.split in splits:
        yield written.files[0].records


def counts_of(written: Written, field: str) -> Iterator[tuple[tuple[str, Any], int]]:
    """Yields ((split, name), count) for the counts in a field."""
    for name, count in getattr(written, field).items():
        yield (written.split, name), count


class Adopted(CorpusBuild):
    """A build that is made of a released corpus."""

    config: AdoptConfig
    libraries = ("numpy",)
    unheld = ("released",)  # no worker holds more than a row group, or a shard of One Billion Word
    lang = "en"
    base: Description
    counting: Counting
    kind_of_rows: RowKind
    read: ReadRows
    account_for: AccountFor
    read_as = "files"  # account of the number of rows in the ledger
    unit = "books"  # name of the rows
    files_per_shard = 1

    def __init__(self, config: AdoptConfig):
        """Finds and checks the inputs.

        Raises InputError for files that are unknown, missing or repeated, and for a damaged archive.
        """
        self.config = config
        self.found = find_release(
            config.corpus,
            config.source,
            config.language,
            partial=config.partial,
            ignore=config.ignore,
        )
        self.release = RELEASED._replace(corpus=config.corpus)
        title = self.base.title or self.found.layout.title.partition(":")[0]
        self.description = self.base._replace(
            title=f"{title}, as released",
            about=(
                f"{title} as its authors released it. No text was changed: corpusmill has only converted the"
                " files to other formats, and counted the text."
            ),
            features=self.kind_of_rows.schema.names,
            splits=tuple(self.found.files),
        )
        self.check()

    def check(self) -> None:
        """Checks the release further. Raises InputError if files are unknown, missing or repeated."""

    @property
    def edition(self) -> str:
        """The name of the edition, such as "uk-released"."""
        return f"{self.lang}-released{'-partial' if self.found.missing else ''}"

    def date_of_inputs(self) -> str:
        """Returns the year of the release, or the years of its inputs."""
        return self.found.layout.date

    def inputs(self) -> Mapping[str, Sequence[str]]:
        files = [file for of in self.found.files.values() for file in of]
        paths = (file.path for file in (*files, *self.found.tables.values()))
        return {"released": list(dict.fromkeys(paths))}

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the size of the files of the release. It does not depend on `stripes`."""
        return sum(file.bytes for of in self.found.files.values() for file in of)

    def caveats(self) -> tuple[str, ...]:
        """Returns a caveat if files of the release are missing."""
        if not self.found.missing:
            return ()
        return (f"Only a part of the release. Missing: {', '.join(self.found.missing)}.",)

    def settings(self) -> Mapping[str, Any]:
        found = {"source": "released", "layout": self.found.name, "language": self.lang}
        missing = {name: [*getattr(self.found, name)] for name in ("missing", "incomplete")}
        partial = {"partial": True, **missing} if self.found.missing else {}
        return {**found, **partial, **super().settings()}

    def signature_settings(self) -> Mapping[str, str]:
        partial = {"partial": "yes"} if self.found.missing else {}
        return {"lang": self.lang, "source": "released", **partial}

    def stages(self) -> Sequence[Stage]:
        """Returns the stages: first unpack a .tar archive, then write the rows."""
        return Stage("unpack", self.unpack), Stage("adopt", self.adopt)

    def unpack(self, root: beam.Pipeline, place: Place) -> Unpacked:
        """Unpacks the files of a .tar archive."""
        names = [file.name for of in self.found.files.values() for file in of]
        names += [file.name for file in self.found.tables.values()]
        archives = [self.found.archive] if self.found.is_tar else []
        members = (
            root
            | "Archives" >> beam.Create(archives)
            | "Unpack"
            >> beam.FlatMap(unpack, frozenset(names), Scratch(place.scratch)).with_output_types(
                tuple[str, bytes]
            )
        )
        return Unpacked(members, self.open_ledger(root))

    def adopt(self, root: beam.Pipeline, place: Place, unpacked: Unpacked) -> None:
        """Writes the rows, and the statistics, manifest and card."""
        members = AsDict(unpacked.members)
        kind = self.kind_of_rows
        kind = kind._replace(schema=mark(kind.schema, self.marks()))
        formats = parse_formats(self.config.formats)
        how = Writing(place.folder, self.config.corpus, formats, kind, self.read, self.counting)
        written = (
            root
            | "SpreadShards" >> SpreadAll(self.shards(), of=ReleasedShard)
            | "WriteShard" >> beam.Map(write_shard, members, how).with_output_types(Written)
        )
        vocabularies = [
            root | f"Vocabulary {size}" >> CountSize(place, size, files, members)
            for size, files in self.sizes().items()
        ]
        keys = AsList(written | "Keys" >> beam.Map(lambda one: one.keys))
        self.close_ledger(
            place.folder,
            unpacked.ledger,
            functools.partial(account_for_released, account_for=self.account_for, unit=self.unit),
            outputs=(
                written | "Files" >> beam.FlatMap(lambda one: one.files),
                *(one.files for one in vocabularies),
            ),
            **{
                self.read_as: written | "CountRows" >> beam.FlatMap(rows_in, self.whole()),
                "stats": written
                | "Stats" >> beam.Map(lambda one: (one.split, one.stats))
                | "AddStats" >> beam.CombinePerKey(self.counting.add),
                **{
                    field: written
                    | f"Counts {field}" >> beam.FlatMap(counts_of, field)
                    | f"AddUp {field}" >> beam.CombinePerKey(sum)
                    for field in ("lengths", "notes")
                },
                "repeated": root
                | "CountRepeated" >> MapOnce(count_repeated, self.config.source, keys),
                "facts": tuple(one.stats for one in vocabularies),
            },
        )

    def whole(self) -> Sequence[str]:
        """Returns the splits that together have each row once."""
        return SPLITS

    def sizes(self) -> Mapping[str, Sequence[tuple[str, ReleasedFile]]]:
        """Returns name of a corpus whose vocabulary is counted → (split, file) of its text."""
        return {}

    def shards(self) -> list[ReleasedShard]:
        """Returns the shards of the build. Each is made of `files_per_shard` files of the release."""
        step = self.files_per_shard
        return [
            ReleasedShard(Shard(split, start // step, -(-len(files) // step)), files[start:][:step])
            for split, files in self.found.files.items()
            for start in range(0, len(files), step)
        ]


def read_articles(shard: ReleasedShard, _: Members, notes: Counter[str]) -> Iterator[Row]:
    """Yields the articles in the files of a shard."""
    for file in shard.files:
        yield from article_rows.read_released(file.path, notes)


def measure_article_row(row: Row) -> Any:
    """Returns the statistics of an article."""
    return measure_article(row[1])


def key_of_article(row: Row) -> tuple[str, str]:
    """Returns the id of an article, and its other values."""
    identity, text, version = row
    return identity, f"{version} {text}"


class AdoptedArticles(Adopted):
    """A build that is made of the released Wiki-40B of one language."""

    base = wiki40b_settings.DESCRIPTION._replace(license_id="cc-by-sa-3.0")
    kind_of_rows = article_rows.ARTICLES._replace(values=tuple)
    counting = Counting(measure_article_row, add_stats, "characters", key=key_of_article)
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


def measure_text(row: Row, column: int, end: str = "") -> book_accounts.BookStats:
    """Returns the statistics of the text in a column of a row, to which `end` is added."""
    return book_accounts.measure_book(row[column] + end)


def count_texts(column: int, end: str = "") -> Counting:
    """Returns the functions that count the texts in a column."""
    measure = functools.partial(measure_text, column=column, end=end)
    return Counting(measure, book_accounts.add_book_stats, "words")


def rows_like(schema: pa.Schema) -> RowKind:
    """Returns the RowKind of sentences or paragraphs with these columns."""
    return RowKind(schema, repr, repr, values=tuple, weigh=lambda _: 1, batch=ROWS)


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


@dataclasses.dataclass(eq=False, repr=False)
class CountSize(beam.PTransform):
    """Counts the vocabulary of the released SimpleBooks-92 or SimpleBooks-2. Pipeline → CountedVocabulary.

    Args:
      place: the folders of the build.
      size: "simplebooks-92" or "simplebooks-2", which is the name of the statistics.
      files: (split, file) of its tokenised text.
      members: side input, see `Members`.
    """

    place: Place
    size: str
    files: Sequence[tuple[str, ReleasedFile]]
    members: AsDict

    def expand(self, root: beam.Pipeline) -> Any:
        name = f"vocabulary-{self.size.rpartition('-')[2]}.tsv"
        min_count = simplebooks_settings.SimpleBooksConfig.min_count
        scratch = self.place.scratch
        counted = (
            root
            | "SpreadFiles" >> SpreadAll(self.files)
            | "ReadBlocks" >> beam.FlatMap(read_blocks, self.members, Scratch(scratch))
            | "Count" >> CountBookVocabulary(self.place.folder, name, min_count, scratch)
        )
        named = beam.Map(lambda stats, size: (size, stats.as_dict()), self.size)
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

    def sizes(self) -> Mapping[str, Sequence[tuple[str, ReleasedFile]]]:
        """Returns size → (split, file), if there is text from which the vocabulary is learned."""
        files = self.found.files
        ends = zip(SIMPLEBOOKS.tables, ("", "_2"), strict=True)
        return {
            size: [(one, file) for one in SPLITS for file in files.get(f"{one}{end}", ())]
            for size, end in ends
            if f"train{end}" in files
        }


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
        if names and not names[0].endswith(f"heldout-{0:05d}-of-00050"):
            raise InputError(
                self.config.source,
                f"the first held-out file is missing; there are {name_some(names)}",
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
