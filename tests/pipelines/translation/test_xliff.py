import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.packet_files import Packet, Returned
from corpusmill.pipelines.translation.xliff import Element, parse_xml, read_xliff, write_xliff
from corpusmill.transforms.files.records import ReadError, Translation
from tests.pipelines.translation.samples import (
    ARABIC,
    CONTROLS,
    TRICKY_TEXTS,
    line,
    packet_of,
    tricky_packet,
)
from tests.tools.real_data import DATA, needs_real_data

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
XLIFF = "urn:oasis:names:tc:xliff:document:2.0"
ORIGINAL = "flores/fra/round1/packet1"


def check(returned: Returned, packet: Packet) -> None:
    """The file holds all that the packet does."""
    assert returned[:4] == (packet.project, packet.language.code, packet.round, packet.number)
    assert returned.sources == {each.source.id: each.source.text for each in packet.lines}
    expected = {each.source.id: each.target for each in packet.lines if each.target}
    assert {each.id: each.text for each in returned.translations} == expected


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
    check(returned, packet)
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
    check(read_xliff(write_xliff(packet), "a.xlf"), packet)


def test_lines_keep_their_order_and_ids_are_unique() -> None:
    """Also where the sentences of a split or an article do not stand together."""
    ids = ["dev-0001", "test-0001", "dev-0002", "dev-0003"]
    packet = packet_of(*(line(id_, "a", article=n % 2) for n, id_ in enumerate(ids)))

    def walk(element: Element) -> list[tuple[str, str]]:
        name, id_ = element.name.rpartition(" ")[2], element.attributes.get("id", "")
        return [(name, id_)] * bool(id_) + [
            pair for each in element.elements for pair in walk(each)
        ]

    assert walk(parse_xml(write_xliff(packet))) == [
        ("file", "dev"),
        ("group", "a1"),
        ("unit", "dev-0001"),
        ("unit", "dev-0002"),
        ("group", "a2"),
        ("unit", "dev-0003"),
        ("file", "test"),
        ("group", "a1"),
        ("unit", "test-0001"),
    ]


