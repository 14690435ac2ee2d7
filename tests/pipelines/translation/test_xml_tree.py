import pytest

from corpusmill.pipelines.translation.xliff import Element, parse_xml
from corpusmill.transforms.files.records import ReadError
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of

BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;&x;">]>\n'
    "<a b='&y;'>&y;</a>"
)
REMOTE = '\n\n<!DOCTYPE a SYSTEM "http://localhost:1/a.dtd">\n<a/>'
STOLEN = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'


def test_a_tree() -> None:
    data = (
        b'<a b="1">\n <!-- c -->x&amp;<?d?>y<e:f xmlns:e="urn:e" e:g="&#10;"/>\n<![CDATA[<h>]]></a>'
    )
    (before, inner, after) = parse_xml(data).content
    assert (before, after) == ("\n x&y", "\n<h>")
    assert inner == Element("urn:e f", {"urn:e g": "\n"}, 2, [])


@pytest.mark.parametrize(
    ("encoding", "declared"),
    read_cases("translation/xliff", "encodings"),
)
def test_encodings(encoding: str, declared: str) -> None:
    text = f'<?xml version="1.0" encoding="{declared}"?>\n<a>é&#x4E09;</a>'
    assert parse_xml(text.encode(encoding)) == Element("a", {}, 2, ["é三"])


def test_lines_beyond_the_count_of_other_parsers() -> None:
    root = parse_xml(b"<a>" + b"\n" * 70_000 + b"<b/></a>")
    assert [element.line for element in root.elements] == [70_001]
    with pytest.raises(ReadError, match="line 70001: not well-formed XML: mismatched tag"):
        parse_xml(b"<a>" + b"\n" * 70_000 + b"</b>")


@pytest.mark.parametrize(("text", "line"), [(BOMB, 2), (REMOTE, 3), (STOLEN, 1)])
def test_document_types_are_refused_before_they_are_read(text: str, line: int) -> None:
    message = "an XLIFF file must not have a document type declaration (DOCTYPE): remove it"
    assert error_of(ReadError, parse_xml, text.encode()) == f"line {line}: {message}"


def test_depth() -> None:
    assert parse_xml(b"<a>" * 100 + b"</a>" * 100).name == "a"
    with pytest.raises(ReadError, match="line 2: expected at most 100 levels of nested elements"):
        parse_xml(b"<a>" * 100 + b"\n<a>" + b"</a>" * 101)


@pytest.mark.parametrize(
    ("data", "line", "message"),
    read_cases("translation/xliff", "no_xml"),
)
def test_what_is_no_xml(data: str, line: int, message: str) -> None:
    said = error_of(ReadError, parse_xml, data.encode("latin-1"))
    assert said == f"line {line}: {message}"


def test_encodings_of_many_bytes_are_refused() -> None:
    with pytest.raises(ReadError, match="multi-byte encodings are not supported"):
        parse_xml('<?xml version="1.0" encoding="shift_jis"?><a/>'.encode("shift_jis"))
