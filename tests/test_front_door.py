"""The public functions of `corpusmill`, and their errors about bad input."""

import bz2
import collections
import doctest
import gzip
import importlib
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import corpusmill
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES, open_codes
from tests.makers.finished_builds import seal
from tests.tools.case_tables import read_cases

PACKAGE = Path(corpusmill.__file__).parent
BEAM = PACKAGE / "beam.py"
SAMPLES = PACKAGE / "pipelines" / "samples"
DUMP = SAMPLES / "wikipedia/enwiki/enwiki-20260101-pages-articles-multistream.xml.bz2"
MODULES = ("_errors", "_wikipedia", "_books", "_news", "_duplicates", "_builds")
HEAD = "*** START OF THIS PROJECT GUTENBERG EBOOK THE POND ***\n\n"
END = "\n\n*** END OF THIS PROJECT GUTENBERG EBOOK THE POND ***\n"
STORY = "The pond lay still, and nobody came. " * 10


def test_import_is_light() -> None:
    code = "import sys; before = set(sys.modules); import corpusmill; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    ours = {name for name in loaded if name.startswith("corpusmill")}
    assert ours == {"corpusmill", "corpusmill._errors"}
    assert len(loaded) < 40
    assert not {"apache_beam", "pyarrow", "numpy"} & set(loaded)


