import csv
import pickle
import re
import tomllib
import urllib.parse
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.records import DOMAINS, Page, Reason
from corpusmill.transforms.wikipedia.sites import categories_of, load_site
from corpusmill.transforms.wikitext import language
from tests.tools.case_tables import read_tables
from tests.tools.real_data import DATA, needs_real_data

CASES = read_tables("sites")
NAMESPACES = {6: ["File"], 10: ["Template"], 14: ["Category"]}


def page(title: str, text: str, namespace: int = 0, **fields: object) -> Page:
    return Page(1, namespace, title, 2, "wikitext", False, False, text)._replace(**fields)  # type: ignore[arg-type]


def slug(site: str, title: str, text: str, namespace: int = 0) -> str:
    reason = load_site(site).reason_to_reject(page(title, text, namespace))
    return reason.slug if reason else ""


def paragraphs(site: str, wikitext: str) -> list[str]:
    cleaned = load_site(site).cleaner(NAMESPACES).clean(wikitext, "Title")
    return [text for section in cleaned.sections for text in section.paragraphs]


def test_each_domain_of_the_corpus_is_a_site() -> None:
    assert [load_site(name).dbname for name in DOMAINS] == [
        "enwikinews",
        "enwikibooks",
        "enwikivoyage",
        "enwiki",
    ]


def test_a_site_that_is_none() -> None:
    with pytest.raises(
        ValueError, match="unknown site 'wikiquote'; expected one of wikinews, wikibooks"
    ):
        load_site("wikiquote")
    with pytest.raises(ValueError, match="wikinews has no books"):
        load_site("wikinews", all_books=True)


KEYS = {
    *("dbname", "address", "namespaces", "title_prefix", "drops_covers", "required"),
    *("dropped_headings", "silent_templates", "silent_prefixes", "templates", "definitions"),
    *("unwanted_templates", "unwanted_titles", "pictureless_templates", "sidebar_links"),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_the_tables_of_a_site_hold_what_is_read(name: str) -> None:
    tables = tomllib.loads((Path(language.__file__).parent / "sites" / f"{name}.toml").read_text())
    assert set(tables) <= KEYS
    for pattern in tables["unwanted_titles"].values():
        assert not re.search(pattern, "A quiet town by the sea")


@pytest.mark.parametrize("name", DOMAINS)
def test_a_site_goes_to_workers(name: str) -> None:
    site = load_site(name)
    reason_to_reject = pickle.loads(pickle.dumps(site.reason_to_reject))
    assert reason_to_reject(page("Main Page", "Welcome.")).slug == "main-page"
    assert pickle.loads(pickle.dumps(site)) == site


@pytest.mark.parametrize(("name", "title", "url"), CASES["urls"])
def test_urls(name: str, title: str, url: str) -> None:
    assert load_site(name).url_of(title) == url


@given(st.text(st.characters(codec="utf-8")))
def test_a_url_tells_its_title(title: str) -> None:
    address, _, path = load_site("wikinews").url_of(title).partition("/wiki/")
    assert address == "https://en.wikinews.org"
    assert path.isascii()
    assert not set(path) & set(" \"'?#&+<>[]{}|")
    assert urllib.parse.unquote(path).replace("_", " ") == title.replace("_", " ")


@pytest.mark.parametrize(("title", "text", "expected"), CASES["wikinews"])
def test_screening_of_wikinews(title: str, text: str, expected: str) -> None:
    assert slug("wikinews", title, text) == expected


@pytest.mark.parametrize(("namespace", "title", "text", "expected"), CASES["wikibooks"])
def test_screening_of_wikibooks(namespace: int, title: str, text: str, expected: str) -> None:
    assert slug("wikibooks", title, text, namespace) == expected


def test_all_of_wikibooks() -> None:
    site = load_site("wikibooks", all_books=True)
    assert site.reason_to_reject(page("Golf", "A golf ball is small.")) is None
    assert site.reason_to_reject(page("Golf/Clubs", "A club is long.")) is None
    assert site.reason_to_reject(page("Wikijunior:Bugs/Ant", "Ants.", 110)) is None
    cover = site.reason_to_reject(page("Golf", "[[Golf/Clubs]]"))
    assert cover == Reason("book-cover")
    assert load_site("wikibooks").reason_to_reject(page("Golf/Clubs", "A club is long.")) == Reason(
        "other-book", "not in Wikijunior:"
    )


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, None),
        ({"namespace": 14}, Reason("other-namespace", "14")),
        ({"namespace": 110}, Reason("other-namespace", "110")),
        ({"is_redirect": True}, Reason("redirect")),
        ({"is_deleted": True, "text": ""}, Reason("deleted", "text suppressed")),
        ({"content_model": "css"}, Reason("not-wikitext", "css")),
        (
            {"text": "Henn: a town, or a hill\n{{disamb}}"},
            Reason("disambiguation", "template disamb"),
        ),
        ({"text": "A town. {{vfd}}"}, Reason("up-for-deletion", "template vfd")),
        ({"title": "Main Page"}, Reason("main-page", "title 'Main Page'")),
        ({"text": "A town.\n{{outlinecity}}"}, None),
    ],
)
def test_screening_of_wikivoyage(changed: dict[str, object], expected: Reason | None) -> None:
    town = page("Henn", "'''Henn''' is a town.")
    assert load_site("wikivoyage").reason_to_reject(town._replace(**changed)) == expected  # type: ignore[arg-type]


