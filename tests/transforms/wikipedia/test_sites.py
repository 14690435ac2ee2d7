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
from corpusmill.transforms.wikipedia.sites import SITE_NAMES, categories_of, load_site
from corpusmill.transforms.wikitext import language
from tests.tools.real_data import DATA, needs_real_data

NAMESPACES = {6: ["File"], 10: ["Template"], 14: ["Category"]}


def page(title: str, text: str, namespace: int = 0, **fields: object) -> Page:
    return Page(1, namespace, title, 2, "wikitext", False, False, text)._replace(**fields)  # type: ignore[arg-type]


def slug(site: str, title: str, text: str, namespace: int = 0) -> str:
    reason = load_site(site).reason_to_reject(page(title, text, namespace))
    return reason.slug if reason else ""


def paragraphs(site: str, wikitext: str) -> list[str]:
    cleaned = load_site(site).cleaner(NAMESPACES).clean(wikitext, "Title")
    return [text for section in cleaned.sections for text in section.paragraphs]


def test_the_sites_are_the_domains_of_the_corpus() -> None:
    assert SITE_NAMES == DOMAINS
    assert [load_site(name).dbname for name in SITE_NAMES] == [
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


@pytest.mark.parametrize("name", SITE_NAMES)
def test_the_tables_of_a_site_hold_what_is_read(name: str) -> None:
    tables = tomllib.loads((Path(language.__file__).parent / "sites" / f"{name}.toml").read_text())
    assert set(tables) <= KEYS
    for pattern in tables["unwanted_titles"].values():
        assert not re.search(pattern, "A quiet town by the sea")


@pytest.mark.parametrize("name", SITE_NAMES)
def test_a_site_goes_to_workers(name: str) -> None:
    site = load_site(name)
    reason_to_reject = pickle.loads(pickle.dumps(site.reason_to_reject))
    assert reason_to_reject(page("Main Page", "Welcome.")).slug == "main-page"
    assert pickle.loads(pickle.dumps(site)) == site


@pytest.mark.parametrize(
    ("name", "title", "url"),
    [
        ("wikinews", "FAA: Test, in Texas", "https://en.wikinews.org/wiki/FAA:_Test,_in_Texas"),
        ("wikinews", "Mayor's 'no'", "https://en.wikinews.org/wiki/Mayor%27s_%27no%27"),
        ("wikinews", 'A "B" & C?', "https://en.wikinews.org/wiki/A_%22B%22_%26_C%3F"),
        ("wikinews", "Bank pays $4; more", "https://en.wikinews.org/wiki/Bank_pays_$4;_more"),
        ("wikibooks", "Wikijunior:Bugs/Ant", "https://en.wikibooks.org/wiki/Wikijunior:Bugs/Ant"),
        ("wikivoyage", "Orléans", "https://en.wikivoyage.org/wiki/Orl%C3%A9ans"),
        ("wikivoyage", "東京 (city)", "https://en.wikivoyage.org/wiki/%E6%9D%B1%E4%BA%AC_(city)"),
        ("wikipedia", "C++ 50%", "https://en.wikipedia.org/wiki/C%2B%2B_50%25"),
    ],
)
def test_urls(name: str, title: str, url: str) -> None:
    assert load_site(name).url_of(title) == url


@given(st.text(st.characters(codec="utf-8")))
def test_a_url_tells_its_title(title: str) -> None:
    address, _, path = load_site("wikinews").url_of(title).partition("/wiki/")
    assert address == "https://en.wikinews.org"
    assert path.isascii()
    assert not set(path) & set(" \"'?#&+<>[]{}|")
    assert urllib.parse.unquote(path).replace("_", " ") == title.replace("_", " ")


NEWS = "{{date|May 4, 2011}}\nA mayor has resigned.\n{{publish}}"


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Mayor resigns", NEWS, ""),
        ("Mayor resigns", "A mayor resigned.\n[[Category:Published]]", ""),
        ("Mayor resigns", "A mayor resigned.\n[[category: published |M]]", ""),
        ("Mayor resigns", "A mayor resigned.\n{{Archived}}", ""),
        ("Mayor resigns", "A mayor resigned.\n{{ Template:Publish }}", ""),
        ("Mayor resigns", "A mayor resigned.", "unpublished"),
        ("Mayor resigns", "A mayor resigned.<!-- {{publish}} -->", "unpublished"),
        ("Mayor resigns", "A mayor resigned.<nowiki>{{publish}}</nowiki>", "unpublished"),
        ("Mayor resigns", "A mayor resigned.[[:Category:Published]]", "unpublished"),
        ("Mayor resigns", NEWS + "{{develop}}", "unfinished"),
        ("Mayor resigns", NEWS + "<!-- {{develop}} -->", ""),
        ("Mayor resigns", "{{Abandoned|2011-05-09}} A mayor.", "unfinished"),
        ("Mayor resigns", "{{review}} A mayor.", "unfinished"),
        ("Mayor resigns", "{{Retracted}}" + NEWS, "retracted"),
        ("Mayor resigns", "{{delete|old}}" + NEWS, "up-for-deletion"),
        ("Mayor", "'''Mayor''':\n{{disambig}}" + NEWS, "disambiguation"),
        ("News briefs: May 4, 2011", NEWS, "brief"),
        ("News brief:May 4", NEWS, "brief"),
        ("Wikinews Shorts: May 4, 2011", NEWS, "brief"),
        ("Mayor resigns", NEWS + "{{shorts}}", "brief"),
        ("Shorts are in fashion again", NEWS, "brief"),
        ("Wikinews interviews a mayor", NEWS, ""),
        ("Wikinews:Water cooler", NEWS, "no-news"),
        ("Portal/Europe", NEWS, "no-news"),
        ("Main Page/Lead 1", NEWS, "main-page"),
        ("Mayor", "#REDIRECT [[Mayor resigns]]", "redirect"),
    ],
)
def test_screening_of_wikinews(title: str, text: str, expected: str) -> None:
    assert slug("wikinews", title, text) == expected


