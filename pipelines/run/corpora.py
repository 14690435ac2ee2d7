"""A table with one row per corpus. It has the facts about a corpus that are not in the code of its builds.

Returns the versions of the software that influences the output of a build.
"""

import importlib
import importlib.metadata
import pathlib
import platform
import unicodedata
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import corpusmill
from corpusmill.transforms.files.builds.ledger import NOT_LINKED, Usual
from corpusmill.transforms.files.builds.manifest import is_released
from corpusmill.transforms.files.records import TITLE_IN_TEXT, CorpusShape, Layout

if TYPE_CHECKING:
    from corpusmill.transforms.files.builds.paper_figures import Paper

_TABLES = "corpusmill.pipelines.refresh.config"
OWN_FILES = f"{_TABLES}:FilesTable"
_PAPERS = "corpusmill.transforms.files.builds.paper_figures"
_MEASURES = "corpusmill.pipelines.inspect.removal_accounts"

MB = 10**6

LINES = {".gz": 2.5, ".bz2": 3.3, ".xz": 3.4, ".tgz": 2.5, ".zip": 2.6}
XML = {".gz": 4.0, ".bz2": 5.5, ".xz": 6.0}
JSON = {".gz": 7.5, ".bz2": 11.0}
"""Suffix of a compressed file → decompressed bytes per compressed byte, measured on the test inputs."""


class MemoryModel(NamedTuple):
    """A model of the peak memory of a build on the in-process runner, for all processes together.

    The values were measured with inputs of at least two sizes; see tests/bench/README.md.
    """

    base_bytes: int  # memory of the launcher and the first worker, for any input
    worker_bytes: int  # memory of each further worker
    input_share: float  # bytes of memory for each byte of decompressed input
    expansion: Mapping[str, float] = LINES

    def text_bytes(self, sizes: Mapping[str, int]) -> int:
        """Returns the approximate decompressed size of files in bytes.

        Args:
          sizes: Path → size of the stored file in bytes.
        """
        return sum(
            int(size * self.expansion.get(pathlib.PurePath(path).suffix, 1.0))
            for path, size in sizes.items()
        )

    def needed(self, text_bytes: int, workers: int) -> int:
        """Returns the approximate peak memory of a build in bytes.

        Args:
          text_bytes: The decompressed size of all inputs.
          workers: The number of worker processes.
        """
        further = self.worker_bytes * (workers - 1)
        return self.base_bytes + further + int(self.input_share * text_bytes)


class CorpusRow(NamedTuple):
    """The facts about a corpus. Objects that are slow to import are given by name: "module:attribute"."""

    name: str  # the command, the kind in refresh.toml, and the top folder of the builds
    module: str  # module with the method
    build: str  # class of the build in that module
    settings: str  # class of the settings in that module
    memory: MemoryModel  # memory that the in-process runner needs
    samples: str  # function (output folder) → settings for the bundled samples, for the demo
    about: str = ""  # the line about the command in `corpusmill --help`
    command: str = ""  # module of the settings, whose docstring is the help page; "" for `module`
    read: tuple[str, ...] | None = ()
    """Roles of the inputs whose text determines the cost of a build. () means all roles; None means that the
    inputs are other builds.
    """

    is_template: bool = True  # Dataflow can start it from a template
    refresh: str = OWN_FILES  # class of its table in refresh.toml; "" if none
    shape: CorpusShape | None = None  # columns and splits; None if its builds have no documents
    layout: Layout | None = None  # form of its text; None if no vocabularies are learned from it
    usual: Usual = Usual()  # usual counts of a full build; a smaller build is a sample or a part
    has_paper_table: bool = False  # `report` prints its builds like Table 2 of the Wiki-40B paper
    paper: str = f"{_PAPERS}:NO_PAPER"  # the Paper about it
    measure: str = ""  # Measure of its documents; "" if documents cannot be removed from its builds
    form: str = ""  # the form of its text, for readers of the report
    released: Mapping[str, Any] = {}  # fields that differ for builds made of the released corpus

    @property
    def unit(self) -> str:
        """The name of the documents of the corpus, such as "pages"."""
        return self.shape.unit if self.shape else "pages"

    def of_settings(self, settings: Mapping[str, Any]) -> "CorpusRow":
        """Returns the row for builds with these settings, which may be made of the released corpus."""
        return self._replace(**self.released) if is_released(settings) else self

    def load(self) -> ModuleType:
        """Imports and returns the module that defines the builds of the corpus."""
        return importlib.import_module(self.module)

    def classes(self) -> tuple[Any, Any]:
        """Returns the class of the builds, and the class of their settings."""
        module = self.load()
        return getattr(module, self.build), getattr(module, self.settings)