@pytest.mark.parametrize("module", MODULES)
def test_functions_import_no_beam(module: str) -> None:
    code = f"import sys, corpusmill.{module}; print('apache_beam' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_names_are_there() -> None:
    assert corpusmill.__all__ == sorted(corpusmill.__all__)
    assert {*corpusmill.__all__} <= {*dir(corpusmill)}
    for name in corpusmill.__all__:
        assert getattr(corpusmill, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'tidy'"):
        _ = corpusmill.tidy  # type: ignore[attr-defined]


@pytest.mark.parametrize("module", MODULES)
def test_examples(module: str, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpora").symlink_to(demo.resolve())
    monkeypatch.chdir(tmp_path)
    tried = doctest.testmod(importlib.import_module(f"corpusmill.{module}"))
    assert tried.attempted
    assert not tried.failed


def test_every_function_has_an_example() -> None:
    functions = [name for name in corpusmill.__all__ if name.islower()]
    assert len(functions) == 10
    assert all(">>> " in getattr(corpusmill, name).__doc__ for name in functions)


BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_page_of_the_documents(
    demo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The blocks of python.md run one after the other, on the samples under the names of the page."""
    for path in (SAMPLES / "wikipedia").rglob("*-20260101-*"):
        (tmp_path / path.name.replace("20260101", "20261101")).symlink_to(path)
    (tmp_path / "90001-0.txt").symlink_to(SAMPLES / "gutenberg" / "library" / "90001-0.txt")
    (tmp_path / "corpora").symlink_to(demo.resolve())
    monkeypatch.chdir(tmp_path)
    page = (PACKAGE / "pipelines" / "docs" / "python.md").read_text("utf-8")
    blocks = BLOCK.findall(page)
    assert len(blocks) == 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "no such language: 'xx'" in printed
    assert "Число пі" in printed
    assert '\n1904\n" It \'s late , " Dr. Lee said .\n' in printed
    assert "\n0 0 " in printed
    assert "\n1 " not in printed
    built = corpusmill.load("corpora/wiki40b/uk").to_table()["wikidata_id"].to_pylist()
    files = Path("rows").glob("*.parquet")
    written = [name for path in files for name in pq.read_table(path)["wikidata_id"].to_pylist()]
    assert {*built} < {*written}


def test_page_names_everything() -> None:
    page = (PACKAGE / "pipelines" / "docs" / "python.md").read_text("utf-8")
    functions = [name for name in corpusmill.__all__ if name.islower()]
    transforms = re.findall(
        r"^class ([A-Z]\w+)\(beam.PTransform\)", BEAM.read_text("utf-8"), re.MULTILINE
    )
    assert len(transforms) == 13
    assert [name for name in functions if f"`{name}(" not in page] == []
    assert [name for name in transforms if f"| `{name}` |" not in page] == []


TRUNCATED, NO_DUMP, EMPTY = "truncated.xml.bz2", "no-dump.xml", "empty.xml"
BAD: list[tuple[str, Sequence[Any], str]] = [
    *read_cases("front_door", "bad_input"),
    ("clean", ("text", None), "language must be a str, not NoneType"),
    ("clean", (b"text", "en"), "wikitext must be a str, not bytes"),
    ("clean", (None, "en"), "wikitext must be a str, not NoneType"),
    ("clean", ("\ud800", "en"), "not valid Unicode"),
    ("clean", ("x" * (16 * 1024 * 1024 + 1), "en"), "too-long"),
    ("read_pages", (b"dump.xml",), "dump must be a path, not bytes"),
    ("read_templates", (DUMP, "xx"), "no such language"),
    ("strip_gutenberg", (STORY,), "no marks"),
    ("strip_gutenberg", (HEAD.encode(),), "text must be a str, not bytes"),
    ("strip_gutenberg", (HEAD + STORY,), "end of the book"),
    ("strip_gutenberg", (f"{HEAD}Short.{END}",), "almost no text"),
    ("date_book", (b"1893",), "text must be a str, not bytes"),
    ("date_book", (STORY, ["Ann Lee"]), "authors must be"),
    ("date_book", (STORY, 7), "authors must be"),
    ("date_book", (HEAD + STORY,), "end of the book"),
    ("normalize_news", (b"line",), "line must be a str, not bytes"),
    ("tokenize_news", (b"line",), "line must be a str, not bytes"),
    ("tokenize_news", ("\udfff",), "not valid Unicode"),
    ("signature", (b"text",), "text must be a str, not bytes"),
    ("signature", ("\ud800",), "not valid Unicode"),
    ("contaminated", (None, ["text"]), "items must be several texts"),
    ("contaminated", ([b"text"], ["text"]), r"items\[0\] must be a str"),
    ("contaminated", (["text"], ["a", b"text"]), r"documents\[1\] must be a str"),
    ("load", (b".",), "build must be a path"),
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The damaged files of the table, in the working directory."""
    xml = bz2.decompress(DUMP.read_bytes())
    head, _, pages = xml.partition(b"<page>")
    page, close, _ = pages.partition(b"</page>")
    end = b"\n</mediawiki>\n"
    revision = page[page.index(b"<revision>") : page.index(b"</revision>") + len(b"</revision>")]
    written = {
        TRUNCATED: DUMP.read_bytes()[: DUMP.stat().st_size // 2],
        NO_DUMP: b"Once upon a time\n",
        EMPTY: b"",
        "truncated.xml": xml[: len(xml) // 2],
        "truncated.xml.gz": gzip.compress(xml)[:-2000],
        "history.xml": head + b"<page>" + page.replace(revision, 2 * revision) + close + end,
        "malformed.xml": head + b"<page><title>A</title></page>" + end,
    }
    for name, content in written.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)


def exhaust(result: Any) -> None:
    if isinstance(result, Iterator):
        collections.deque(result, maxlen=0)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("function", "arguments", "message"), BAD)
def test_bad_input(function: str, arguments: Sequence[Any], message: str) -> None:
    with pytest.raises(corpusmill.CorpusmillError, match=message):
        exhaust(getattr(corpusmill, function)(*arguments))


def test_error_is_a_value_error() -> None:
    assert issubclass(corpusmill.CorpusmillError, ValueError)
    assert (
        repr(pickle.loads(pickle.dumps(corpusmill.CorpusmillError("x")))) == "CorpusmillError('x')"
    )


@pytest.mark.usefixtures("files")
def test_pages_before_the_damage_are_read() -> None:
    pages = corpusmill.read_pages("truncated.xml")
    assert next(pages).title == "Mt Fuji"


def test_errors_of_the_caller_are_left_alone() -> None:
    pages = corpusmill.read_pages(DUMP)
    next(pages)
    with pytest.raises(KeyError):
        pages.throw(KeyError("mine"))  # type: ignore[attr-defined]


def test_every_wiki_can_be_cleaned() -> None:
    for language in {*open_codes(), *LANGUAGE_CODES}:
        page = corpusmill.clean("'''A''' [[b|c]].\n\n== D ==\nE f.", language)
        assert page.text == "A c.\n\nD\n\nE f.", language


def test_clean_has_the_layout_of_the_corpus() -> None:
    page = corpusmill.clean("A b.\n== C ==\nD.", "en", title="T")
    assert page.wiki40b == (
        "\n_START_ARTICLE_\nT\n_START_PARAGRAPH_\nA b.\n_START_SECTION_\nC\n_START_PARAGRAPH_\nD."
    )
    assert corpusmill.clean("{| class=x\n|}", "en").text == ""


def test_templates_of_another_language() -> None:
    templates = corpusmill.read_templates(DUMP, "en")
    with pytest.raises(corpusmill.CorpusmillError, match="those of en, not of de"):
        corpusmill.clean("text", "de", templates)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_pages_are_those_of_a_build(language: str, demo: Path) -> None:
    """Pages that are read and cleaned here have the text of a build, template for template."""
    name = f"{language}wiki"
    dump = SAMPLES / "wikipedia" / name / f"{name}-20260101-pages-articles-multistream.xml.bz2"
    templates = corpusmill.read_templates(dump, language)
    cleaned = {
        str(page.revision_id): corpusmill.clean(page.text, language, templates, title=page.title)
        for page in corpusmill.read_pages(dump)
        if page.namespace == 0
    }
    rows = corpusmill.load(demo / "wiki40b" / language).to_table().to_pylist()
    assert len(rows) > 10
    for row in rows:
        assert cleaned[row["version_id"]].wiki40b == row["text"]


def test_signatures_without_words_and_without_datasketch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert corpusmill.signature("—").is_empty()
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(corpusmill.CorpusmillError, match=r"pip install 'corpusmill\[datasketch\]'"):
        corpusmill.signature("text")


def test_damaged_builds(demo: Path, tmp_path: Path) -> None:
    (build,) = (demo / "wiki40b" / "en").glob("2*")
    copy = tmp_path / "copy"
    shutil.copytree(build, copy)
    with pytest.raises(corpusmill.CorpusmillError, match="no rows of the split 'dev'"):
        corpusmill.load(copy, "dev")
    (file,) = copy.glob("test-*.parquet")
    content = file.read_bytes()
    for bad in (content[:-10], b"\0" * len(content)):
        file.write_bytes(bad)
        with pytest.raises(corpusmill.CorpusmillError):
            corpusmill.load(copy, "test")
    file.unlink()
    with pytest.raises(corpusmill.CorpusmillError, match="No such file"):
        corpusmill.load(copy, "test")
    file.symlink_to(tmp_path)
    with pytest.raises(corpusmill.CorpusmillError, match="a link, which could lead to any file"):
        corpusmill.load(copy, "test")
    (copy / "manifest.json").write_text("[]")
    with pytest.raises(corpusmill.CorpusmillError, match="does not match"):
        corpusmill.load(copy)
    seal(copy, [])  # type: ignore[arg-type]
    with pytest.raises(corpusmill.CorpusmillError):
        corpusmill.load(copy)


def test_several_builds(demo: Path) -> None:
    with pytest.raises(corpusmill.CorpusmillError, match="builds, such as"):
        corpusmill.load(demo)


def test_contaminated_counts_from_the_beginning() -> None:
    words = "Which of the two bridges over the river Henn was built by the monks of Ostrel Abbey"
    items = ["", words, "short", f"{words}?", words]
    documents = (f"Page {number}. {words if number % 2 else ''}" for number in range(4))
    found = list(corpusmill.contaminated(items, documents))
    assert [(one.document, one.item) for one in found] == [
        (number, item) for number in (1, 3) for item in (1, 4, 3)
    ]
    assert {one.text for one in found} == {words}
    assert list(corpusmill.contaminated([], ["text"])) == []
    assert list(corpusmill.contaminated(["a"], [])) == []