@pytest.mark.parametrize(
    ("namespace", "title", "text", "expected"),
    [
        (110, "Wikijunior:Bugs/Ant", "Ants are small.", ""),
        (0, "Wikijunior:Bugs/Ant", "Ants are small.", ""),
        (0, "Bugs/Ant", "Ants are small.", "other-book"),
        (0, "Wikijunior Bugs", "Ants are small.", "other-book"),
        (4, "Wikibooks:Reading room", "Ants are small.", "other-namespace"),
        (102, "Cookbook:Soup", "Soup is hot.", "other-namespace"),
        (110, "Wikijunior:Bugs", "See:\n* [[Wikijunior:Bugs/Ant|Ant]]", "book-cover"),
        (110, "Wikijunior:Big Cats", "* [[Wikijunior:Big_Cats/Lion]]", "book-cover"),
        (110, "Wikijunior:Big Cats", "* [[/Lion/]]", "book-cover"),
        (110, "Wikijunior:Big Cats", "{{:Wikijunior:Big Cats/Lion}}", "book-cover"),
        (110, "Wikijunior:Bugs", "Ants are small. See [[Wikijunior:Cats/Lion]].", ""),
        (110, "Wikijunior:Bugs/Ant", "Next: [[Wikijunior:Bugs/Ant/Queen]]", ""),
        (110, "Wikijunior:Bugs/Print version", "Ants.", "print-version"),
        (110, "Wikijunior:Bugs/All Pages", "Ants.", "print-version"),
        (110, "Wikijunior:Bugs/Contents", "Ants.", "contents-page"),
        (110, "Wikijunior:Bugs/Insects Intro", "Ants.", ""),
        (110, "Wikijunior:Bugs/Authors", "Ann.", "about-the-book"),
        (110, "Wikijunior:Bugs/Navigation", "Ants.", "navigation"),
        (110, "Wikijunior:Bugs/Template/Page", "Ants.", "navigation"),
        (110, "Wikijunior:Bugs/Glossary", "Ants.", "reference-page"),
        (110, "Wikijunior:Bugs/Quiz", "Ants.", "reference-page"),
        (110, "Wikijunior:Bugs/Testing Ants", "Ants.", ""),
        (110, "Wikijunior:Main Page", "Hello.", "main-page"),
        (110, "Wikijunior", "Hello.", "main-page"),
        (110, "Wikijunior:Bugs/Ant", "{{query}} Ants.", "up-for-deletion"),
        (110, "Wikijunior:Bugs/Ant", "", "empty-source"),
        (110, "Wikijunior:Bugs/Ant", "#REDIRECT [[Wikijunior:Bugs/Bee]]", "redirect"),
    ],
)
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