def load(name: str) -> Any:
    """Imports and returns an object, given its name in the form "module:attribute"."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _row(name: str, build: str, memory: MemoryModel, **others: Any) -> CorpusRow:
    """Returns the row of a corpus whose modules and samples have the same name as its command.

    Args:
      name: The name of the command.
      build: The name of the class of its builds.
      memory: The memory that the in-process runner needs.
      others: Other fields of CorpusRow, which replace the usual values.
    """
    named: dict[str, Any] = {
        "module": f"corpusmill.pipelines.{name}",
        "settings": f"{build}Config",
        "samples": f"corpusmill.pipelines.sample_builds:{name}",
        "command": f"corpusmill.pipelines.{name}_settings",
    }
    return CorpusRow(name=name, build=build, memory=memory, **named | others)


_USUAL_BOOKS = Usual(
    100,
    {
        "read-books/no-ebook-number": 0.1,
        "read-books/html-page": 0.1,
        "read-books/empty-file": 0.1,
        "strip-books/kept-too-little": 0.1,
        "date-books/undated": 0.5,
    },
)
# Most data between steps is in files. The memory per byte of input is for templates and for
# positions in the files.
_WIKI40B = MemoryModel(500 * MB, 400 * MB, 0.02, XML)

CORPORA = (
    _row(
        "entities",
        "Entities",
        MemoryModel(500 * MB, 300 * MB, 0.015, JSON),  # at most 130 bytes per item
        about="makes an entity table, which all languages of Wiki-40B use, from a Wikidata dump",
        refresh=f"{_TABLES}:EntitiesTable",
        shape=CorpusShape("items", "numeric_id", "", (), splits=("",)),
        usual=Usual(1_000),
    ),
    _row(
        "wiki40b",
        "Wiki40b",
        _WIKI40B,
        about="builds Wiki-40B from Wikipedia dumps: cleaned articles about Wikidata entities",
        read=("dump",),
        refresh=f"{_TABLES}:Wiki40bTable",
        shape=CorpusShape("articles", "wikidata_id", TITLE_IN_TEXT, ("text",)),
        layout=Layout("text", "article"),
        usual=Usual(
            100,
            {
                "read-dump/malformed-xml": 0.01,
                "screen-pages/empty-source": 0.1,
                "screen-pages/not-wikitext": 0.1,
                "clean-wikitext/empty-after-cleaning": 0.5,
                "join-wikidata/deleted": 0.1,
                NOT_LINKED: 0.5,
            },
        ),
        has_paper_table=True,
        paper=f"{_PAPERS}:WIKI40B",
        measure=f"{_MEASURES}:ARTICLES",
        form="The lines _START_ARTICLE_, _START_SECTION_ and _START_PARAGRAPH_ are markers: a title, a"
        " heading or paragraphs follow. _NEWLINE_ separates paragraphs and items of lists. Other wiki"
        " markup was removed.",
    ),
    _row(
        "lm1b",
        "Lm1b",
        MemoryModel(450 * MB, 150 * MB, 0.2),
        about="builds One Billion Word from news: deduplicated, tokenised, shuffled, held-out part",
        refresh=f"{_TABLES}:NewsTable",
        shape=CorpusShape(
            "sentences",
            "",
            "",
            ("text",),
            splits=("train", "test"),
            repeats=True,
            why_moves="where the shuffle puts a sentence depends on all sentences",
        ),
        layout=Layout(
            "text",
            "",
            "Sentences of One Billion Word are tokenised: there is a space before most punctuation marks.",
        ),
        paper=f"{_PAPERS}:LM1B",
        measure=f"{_MEASURES}:SENTENCES",
        form="The sentences are tokenised: spaces separate words and punctuation marks.",
        usual=Usual(
            10_000,
            {
                "read-lines/malformed-utf-8": 0.1,
                "read-lines/line-too-long": 0.01,
                "duplicates": 0.95,
            },
        ),
    ),
    _row(
        "pg19",
        "Pg19",
        MemoryModel(500 * MB, 260 * MB, 0.3),
        about="builds PG-19 from Project Gutenberg: whole English books before 1919, dated",
        read=("books",),
        refresh=f"{_TABLES}:GutenbergTable",
        shape=CorpusShape(
            "books",
            "book_id",
            "book_title",
            ("book_text",),
            ("book_title", "publication_date", "latest_year"),
        ),
        layout=Layout("book_text", "book"),
        paper=f"{_PAPERS}:PG19",
        measure=f"{_MEASURES}:BOOKS",
        form="The text is that of the files, with their line ends, without what Project Gutenberg has"
        " added. With the setting mask_words, <DW> stands for some words.",
        usual=_USUAL_BOOKS,
    ),
    _row(
        "simplebooks",
        "SimpleBooks",
        MemoryModel(600 * MB, 260 * MB, 0.5),
        about="builds SimpleBooks from Project Gutenberg: long books in simple English without overlap",
        read=("books",),
        refresh=f"{_TABLES}:GutenbergTable",
        shape=CorpusShape(
            "books",
            "book_id",
            "book_title",
            ("text", "raw_text"),
            ("book_title",),
            why_moves="which books are held out depends on all books that are kept",
        ),
        layout=Layout("raw_text", "lines"),
        paper=f"{_PAPERS}:SIMPLEBOOKS",
        measure=f"{_MEASURES}:TOKENIZED_BOOKS",
        form="The text is tokenised, a paragraph on each line: spaces separate words and punctuation marks."
        " 1 @,@ 000 stands for 1,000. Underscores mark italics, as in the files.",
        usual=_USUAL_BOOKS,
        released={
            "shape": CorpusShape("paragraphs", "", "", ("text",), repeats=True),
            "layout": Layout("text", "lines"),
            "measure": "",
            "usual": Usual(100),
        },
    ),
    _row(
        "flores101",
        "Flores101",
        MemoryModel(500 * MB, 300 * MB, 0.2, XML),
        about="builds FLORES-101: draws sentences, checks and reviews translations, writes the benchmark",
        is_template=False,
        refresh=f"{_TABLES}:SitesTable",
        paper=f"{_PAPERS}:FLORES101",
        shape=CorpusShape(
            "sentences",
            "article",
            "url",
            ("text",),
            ("topic", "has_image", "has_hyperlink"),
            ("dev", "devtest", "test"),
            repeats=True,
            withheld="test",
            why_moves="articles are drawn anew from all that have a passage",
        ),
        released={
            "shape": CorpusShape(
                "sentences",
                "id",
                "url",
                ("text",),
                ("topic", "has_image", "has_hyperlink"),
                ("dev", "devtest"),
            ),
        },
    ),
    _row(
        "subwords",
        "Subwords",
        MemoryModel(500 * MB, 300 * MB, 0.5),
        about="trains one SentencePiece vocabulary for many languages, from a sample of each",
        read=None,
        refresh="",
    ),
    _row(
        "tokenize",
        "Tokens",
        MemoryModel(500 * MB, 300 * MB, 0.0),
        about="makes token files for Megatron-LM from finished builds",
        module="corpusmill.pipelines.tokens",
        settings="TokensConfig",
        command="corpusmill.pipelines.tokens_settings",
        read=None,
        is_template=False,
        refresh="",
    ),
    _row(
        "ngrams",
        "Ngrams",
        MemoryModel(500 * MB, 300 * MB, 0.0),
        about="estimates an n-gram model (ARPA) from a finished build, and scores held-out text",
        read=None,
        refresh="",
    ),
)


def rows() -> dict[str, CorpusRow]:
    """Returns name → row for all corpora. A corpus comes after the corpora that its builds need."""
    return {row.name: row for row in CORPORA}


def row_of(corpus: Any) -> CorpusRow:
    """Returns the row of the corpus to which a build belongs.

    Args:
      corpus: The build. Its row is found by the Python module of its class, not by the name of its folder,
        because users may have renamed the folder.
    """
    module = type(corpus).__module__
    named = next((row for row in rows().values() if row.module == module), None)
    return named or rows()[corpus.path[0]].of_settings(corpus.settings())


def row_of_build(manifest: Mapping[str, Any]) -> CorpusRow | None:
    """Returns the row of the corpus of a finished build, given its manifest; None if it has none."""
    row = rows().get(manifest["corpus"])
    return row and row.of_settings(manifest.get("settings", {}))


def shape_of(manifest: Mapping[str, Any]) -> CorpusShape | None:
    """Returns the shape of the rows of a finished build; None if it has no documents."""
    row = row_of_build(manifest)
    return row and row.shape


def layout_of(manifest: Mapping[str, Any]) -> Layout | None:
    """Returns the layout of the text of a finished build; None if no vocabularies are learned from it."""
    row = row_of_build(manifest)
    return row and row.layout


def paper_of(signature: str) -> "Paper":
    """Returns the paper about the corpus of a build, given the signature of the build."""
    row = rows().get(signature.partition("|")[0])
    paper: Paper = load(row.paper if row else CorpusRow._field_defaults["paper"])
    return paper


def shapes() -> dict[str, CorpusShape]:
    """Returns name of a corpus → its shape: the columns, the splits and the name of its documents.

    Corpora whose builds have no documents are left out.
    """
    return {row.name: row.shape for row in rows().values() if row.shape}


def layouts() -> dict[str, Layout]:
    """Returns name of a corpus → its Layout: the column that contains the text, and the format of the text.

    Only corpora from which vocabularies can be learned have a layout.
    """
    return {row.name: row.layout for row in rows().values() if row.layout}


VERSION = corpusmill.__version__

_LIBRARIES = ("apache-beam", "msgspec", "protobuf", "pyarrow", "sentencepiece", "zstandard")


def code_versions(*more_libraries: str) -> dict[str, str]:
    """Returns name → version of corpusmill, Python, Unicode and libraries, for the manifest.

    Args:
      more_libraries: Libraries in addition to those that every build uses.
    """
    libraries = sorted((*_LIBRARIES, *more_libraries))
    versions = {name: importlib.metadata.version(name) for name in libraries}
    python = ".".join(platform.python_version_tuple()[:2])
    own = {"python": python, "unicode": unicodedata.unidata_version}
    return {"corpusmill": VERSION, **versions, **own}