def test_screening_of_wikipedia() -> None:
    assert slug("wikipedia", "Henn", "'''Henn''' is a river.") == ""
    assert slug("wikipedia", "Henn", "{{disambiguation|geo}}") == "disambiguation"
    assert slug("wikipedia", "Main Page", "Welcome.") == "main-page"
    assert slug("wikipedia", "List of rivers", "The Henn is a river.") == "list"
    assert slug("wikipedia", "Listof", "'Listof' is a river.") == ""


@pytest.mark.parametrize(("site", "wikitext", "expected"), CASES["text"])
def test_a_reader_sees(site: str, wikitext: str, expected: list[str]) -> None:
    assert paragraphs(site, wikitext) == expected


def test_what_a_site_defines_counts_as_rendered() -> None:
    cleaner = load_site("wikivoyage").cleaner(NAMESPACES)
    text = "A {{km|5}} way past {{geo|1|2}} the {{see|name=x}} mill, {{oddity}} and all."
    assert cleaner.clean(text, "x").unrendered == {"oddity": 1}


@pytest.mark.parametrize(("site", "wikitext", "expected"), CASES["pictures"])
def test_pictures(site: str, wikitext: str, expected: bool) -> None:
    assert load_site(site).has_image(wikitext) is expected


@pytest.mark.parametrize(("wikitext", "expected"), CASES["categories"])
def test_categories(wikitext: str, expected: list[str]) -> None:
    assert [*categories_of(wikitext)] == expected


@needs_real_data
def test_the_urls_of_flores_101_are_those_of_their_titles() -> None:
    urls: set[tuple[str, str]] = set()
    for split in ("dev", "devtest"):
        path = DATA / f"flores/flores101_dataset/metedata_{split}.tsv"
        with path.open(encoding="utf-8", newline="") as rows:
            urls.update((row["domain"], row["URL"]) for row in csv.DictReader(rows, delimiter="\t"))
    assert len(urls) == 562
    for domain, url in urls:
        title = urllib.parse.unquote(url.partition("/wiki/")[2]).replace("_", " ")
        assert load_site(domain).url_of(title) == url


@needs_real_data
def test_how_many_articles_of_flores_101_are_of_other_books() -> None:
    titles: set[str] = set()
    for split in ("dev", "devtest"):
        path = DATA / f"flores/flores101_dataset/metedata_{split}.tsv"
        titles.update(
            urllib.parse.unquote(line.partition("\t")[0].partition("/wiki/")[2])
            for line in path.read_text(encoding="utf-8").splitlines()
            if "\twikibooks\t" in line
        )
    assert len(titles) == 179
    wanted = load_site("wikibooks").title_prefix
    assert sum(not title.startswith(wanted) for title in titles) == 107
    everything = load_site("wikibooks", all_books=True)
    for title in titles:
        article = page(title.replace("_", " "), "Text.", 110 if title.startswith(wanted) else 0)
        assert everything.reason_to_reject(article) is None, title


@needs_real_data
@pytest.mark.parametrize(("file", "count", "sentence"), CASES["the_prose_of_real_guides"])
def test_the_prose_of_real_guides(file: str, count: int, sentence: str) -> None:
    site = load_site("wikivoyage")
    wikitext = (DATA / "wikimedia/enwikivoyage" / file).read_text(encoding="utf-8")
    cleaned = site.cleaner(NAMESPACES).clean(wikitext, "Title")
    texts = [text for section in cleaned.sections for text in section.paragraphs]
    assert cleaned.unrendered == {}
    assert len(texts) == count
    assert any(sentence in text for text in texts)
    assert not [text for text in texts if any(sign in text for sign in ("{", "}", "[[", "|", "=="))]
    assert not [text for text in texts if text[-1] not in '.!?:)"']
    assert site.has_image(wikitext)