@pytest.mark.parametrize(
    ("site", "wikitext", "expected"),
    [
        ("wikinews", "The {{w|Anna Muster|mayor}} of {{w|Paris}} left.", ["The mayor of Paris left."]),
        ("wikinews", "In {{w|Paris|lang=fr}} it rains.", ["In Paris it rains."]),
        ("wikinews", "In [[w:Paris|Paris]] it rains.", ["In Paris it rains."]),
        ("wikinews", "{{date|May 4, 2011}}\n{{byline|location=Oslo}}\nIt rains.", ["It rains."]),
        ("wikinews", "It rains.\n{{QuoteLeft|So wet!|A man}}\nIt pours.", ["It rains.", "It pours."]),
        ("wikinews", "It rains.\n{{haveyoursay}}\n== Sources ==\nA paper said so.", ["It rains."]),
        ("wikinews", "It rains.\n==Related news==\nIt rained before.", ["It rains."]),
        ("wikinews", "It rains.\n== Sister links ==\nSee there.", ["It rains."]),
        ("wikinews", "It rains. {{image source|x.jpg}}", ["It rains."]),
        ("wikinews", "It costs {{EUR|5}}.", ["It costs €5."]),
        ("wikibooks", "{{Wikijunior:Bugs/TOC}}\nAnts are small.\n{{BookCat}}", ["Ants are small."]),
        ("wikibooks", "{{/Navigation}}\nAnts are small. {{:Bugs/Bee}}", ["Ants are small."]),
        ("wikibooks", "Ants {{definition|a pest}} are small.", ["Ants are small."]),
        ("wikibooks", "Ants.\n== Glossary ==\nPest: an ant.\n== Size ==\nTiny.", ["Ants.", "Tiny."]),
        ("wikivoyage", "A lake, {{km|10}} off.", ["A lake, 10 km (6.2 mi) off."]),
        ("wikivoyage", "It is {{C|20}}, not {{F|20}}.", ["It is 20 °C (68 °F), not 20 °F (−7 °C)."]),
        ("wikivoyage", "Go {{mi|3-5}} at {{mph|60}}.", ["Go 3–5 mi (4.8–8.0 km) at 60 mph (97 km/h)."]),
        ("wikivoyage", "The {{marker|name=[[Old Mill]]|lat=1}} is old.", ["The Old Mill is old."]),
        ("wikivoyage", "Fly to {{marker|name=Oslo|lat=1}} ({{IATA|OSL}}).", ["Fly to Oslo (OSL IATA)."]),
        ("wikivoyage", "Get off at {{station|Old Mill|1|2}}.", ["Get off at Old Mill."]),
        ("wikivoyage", "Call {{phone|+1 555 0100}}. {{dead link|May 2020}}", ["Call +1 555 0100."]),
        ("wikivoyage", "A town.\n{{infobox|Warning|It rains.}}\nIt is old.", ["A town.", "It is old."]),
        ("wikivoyage", "{{pagebanner|A.jpg}}\nA town.\n{{geo|1|2}}\n{{guidecity}}", ["A town."]),
        ("wikivoyage", "A town.\n{{see\n| name=Mill | content=It is old.\n}}", ["A town."]),
        ("wikivoyage", "* {{eat| name=Mill | content=It is old. }}\nA town.", ["A town."]),
        ("wikivoyage", "A town.\n{{cautionbox|It rains.}}\n{{isPartOf|Norway}}", ["A town."]),
        ("wikivoyage", "A town.\n\n[[WikiPedia:Henn]]\n[[Commons:Henn]]", ["A town."]),
        ("wikivoyage", "A {{rint|oslo|1}} train for {{CNY|5}}.", ["A train for ¥5."]),
    ],
)  # fmt: skip
def test_a_reader_sees(site: str, wikitext: str, expected: list[str]) -> None:
    assert paragraphs(site, wikitext) == expected


