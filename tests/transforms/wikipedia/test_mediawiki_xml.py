import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.records import Page
from corpusmill.transforms.wikipedia.mediawiki_xml import (
    HistoryExportError,
    MalformedPageError,
    NotADumpError,
    Siteinfo,
    check_single_revision,
    parse_page,
    parse_siteinfo,
)
from tests.makers.dump_files import SamplePage, dump_header, page_xml
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of

HEAD = b'<mediawiki xml:lang="uk">'
BILLION_LAUGHS = (
    b'<!DOCTYPE mediawiki [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>\n'
)

# What XML 1.0 lets stand in a text; a parser turns the carriage return into a line feed.
xml_texts = st.text(
    st.characters(
        codec="utf-8",
        exclude_categories=["Cs"],
        exclude_characters=[chr(code) for code in range(32) if chr(code) not in "\t\n"]
        + ["\ufffe", "\uffff"],
    ),
    max_size=60,
)
sample_pages = st.builds(
    SamplePage,
    page_id=st.integers(1, 10**9),
    namespace=st.sampled_from([0, 1, 8, 14, 828]),
    title=xml_texts,
    wikitext=xml_texts,
    revision_id=st.integers(1, 10**12),
    timestamp=st.just("2026-01-01T00:00:00Z"),
    redirect_to=st.sampled_from(["", 'a "b" & <c>']),
    deleted=st.booleans(),
    model=st.sampled_from(["wikitext", "css", "javascript"]),
    contributor=st.sampled_from(["", "203.0.113.24", "2001:db8::51", "<user> & co"]),
    comment=st.sampled_from([None, "", "/* History */ <page> &amp; </page>"]),
    minor=st.booleans(),
)


@given(sample_pages, st.sampled_from(["0.10", "0.11"]))
def test_parsing_gives_back_the_page_that_was_written(page: SamplePage, export: str) -> None:
    assert parse_page(page_xml(page, export).encode()) == Page(
        page_id=page.page_id,
        namespace=page.namespace,
        title=page.title,
        revision_id=page.revision_id,
        content_model=page.model,
        is_redirect=bool(page.redirect_to),
        is_deleted=page.deleted,
        text="" if page.deleted else page.wikitext,
        redirect_target=page.redirect_to,
        created=page.timestamp,
        revised=page.timestamp,
        comment=page.comment or "",
    )


@given(st.binary(max_size=300))
def test_any_bytes_are_a_page_or_malformed(data: bytes) -> None:
    for xml in (data, b"<page>" + data + b"</page>"):
        with pytest.raises(MalformedPageError):
            parse_page(xml)


@given(sample_pages, st.integers(0, 10**6), st.binary(min_size=1, max_size=3), st.integers(0, 40))
def test_a_page_changed_anywhere_is_a_page_or_malformed(
    page: SamplePage, place: int, inserted: bytes, removed: int
) -> None:
    xml = page_xml(page).encode()
    place %= len(xml)
    try:
        assert isinstance(parse_page(xml[:place] + inserted + xml[place + removed :]), Page)
    except MalformedPageError:
        return


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        *read_cases("wikipedia/mediawiki_xml", "malformed_pages"),
        *(
            (
                f"<title>A</title><id>{number}</id><revision><id>2</id></revision>",
                f"the page id is {number[:40]!r}"[:-1],
            )
            for number in ("x", "", "-3", "+3", "٣", "²", "1_000", str(2**63), "9" * 5000)
        ),
        *(
            (
                f"<title>A</title><id>1</id><ns>{number}</ns><revision><id>2</id></revision>",
                f"the namespace is {number!r}, expected an integer",
            )
            for number in ("", "٣", "1_000", "9" * 20)
        ),
        ("<a>" * 200 + "</a>" * 200, "elements are nested too deeply: '/page/a/a/a"),
        (f"<{'a' * 300}/>", "elements are nested too deeply: '/page/aaa"),
    ],
)
def test_malformed_pages(inner: str, message: str) -> None:
    assert message in error_of(MalformedPageError, parse_page, f"<page>{inner}</page>".encode())


