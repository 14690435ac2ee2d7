"""The tables of the languages: files written by hand, and what is generated where they have no entry."""

import datetime
import re
import shutil
from pathlib import Path

import pytest

from corpusmill.pipelines.wiki40b_settings import heading_caveats, language_caveats
from corpusmill.transforms.wikitext import language as languages
from corpusmill.transforms.wikitext.language import (
    SHARED_FILES,
    load_language,
    normalise_name,
    proof_of,
    read_table,
    tables_taken,
)
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES, open_codes
from tests.tools.case_tables import read_cases
from tests.transforms.wikitext.test_language_pages import cases_of

FILES = {path.stem for path in Path(str(languages.TABLES), "languages").glob("*.toml")}

_PHRASE = re.compile(r"\{@(\w+)\}")


def test_the_corpora_are_those_of_the_paper() -> None:
    assert len(LANGUAGE_CODES) == len(set(LANGUAGE_CODES)) == 41
    assert {"en", "zh-cn", "zh-tw", "tl", "vi"} <= set(LANGUAGE_CODES)


@pytest.mark.parametrize(
    ("written", "name"), read_cases("wikitext/language", "names_are_normalised")
)
def test_names_are_normalised(written: str, name: str) -> None:
    assert normalise_name(written) == name
    assert normalise_name(name) == name


@pytest.mark.parametrize(
    ("code", "headings"),
    read_cases("wikitext/language", "headings_of_every_wikipedia_are_dropped"),
)
def test_headings_of_every_wikipedia_are_dropped(code: str, headings: list[str]) -> None:
    assert {normalise_name(heading) for heading in headings} <= load_language(code).dropped_headings


def test_every_file_is_of_a_wikipedia() -> None:
    """A file with another name would never be read."""
    assert FILES - {*SHARED_FILES} - {*open_codes()} == set()


def test_every_file_has_tables_that_are_read() -> None:
    known = {key for code in (*LANGUAGE_CODES, "zh") for key in read_table("languages", code)}
    for name in FILES - {*SHARED_FILES}:
        assert read_table("languages", name).keys() <= known, name


@pytest.mark.parametrize("code", sorted({*LANGUAGE_CODES, *(FILES - {*SHARED_FILES})}))
def test_a_proven_language_has_its_evidence(code: str) -> None:
    proof = proof_of(code)
    assert proof or code not in LANGUAGE_CODES
    if proof:
        assert proof.keys() == {"cases", "reader", "date"}
        assert proof["cases"] == cases_of(code) >= 5
        assert proof["reader"]
        assert type(proof["date"]) is datetime.date


NEW = """
proven = { cases = 9, reader = "Ani", date = 2026-11-28 }
redirect_words = ["#ՎԵՐԱՀՂԵԼ"]
dropped_headings = ["Ծանոթագրություններ"]

[templates]
"Circa" = "մոտ {1}"
"""


@pytest.mark.parametrize("is_proven", [False, True])
def test_a_new_file_is_laid_over_the_generated_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_proven: bool
) -> None:
    generated = load_language("qqq")
    shutil.copytree(str(languages.TABLES), tmp_path / "tables")
    text = NEW if is_proven else NEW.replace("proven", "# proven")
    (tmp_path / "tables/languages/qqq.toml").write_text(text, "utf-8")
    monkeypatch.setattr(languages, "TABLES", tmp_path / "tables")
    language = load_language.__wrapped__("qqq")
    assert {*generated.redirect_words} < {*language.redirect_words}
    assert "ծանոթագրություններ" in language.dropped_headings
    assert language.templates == generated.templates | {"circa": "մոտ {1}"}
    assert generated.wiki_first - language.wiki_first == {"circa"}
    assert (language.months, language.library) == (generated.months, "babel")
    taken = tables_taken("qqq")
    assert taken["proven"] == ("9 cases, Ani, 2026-11-28" if is_proven else "no")
    assert taken["written by hand"] == "qqq.toml"
    assert ["Entries of qqq.toml" in one for one in language_caveats("qqq")] == [True] * (
        not is_proven
    )
    assert not list(heading_caveats("qqq", learns=False))


@pytest.mark.parametrize("code", LANGUAGE_CODES)
def test_every_language_of_the_paper_is_complete(code: str) -> None:
    language = load_language(code)
    assert language.is_complete
    assert language.code == code
    assert language.redirect_words[0] == "#redirect"
    assert "disambig" in language.disambiguation_templates
    assert len(language.disambiguation_templates) > 25
    assert len(language.months) == 12
    assert language.language_label.format(label="L", text="T").endswith("T")
    assert language.date.format(day=1, month="m", year=2) != language.date
    assert {"en", "fr", "ru", "ja", "ar"} <= set(language.language_names)
    assert language.countries["fra"]
    for name in (*language.dropped_headings, *language.templates):
        assert name == normalise_name(name)


@pytest.mark.parametrize(
    ("code", "word"),
    [("uk", "#перенаправлення"), ("de", "#weiterleitung"), ("ja", "#転送"), ("ar", "#تحويل"),
     ("vi", "#đổi"), ("el", "#ανακατευθυνση"), ("zh-tw", "#重定向"), ("ko", "#넘겨주기")],
)  # fmt: skip
def test_redirect_words(code: str, word: str) -> None:
    assert word in load_language(code).redirect_words


def test_tables_are_read_once() -> None:
    assert load_language("uk") is load_language("uk")


@pytest.mark.parametrize("code", ["hy", "be-tarask", "zh-yue", "udm", "qqq"])
def test_a_wiki_without_a_table_has_no_english_words(code: str) -> None:
    language, english = load_language(code), load_language("en")
    assert not language.is_complete
    assert language.library == "babel"
    assert not {*language.phrases.values()} & {*english.phrases.values()} - {"{month} {year}"}
    assert not {*language.language_names.values()} & {"German", "Russian", "English"}
    wanted = {word for pattern in language.templates.values() for word in _PHRASE.findall(pattern)}
    assert (
        wanted <= language.phrases.keys()
    )  # else a template would show its number without the word


@pytest.mark.parametrize(
    ("code", "number", "names"),
    [
        ("be-tarask", 6, {"файл", "выява", "file", "image"}),
        ("zh-yue", 14, {"類", "分類", "category"}),
        ("qqq", 10, {"template"}),
        ("simple", 14, {"category"}),
    ],
)
def test_namespaces_of_mediawiki(code: str, number: int, names: set[str]) -> None:
    assert names <= load_language(code).namespaces[number]


def test_where_tables_were_taken_from() -> None:
    assert tables_taken("uk") == {}
    assert tables_taken("simple")["proven"] == "made by people, for en"
    assert tables_taken("zh-yue")["language"] == "yue"
