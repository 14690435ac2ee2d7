"""Text in another language than the one named, and text that is no sentences."""

import gzip
import os
import pathlib
from typing import Any

import pytest

from corpusmill.transforms.files.language_of_text import ForeignText, find_foreign_text
from corpusmill.transforms.files.text_kinds import describe_format
from tests.makers.news_lines import sample_lines
from tests.tools.case_tables import read_cases
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


@pytest.mark.parametrize("case", read_cases("text_kinds", "formats"), ids=lambda case: case["name"])
def test_records_are_no_sentences(case: dict[str, Any]) -> None:
    lines = [*case.get("head", []), *english()[: case.get("news", 0)]]
    texts = enumerate(english()[: case.get("count", 50)] if "form" in case else [])
    lines += [case["form"].format(n=n, no=", no" * (n % 5), text=text) for n, text in texts]
    found = describe_format("\n".join(lines).split("\n"))
    assert found.startswith(case.get("found", ""))
    assert bool(found) == ("found" in case)


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
REAL_LANGUAGES = dict(read_cases("files/language_of_text", "languages_of_flores"))
