"""Text in another language than the one named, and text that is no sentences."""

import gzip
import os
import pathlib

import pytest

from corpusmill.transforms.files.text_kinds import ForeignText, describe_format, find_foreign_text
from tests.makers.news_lines import sample_lines
from tests.tools.pack_samples import SAMPLES

REAL = pathlib.Path(os.environ.get("CORPUSMILL_DATA", "/none"))
UKRAINIAN = (
    "Місто стоїть на березі великої річки, і кожної весни вода піднімається до самих будинків.",
    "Увечері на площі грає оркестр, а діти продають квіти й свіжий хліб із пекарні за рогом.",
)
GERMAN = (
    "Die Stadt liegt am Ufer eines großen Flusses, und in jedem Frühjahr steigt das Wasser bis zum Markt.",
    "Abends spielt auf dem Platz eine Kapelle, und die Kinder verkaufen Blumen und frisches Brot.",
)
CROATIAN = (
    "Grad leži na obali velike rijeke, i svakog se proljeća voda podigne sve do kuća.",
    "Navečer na trgu svira orkestar, a djeca prodaju cvijeće i svježi kruh iz pekare iza ugla.",
)
TABLES = ("Shr 15 cts vs 6 cts 1,234 5,678", "Net 1.2 mln 3.4 mln", "Year 1987 1986")


def english() -> list[str]:
    files = sample_lines(SAMPLES / "news").values()
    return [line.decode("utf-8", "ignore") for lines in files for line in lines][:200]


CASES = {  # name → lines, language named, the one that is told
    "English as Ukrainian": (english(), "uk", "English"),
    "English as German: one script": (english(), "de", "English"),
    "English as Tigrinya, which the library does not know: another script": (
        english(),
        "ti",
        "English",
    ),
    "English as English": (english(), "en", ""),
    "German as German": (GERMAN * 30, "de", ""),
    "German as English": (GERMAN * 30, "en", "German"),
    "Ukrainian as Ukrainian": (UKRAINIAN * 30, "uk", ""),
    "Ukrainian as Russian": (UKRAINIAN * 30, "ru", "Ukrainian"),
    "Croatian as Bosnian: too near": (CROATIAN * 30, "bs", ""),
    "Croatian as Czech": (CROATIAN * 30, "cs", "Croatian"),
    "English as Sardinian, which the library does not know": (english(), "sc", ""),
    "a third in another language": (GERMAN * 20 + UKRAINIAN * 40, "uk", ""),
    "a few lines": (GERMAN * 5, "uk", ""),
    "nothing": ([], "uk", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_languages_are_told_apart(name: str) -> None:
    lines, code, told = CASES[name]
    found = find_foreign_text(lines, code)
    assert (found.language if found else "") == told


def test_passages_are_counted() -> None:
    found = find_foreign_text(GERMAN * 30, "uk")
    assert isinstance(found, ForeignText)
    assert found.passages == found.of == 15


def test_tables_between_sentences_do_no_harm() -> None:
    lines = [line for pair in zip(english(), TABLES * 500, strict=False) for line in pair]
    assert find_foreign_text(lines, "en") is None


def records(form: str, count: int = 50) -> list[str]:
    texts = enumerate(english()[:count])
    return [form.format(n=n, no=", no" * (n % 5), text=text) for n, text in texts]


FORMATS = {  # name → lines, how the description of their format begins
    "CSV": (
        records('{n},{n}-11-02,"He said{no}, ""no"""'),
        "a table: 50 of 50 rows have 3 fields",
    ),
    "CSV with texts of several lines": (
        ["id,text", *records('{n},"One, and\ntwo, and\nthree, {n}"')],
        "a table: 51 of 51 rows have 2 fields, divided by a comma",
    ),
    "TSV with quotation marks": (records('{n}\t"{text}'), "a table: 50 of 50 rows have 2 fields"),
    "semicolons": (records("{n};{n};{n}"), "a table: 50 of 50 rows have 3 fields"),
    "JSON lines": (records('{{"id": {n}, "text": "x"}}'), "JSON: 50 of 50 lines"),
    "JSON over several lines": (["[", *records('{{\n  "id": {n}\n}},'), "]"], "JSON: "),
    "segments in XML": (records("<seg id='{n}'>{text}</seg>"), "markup: 50 of 50 lines"),
    "paragraphs between tags": (records("<p>\n{text}\n</p>"), "markup: 100 of 150 lines"),
    "news": (english(), ""),
    "news with commas": (["In May, he left, and in June, she came."] * 8 + english()[:8], ""),
    "news with quotations": (records('"Well, {n}," he said, "{text}') + english(), ""),
    "news with a few rows and tags": (english() + records("{n},{n},{n}", 20) + ["<br>"] * 9, ""),
    "a few rows": (records("{n},{n},{n}", 9), ""),
    "nothing": ([], ""),
}


@pytest.mark.parametrize("name", FORMATS)
def test_records_are_no_sentences(name: str) -> None:
    lines, description = FORMATS[name]
    found = describe_format("\n".join(lines).split("\n"))
    assert found.startswith(description)
    assert bool(found) == bool(description)


@pytest.mark.skipif(not REAL.is_dir(), reason="CORPUSMILL_DATA names no folder of real data")
def test_real_text_is_in_its_language_and_in_no_other() -> None:
    folder = REAL / "flores" / "flores101_dataset" / "devtest"
    texts = {
        code: (folder / f"{name}.devtest").read_text("utf-8")[:REAL_CHARS].split("\n")
        for code, name in REAL_LANGUAGES.items()
    }
    for path in sorted((REAL / "news").glob("*.gz")):
        with gzip.open(path, "rt", errors="ignore") as lines_of_news:
            texts[path.name] = lines_of_news.read(REAL_CHARS).split("\n")
    for code, lines in texts.items():
        assert describe_format(lines) == ""
        for named in REAL_LANGUAGES:
            is_right = named == code or (named == "en" and code.endswith(".gz"))
            assert (find_foreign_text(lines, named) is None) == is_right, (code, named)


REAL_CHARS = 5_000  # of each
REAL_LANGUAGES = {
    "en": "eng",
    "de": "deu",
    "fr": "fra",
    "ru": "rus",
    "uk": "ukr",
    "el": "ell",
    "vi": "vie",
    "sw": "swh",
    "tr": "tur",
    "ja": "jpn",
    "zh": "zho_simpl",
    "ar": "ara",
    "hi": "hin",
}
