import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.packet_files import Packet, PacketName, Returned
from corpusmill.pipelines.translation.xliff import (
    Element,
    parse_xml,
    read_xliff,
    write_xliff,
    write_xliff_1,
)
from corpusmill.transforms.files.records import ReadError, Translation
from tests.pipelines.translation.samples import (
    ARABIC,
    CONTROLS,
    TRICKY_TEXTS,
    check_returned,
    line,
    packet_of,
    tricky_packet,
)
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
XLIFF = "urn:oasis:names:tc:xliff:document:2.0"
ORIGINAL = "flores/fra/round1/packet1"


def document(body: str, version: str = "2.0", namespace: str = XLIFF) -> bytes:
    """A document of one file with these units, which begin in line 4."""
    return (
        '<?xml version="1.0"?>\n'
        f'<xliff xmlns="{namespace}" version="{version}" srcLang="en" trgLang="fr">\n'
        f'<file id="dev" original="{ORIGINAL}">\n{body}</file></xliff>'
    ).encode()


def unit(segments: str, id_: str = "dev-0001") -> str:
    return f'<unit id="{id_}">{segments}</unit>\n'


def segment(target: str, attributes: str = "") -> str:
    return f"<segment{attributes}><source>S</source>{target}</segment>"


def test_what_is_written() -> None:
    first = line("dev-0001", "A & B", "乙\r", ("too <long>", "no \x02"))
    lines = [first, line("dev-0002", " C", "丙"), line("test-0001", "D\x0b", article=2)]
    packet = packet_of(*lines)._replace(language=ARABIC, project="a/b")
    url = "https://en.wikinews.org/wiki/?curid={}&amp;x='1'"
    context = f'<note category="context" priority="2">wikinews, politics: {url}</note>'
    manner = 'canResegment="no" xml:space="preserve" srcDir="ltr" trgDir="rtl"'
    assert write_xliff(packet).decode().splitlines() == [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<xliff xmlns="{XLIFF}" version="2.0" srcLang="en" trgLang="ar">',
        f'<file id="dev" original="a%2Fb/ara/round2/packet3" {manner}>',
        '<group id="a1" name="wikinews:1">',
        *("<notes>", context.format(1), "</notes>"),
        '<unit id="dev-0001">',
        "<notes>",
        '<note category="reason" priority="1">too &lt;long&gt;</note>',
        '<note category="reason" priority="1">no U+0002</note>',
        context.format(1),
        "</notes>",
        '<segment state="initial">',
        *("<source>A &amp; B</source>", "<target>乙&#13;</target>", "</segment>", "</unit>"),
        '<unit id="dev-0002">',
        *("<notes>", context.format(1), "</notes>"),
        '<segment state="translated">',
        *("<source> C</source>", "<target>丙</target>", "</segment>", "</unit>"),
        *("</group>", "</file>"),
        f'<file id="test" original="a%2Fb/ara/round2/packet3" {manner}>',
        '<group id="a1" name="wikinews:2">',
        *("<notes>", context.format(2), "</notes>"),
        '<unit id="test-0001">',
        *("<notes>", context.format(2), "</notes>"),
        '<segment state="initial">',
        *('<source>D<cp hex="000B"/></source>', "</segment>", "</unit>"),
        *("</group>", "</file>", "</xliff>"),
    ]


def test_tricky_texts_are_read_as_they_were() -> None:
    packet = tricky_packet(TRICKY_TEXTS + CONTROLS)
    returned = read_xliff(write_xliff(packet), "a.xlf")
    check_returned(returned, packet)
    written = write_xliff(packet).decode().split("\n")
    for each in returned.translations:
        assert written[each.line - 1].startswith("<target>")
        assert each.file == "a.xlf"


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
@example(
    [("\r\n\t", " \ufffe\uffff\x01"), ("]]>", "<!--&#13;"), ("\x85\u2028", '<cp hex="0001"/>')]
)
def test_what_is_written_is_read(pairs: list[tuple[str, str]]) -> None:
    rows = (line(f"dev-{n:04d}", *pair, ("a\tb",)) for n, pair in enumerate(pairs))
    packet = packet_of(line("test-0001", "a", "b"), *rows)
    check_returned(read_xliff(write_xliff(packet), "a.xlf"), packet)


def test_lines_keep_their_order_and_ids_are_unique() -> None:
    """Also where the sentences of a split or an article do not stand together."""
    ids = ["dev-0001", "test-0001", "dev-0002", "dev-0003"]
    packet = packet_of(*(line(id_, "a", article=n % 2) for n, id_ in enumerate(ids)))

    def walk(element: Element) -> list[tuple[str, str]]:
        name, id_ = element.name.rpartition(" ")[2], element.attributes.get("id", "")
        return [(name, id_)] * bool(id_) + [
            pair for each in element.elements for pair in walk(each)
        ]

    walked = map(list, walk(parse_xml(write_xliff(packet))))
    assert list(walked) == read_cases("translation/xliff", "order")