def test_ids_have_up_to_18_digits() -> None:
    largest = 10**18 - 1
    revision = f"<revision><id>\n{largest}</id></revision>"
    page = parse_page(f"<page><title>A</title><id>{largest}</id>{revision}</page>".encode())
    assert (page.page_id, page.revision_id) == (largest, largest)


def test_entities_are_not_expanded_in_a_page() -> None:
    xml = page_xml(SamplePage(1, 0, "A", "&", 2)).encode().replace(b"&amp;", b"&b;")
    with pytest.raises(MalformedPageError, match="a DOCTYPE"):
        parse_page(BILLION_LAUGHS.replace(b"mediawiki", b"page") + xml)


def test_a_page_of_2004_has_neither_namespace_nor_model_nor_redirect() -> None:
    xml = b"<page><title>A</title><id>7</id><revision><id>8</id><text>t</text></revision></page>"
    assert parse_page(xml) == Page(7, 0, "A", 8, "wikitext", False, False, "t")


def test_of_several_revisions_the_last_counts() -> None:
    revisions = "".join(
        f"<revision><id>{number}</id><contributor><id>99</id></contributor><text>{number}</text></revision>"
        for number in (11, 12, 13)
    )
    page = parse_page(f"<page><title>A</title><id>1</id>{revisions}</page>".encode())
    assert (page.page_id, page.revision_id, page.text) == (1, 13, "13")


ODD_PAGE = """<page><title>A &amp; B</title><ns>%d</ns><id>7</id><redirect title="C" /><revision><id>8</id>
<contributor deleted="deleted" /><comment deleted="deleted" /><origin>8</origin>
<model>error-no-model</model><format>error-no-format</format>%s<sha1 /></revision></page>"""


@pytest.mark.parametrize(
    ("inner", "text", "is_deleted"),
    read_cases("wikipedia/mediawiki_xml", "pages_of_a_content_export"),
)
def test_pages_of_a_content_export(inner: str, text: str, is_deleted: bool) -> None:
    page = Page(7, 0, "A & B", 8, "error-no-model", True, is_deleted, text, "C")
    assert parse_page((ODD_PAGE % (0, inner)).encode(), (0,)) == page


@pytest.mark.parametrize(
    ("forbidden", "text"),
    [
        (b"\x00 \x0b\x1f", " "),
        (b"\xef\xbf\xbe\xef\xbf\xbf", ""),
        (b"&#0; &#011;&#x1F;&#xFFFE;&#65535;", " "),
        (b"\t\n &#9;&#10;&#32;&#xFFFD;\xef\xbf\xbd\x7f", "\t\n \t\n \ufffd\ufffd\x7f"),
    ],
)
def test_characters_that_xml_forbids_are_dropped(forbidden: bytes, text: str) -> None:
    xml = b"<page><title>A</title><id>7</id><revision><id>8</id><text>" + forbidden
    assert parse_page(xml + b"</text></revision></page>").text == text


@given(sample_pages, st.sampled_from(["0.10", "0.11"]))
def test_of_a_page_of_another_namespace_the_head_is_read_alone(
    page: SamplePage, export: str
) -> None:
    xml = page_xml(page, export).strip().encode()
    whole, found = parse_page(xml), parse_page(xml, (page.namespace + 1,))
    assert found[:4] == whole[:4]
    assert found.is_redirect == whole.is_redirect
    is_usual = not set(page.title) & set("\t\n")
    assert not is_usual or found.text == found.content_model == ""
    assert parse_page(xml, (page.namespace,)) == whole


def test_a_page_with_several_revisions_is_of_a_history_export() -> None:
    revision = b"<revision><id>8</id></revision>"
    check_single_revision(b"<page><id>7</id>" + revision + b"</page>")
    with pytest.raises(
        HistoryExportError, match="a page has 2 revisions: this is a history export"
    ):
        check_single_revision(b"<page><id>7</id>" + revision * 2)


def test_a_suppressed_comment_does_not_make_a_page_deleted() -> None:
    page = SamplePage(1, 0, "A", "text", 2, comment=None, contributor="")
    xml = page_xml(page).encode()
    assert b'<comment deleted="deleted" />' in xml
    assert not parse_page(xml).is_deleted