@pytest.mark.parametrize(
    ("packet", "message"),
    [
        (packet_of(), "the packet has no sentences"),
        (packet_of(line("dev-0001", "a"), line("dev-0001", "b")), "the id 'dev-0001' occurs twice"),
        (packet_of(line("dev 1", "a")), "the id 'dev 1' occurs twice, or has characters other"),
        (
            packet_of(line("dev-0001", "a\0")),
            r"dev-0001 has the character U\+0000, which XLIFF cannot represent",
        ),
        (packet_of(line("dev-0001", "a", "\udc80")), r"dev-0001 has the character U\+DC80"),
        (packet_of(line("dev-0001", "a"), project=""), "invalid packet name"),
    ],
)
def test_what_is_not_written(packet: Packet, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_xliff(packet)


@pytest.mark.parametrize(
    ("segments", "text"),
    [
        (segment(""), None),
        (segment("<target/>"), None),
        (segment("<target></target>", ' state="initial"'), None),
        (segment("<target/>", ' state="translated"'), ""),
        (segment("<target/>", ' state="final" subState="x:y"'), ""),
        (segment("<target> </target>", ' state="initial"'), " "),
        (segment("<target>日本\n&#9;語 </target>", ' state="reviewed"'), "日本\n\t語 "),
        (segment("<target><![CDATA[<b>&amp;]]><!-- c --> d<?e f?></target>"), "<b>&amp; d"),
        (segment('<target>a<cp hex="000b"/>b<cp hex="10FFFE"/></target>'), "a\x0bb\U0010fffe"),
        # Marks around text go, the text stays.
        (segment('<target>a<mrk id="m" type="term">b<pc id="1">c</pc></mrk>d</target>'), "abcd"),
        (segment('<target><sc id="1"/>a<sm id="m"/>b<em startRef="m"/><ec/></target>'), "ab"),
        # Cut up.
        (segment("<target>A</target>") + segment("<target> B</target>"), "A B"),
        (segment("<target>A </target>") + segment("<target/>", ' state="final"'), "A "),
        (
            segment("<target>A</target>")
            + "<ignorable><source>  </source></ignorable>"
            + segment("<target>B</target>"),
            "A  B",
        ),
        (
            segment("<target>A</target>")
            + "<ignorable><source>  </source><target/></ignorable>"
            + segment("<target>B</target>"),
            "AB",
        ),
        (
            segment('<target order="3">A</target>')
            + "<ignorable><source> </source></ignorable>"
            + segment('<target order="1">B</target>'),
            "B A",
        ),
        (segment("") + "<ignorable><source> </source></ignorable>" + segment(""), None),
        # What others put beside the segments.
        (
            '<m:matches xmlns:m="urn:oasis:names:tc:xliff:matches:2.0"><m:match ref="#1">'
            "<source>S</source><target>T</target></m:match></m:matches>"
            '<notes><note>N</note></notes><x:y xmlns:x="urn:x"><target>X</target></x:y>'
            + segment("<target>A</target>"),
            "A",
        ),
    ],
)
def test_what_tools_make_of_a_unit(segments: str, text: str | None) -> None:
    returned = read_xliff(document(unit(segments)), "a.xlf")
    expected = () if text is None else (Translation("dev-0001", text, "a.xlf", 4),)
    assert returned.translations == expected


def test_groups_files_and_lines() -> None:
    body = (
        '<group id="1"><group id="2">\n'
        + unit("\n" + segment("\n<target>A</target>"))
        + '</group></group><file2 xmlns="urn:x"/>\n</file><file id="f">'
        + unit("\n\n" + segment("<target>B</target>") + "\n" + segment("<target>C</target>"), "x")
    )
    returned = read_xliff(document(body), "a.xlf")
    assert returned == Returned(
        project="flores",
        language="fra",
        round=1,
        number=1,
        translations=(
            Translation("dev-0001", "A", "a.xlf", 7),
            Translation("x", "BC", "a.xlf", 11),
        ),
        sources={"dev-0001": "S", "x": "SS"},
    )


def test_a_file_that_does_not_tell_its_packet() -> None:
    data = document(unit(segment("<target>A</target>"))).replace(ORIGINAL.encode(), b"a.docx")
    assert read_xliff(data, "a.xlf")[:4] == ("", "", 0, 0)


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


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"<a>\n</b>", 2, "not well-formed XML: mismatched tag"),
        (b"\n<html/>", 2, "expected an XLIFF document, found <html> of the namespace ''"),
        (
            b"<xliff version='2.0'/>",
            1,
            "expected an XLIFF document, found <xliff> of the namespace ''",
        ),
        (
            document("", "1.2", "urn:oasis:names:tc:xliff:document:1.2"),
            2,
            "expected XLIFF 2, found XLIFF 1.2: save it as XLIFF 2.0 or 2.1",
        ),
        (document("", "1.2"), 2, "expected XLIFF 2.0, 2.1 or 2.2; found version '1.2'"),
        (document("\n<unit/>"), 5, "the unit has no id"),
        (document(unit("") + unit("")), 5, "the unit dev-0001 occurs twice: remove one"),
        (
            document(unit(segment("<target>A</target>") + "\n" + segment(""))),
            5,
            "the unit dev-0001 is split, and this segment of it is not translated",
        ),
        (
            document(unit(segment("\n<target>A\n<ph id='1'/></target>"))),
            6,
            "<ph> stands for text that is not in the file: replace it by that text",
        ),
        (
            document(unit(segment("<target><b xmlns='urn:x'>A</b></target>"))),
            4,
            "<b> stands for text that is not in the file: replace it by that text",
        ),
        (document(unit(segment("<target>\n<cp/></target>"))), 5, "<cp hex=''> is not a character"),
        (
            document(unit(segment('<target><cp hex="0000"/></target>'))),
            4,
            "<cp hex='0000'> is not a character",
        ),
        (
            document(unit(segment('<target><cp hex="D800"/></target>'))),
            4,
            "<cp hex='D800'> is not a character",
        ),
        (
            document(unit(segment('<target><cp hex="110000"/></target>'))),
            4,
            "<cp hex='110000'> is not a character",
        ),
        (
            document(f'</file><file id="b" original="{ORIGINAL}0">'),
            2,
            "the `file` elements belong to more than one packet: use one document per packet",
        ),
    ],
)
def test_what_is_no_packet(data: bytes, line: int, message: str) -> None:
    with pytest.raises(ReadError) as raised:
        read_xliff(data, "a.xlf")
    assert (raised.value.line, raised.value.message) == (line, message)


@needs_real_data
def test_released_translations() -> None:
    folder = DATA / "flores/flores101_dataset/devtest"
    sources = (folder / "eng.devtest").read_text("utf-8").splitlines()
    for code in ("fra", "ara", "zho_simpl", "ell"):
        targets = (folder / f"{code}.devtest").read_bytes().decode().split("\n")
        pairs = enumerate(zip(sources, targets, strict=False), 1)
        packet = packet_of(*(line(f"devtest-{n:04d}", *pair) for n, pair in pairs))
        assert len(packet.lines) == 1012
        check(read_xliff(write_xliff(packet), "a.xlf"), packet)