@pytest.mark.parametrize(
    ("packet", "message"),
    [
        (packet_of(line("dev-0001", "a"), line("dev-0001", "b")), "the id 'dev-0001' occurs twice"),
        (packet_of(line("dev 1", "a")), "the id 'dev 1' occurs twice, or has characters other"),
        (
            packet_of(line("dev-0001", "a\0")),
            r"dev-0001 has the character U\+0000, which XLIFF cannot represent",
        ),
        (packet_of(line("dev-0001", "a", "\udc80")), r"dev-0001 has the character U\+DC80"),
    ],
)
def test_what_is_not_written(packet: Packet, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_xliff(packet)


@pytest.mark.parametrize(
    ("segments", "texts"),
    read_cases("translation/xliff", "units"),
)
def test_what_tools_make_of_a_unit(segments: str, texts: list[str]) -> None:
    returned = read_xliff(document(unit(segments)), "a.xlf")
    expected = [Translation("dev-0001", text, "a.xlf", 4) for text in texts]
    assert list(returned.translations) == expected


def test_groups_files_and_lines() -> None:
    body = (
        '<group id="1"><group id="2">\n'
        + unit("\n" + segment("\n<target>A</target>"))
        + '</group></group><file2 xmlns="urn:x"/>\n</file><file id="f">'
        + unit("\n\n" + segment("<target>B</target>") + "\n" + segment("<target>C</target>"), "x")
    )
    returned = read_xliff(document(body), "a.xlf")
    assert returned == Returned(
        name=PacketName("flores", "fra", 1, 1),
        translations=(
            Translation("dev-0001", "A", "a.xlf", 7),
            Translation("x", "BC", "a.xlf", 11),
        ),
        sources={"dev-0001": "S", "x": "SS"},
        tag="fr",
    )


def test_a_file_that_does_not_tell_its_packet() -> None:
    data = document(unit(segment("<target>A</target>"))).replace(ORIGINAL.encode(), b"a.docx")
    assert read_xliff(data, "a.xlf").name == ("", "", 0, 0)


@pytest.mark.parametrize(
    ("version", "namespace"),
    [("2.0", XLIFF), ("2.1", XLIFF), ("2.2", XLIFF.replace("2.0", "2.2"))],
)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_versions_and_encodings(version: str, namespace: str, encoding: str) -> None:
    text = document(unit(segment("<target>é三</target>")), version, namespace).decode()
    data = text.replace("?>", f' encoding="{encoding.removesuffix("-sig")}"?>', 1).encode(encoding)
    translation = Translation("dev-0001", "é三", "a.xlf", 4)
    assert read_xliff(data, "a.xlf").translations == (translation,)


@pytest.mark.parametrize(("text", "line", "message"), read_cases("translation/xliff", "no_xliff"))
def test_what_is_no_xliff(text: str, line: int, message: str) -> None:
    assert error_of(ReadError, read_xliff, text.encode(), "a.xlf") == f"line {line}: {message}"


@pytest.mark.parametrize(("body", "line", "message"), read_cases("translation/xliff", "no_packets"))
def test_what_is_no_packet(body: str, line: int, message: str) -> None:
    returned = read_xliff(document(body), "a.xlf")
    assert (line, message) in [each[1:] for each in returned.faults]
    assert not returned.translations


def test_one_document_has_one_packet_and_one_language() -> None:
    other = '</file><file id="b" original="flores/fra/round1/packet10">'
    data = document(unit(segment("<target>A</target>")) + other)
    said = error_of(ReadError, read_xliff, data, "a.xlf")
    assert said.startswith("line 2: the `file` elements belong to more than one packet")
    written = write_xliff_1(tricky_packet(TRICKY_TEXTS)).replace(b'"zh-Hans"', b'"de"', 1)
    said = error_of(ReadError, read_xliff, written, "a.xlf")
    assert said.startswith("line 2: the `file` elements belong to more than one target language")


def test_xliff_1_keeps_all_that_it_can_represent() -> None:
    packet = tricky_packet(TRICKY_TEXTS)._replace(language=ARABIC)
    returned = read_xliff(write_xliff_1(packet), "a.xlf")
    check_returned(returned, packet)
    assert returned.tag == "ar"
    with pytest.raises(ValueError, match=r"character U\+0001, which XLIFF cannot represent"):
        write_xliff_1(tricky_packet(CONTROLS))