def test_what_a_site_defines_counts_as_rendered() -> None:
    cleaner = load_site("wikivoyage").cleaner(NAMESPACES)
    text = "A {{km|5}} way past {{geo|1|2}} the {{see|name=x}} mill, {{oddity}} and all."
    assert cleaner.clean(text, "x").unrendered == {"oddity": 1}


@pytest.mark.parametrize(
    ("site", "wikitext", "expected"),
    [
        ("wikinews", "[[File:Mayor.jpg|thumb|A [[mayor]].]] Text.", True),
        ("wikinews", "[[image:a b.PNG]] Text.", True),
        ("wikinews", "[[File:Flag of X.svg|20px]] Text.", False),
        ("wikinews", "[[File:Flag of X.svg|border|x16px|link=X]] Text.", False),
        ("wikinews", "[[File:Map.svg|300px|left]] Text.", True),
        ("wikinews", "[[File:Map.svg|thumb|40px|A map]] Text.", True),
        ("wikinews", "[[File:Speech.ogg|thumb]] Text.", False),
        ("wikinews", "[[:File:Mayor.jpg]] Text.", False),
        ("wikinews", "<!-- [[File:Mayor.jpg|thumb]] --> Text.", False),
        ("wikinews", "<nowiki>[[File:Mayor.jpg]]</nowiki> Text.", False),
        ("wikinews", "<gallery>\nFile:Mayor.jpg|A mayor\n</gallery>", True),
        ("wikinews", "<gallery>\nFile:Speech.ogg\n</gallery>", False),
        ("wikinews", "{{Topic|image=Mayor.jpg|caption=A mayor}}", True),
        ("wikinews", "{{Topic\n| Image:Mayor.jpeg\n}}", True),
        ("wikinews", "See [http://x.org/a.jpg the picture] of a.jpg", False),
        ("wikinews", "Text.", False),
        ("wikivoyage", "{{pagebanner|Skyline.jpg}} Text.", False),
        ("wikivoyage", "{{pagebanner|A.jpg}} [[File:Mill.jpg|thumb|A mill]]", True),
        ("wikivoyage", "* {{see | name={{w|Mill}} | image=Mill.jpg }}", False),
        ("wikivoyage", "{{see|name=Mill}} {{quickbar|map=Henn map.png}}", True),
        ("wikivoyage", "{{routebox|image1=A1 icon.png|major1=Oslo}}", False),
    ],
)
def test_pictures(site: str, wikitext: str, expected: bool) -> None:
    assert load_site(site).has_image(wikitext) is expected


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("[[Category:Crime and law]] [[Category:Oslo]]", ("Crime and law", "Oslo")),
        ("[[category:Crime_and  law|sort]]\n[[ Category : Oslo ]]", ("Crime and law", "Oslo")),
        ("[[Category:Oslo]] [[Category:Oslo|b]]", ("Oslo",)),
        ("[[:Category:Oslo]] [[Oslo]] <!-- [[Category:Law]] -->", ()),
        ("[[Category: ]]", ()),
        ("[[Category:Éire]] [[Category:日本]]", ("Éire", "日本")),
        ("", ()),
    ],
)
def test_categories(wikitext: str, expected: tuple[str, ...]) -> None:
    assert categories_of(wikitext) == expected


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
@pytest.mark.parametrize(
    ("file", "count", "sentence"),
    [
        ("Boston.wikitext", 158, "over 110 in (2,800 mm) of snow fell on Boston in 18 days"),
        ("sample-article-en.wikicode", 29, "Roppongi (六本木) is a section of Tokyo's Minato ward"),
    ],
)
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