def test_titles_and_texts_are_unescaped_once() -> None:
    xml = (
        "<page><title>A &amp;amp; &quot;B&quot;</title><id>1</id><revision><id>2</id>"
        "<text>&lt;ref&gt; &amp;nbsp; &#1111;</text></revision></page>"
    )
    page = parse_page(xml.encode())
    assert (page.title, page.text) == ('A &amp; "B"', "<ref> &nbsp; ї")


@pytest.mark.parametrize("export", ["0.10", "0.11"])
def test_siteinfo(export: str) -> None:
    namespaces = {-1: "Спеціальна", 0: "", 6: "Файл", 14: "Категорія", 2600: "R & D"}
    head = dump_header("ukwiki", "uk", "Вікіпедія & Ко", namespaces, export).encode()
    expected = Siteinfo(
        "ukwiki",
        "uk",
        "Вікіпедія & Ко",
        {number: (name,) for number, name in namespaces.items()},
    )
    assert parse_siteinfo(head) == expected
    assert parse_siteinfo(b"\xef\xbb\xbf" + head + b"</mediawiki>\n") == expected
    assert (
        parse_siteinfo(
            b"<?xml version='1.0' encoding='x'?>\n" + head + b"  <page>\n <title>cut & of"
        )
        == expected
    )


def test_a_head_without_siteinfo_has_the_canonical_names_of_files_and_categories() -> None:
    assert parse_siteinfo(HEAD + b"\n<page>") == Siteinfo(
        "", "uk", "", {6: ("File",), 14: ("Category",)}
    )


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"", "the file is empty"),
        ("<mediawiki>".encode("utf-16"), "UTF-16"),
        (b"\xfe\xff" + "<mediawiki>".encode("utf-16-be"), "UTF-16"),
        (b"<!DOCTYPE html>\n<html><head>", "HTML page"),
        (b"\n <HTML lang='en'>", "HTML page"),
        (b"\xef\xbb\xbf<html>", "HTML page"),
        (b"404 Not Found", "expected <mediawiki> at the start, found b'404 Not Found'"),
        ("<mediawiki>".encode("utf-16-le"), "expected <mediawiki> at the start"),
        (b"BZh91AY&SY", "expected <mediawiki> at the start"),
        (
            b"PK\x03\x04\x14\0",
            "the file seems to be a .zip archive, which has to be unpacked first",
        ),
        (bytes(range(256)), "the file seems to be binary data"),
        (b"<rss><channel>", "expected <mediawiki> at the start"),
        (BILLION_LAUGHS + HEAD + b"<siteinfo><sitename>&b;</sitename></siteinfo>", "a DOCTYPE"),
        (b'<!DOCTYPE mediawiki SYSTEM "file:///etc/passwd">' + HEAD, "a DOCTYPE"),
        (HEAD + b"<siteinfo><sitename>&b;</sitename></siteinfo>", "undefined entity"),
        (HEAD + b"<siteinfo>", "not well-formed XML (mismatched tag"),
        (HEAD + b"<a>" * 200 + b"</a>" * 200, "elements are nested too deeply"),
        (HEAD + b"<siteinfo><sitename>\xff</sitename></siteinfo>", "not well-formed XML"),
        (b"<?xml version='1.0' encoding='latin-1'?>" + HEAD + b"\xe9", "not well-formed XML"),
        (HEAD + b"<siteinfo><namespace>x</namespace></siteinfo>", "namespace"),
        (HEAD + b"<siteinfo><namespace key='x'/></siteinfo>", "namespace"),
    ],
)
def test_what_is_no_dump(head: bytes, message: str) -> None:
    assert message in error_of(NotADumpError, parse_siteinfo, head)


def test_the_place_where_a_head_goes_wrong_is_told() -> None:
    with pytest.raises(NotADumpError) as raised:
        parse_siteinfo(HEAD + b"<siteinfo></sitinfo>")
    assert raised.value.offset == len(HEAD + b"<siteinfo></")


@given(st.binary(max_size=200))
def test_any_head_is_of_a_dump_or_not(data: bytes) -> None:
    for head in (
        data,
        HEAD + data,
        b"<?xml " + data + HEAD,
        HEAD + b"<siteinfo>" + data + b"</siteinfo>",
    ):
        try:
            assert isinstance(parse_siteinfo(head), Siteinfo)
        except NotADumpError:
            continue
