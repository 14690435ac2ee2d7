import gzip
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.transforms.wikipedia.sql_dump import SqlDumpError, read_rows
from corpusmill.transforms.wikipedia.wikidata import parse_entity
from tests.tools.case_tables import CASES, read_byte_cases
from tests.tools.growth import call_linear
from tests.tools.real_data import DATA, needs_real_data

HEAD, _, TAIL = (CASES / "wikipedia" / "page.sql").read_bytes().partition(b"\n\n")
CREATE, END = HEAD + b"\n", b"\n" + TAIL
INSERT = b"INSERT INTO `page` VALUES "
COLUMNS = ("page_title", "page_id")


def titles_and_ids(dump, columns=COLUMNS):
    return list(read_rows([dump], "page", columns))


def escape(value):
    """A string as mysqldump writes it."""
    table = {0: rb"\0", 10: rb"\n", 13: rb"\r", 26: rb"\Z", 34: rb"\"", 39: rb"\'", 92: rb"\\"}
    return b"'" + b"".join(table.get(byte, bytes([byte])) for byte in value) + b"'"


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        *read_byte_cases("wikipedia/sql_dump", "value", 0, 1),
        (b"'\xfd\xfe\xff'", b"\xfd\xfe\xff"),
        (rb"'\'" + b"\xfd\xfe\xff'", b"'\xfd\xfe\xff"),
        (b"0x5AFf", b"\x5a\xff"),
        (b"0xABC", b"\x0a\xbc"),
        (b"NULL", None),
        (b"null", None),
    ],
)
def test_value(literal, value):
    dump = CREATE + INSERT + b"(1,0,%s,NULL),(2,0,'next',0.5);" % literal + END
    assert titles_and_ids(dump) == [(value, b"1"), (b"next", b"2")]
    alone = CREATE + INSERT + b"(1,0,%s,NULL);" % literal + END
    assert titles_and_ids(alone) == [(value, b"1")]


@pytest.mark.parametrize("rows", read_byte_cases("wikipedia/sql_dump", "layout_and_chunks"))
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 1 << 20])
def test_layout_and_chunks(rows, chunk):
    dump = CREATE + INSERT.rstrip() + rows + END
    chunks = (dump[start : start + chunk] for start in range(0, len(dump), chunk))
    assert list(read_rows(chunks, "page", COLUMNS)) == [(b"a", b"1"), (b"b", b"2")]


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (["page_id"], (b"1",)),
        (["page_random", "page_namespace"], (None, b"4")),
        (["page_title", "page_id", "page_title"], (b"a", b"1", b"a")),
        (["page_id", "page_namespace", "page_title", "page_random"], (b"1", b"4", b"a", None)),
    ],
)
def test_columns_come_in_the_order_asked(columns, row):
    assert titles_and_ids(CREATE + INSERT + b"(1,4,'a',NULL);" + END, columns) == [row]


def test_one_statement_a_row_with_column_list():
    head = b"INSERT INTO `page` (`page_title`, `page_id`) VALUES "
    rows = [(b"t%d" % number, b"%d" % number) for number in range(5000)]
    dump = b"".join(head + b"('%s',%s);\n" % row for row in rows)
    assert titles_and_ids(dump) == rows


def test_table_without_rows():
    assert titles_and_ids(CREATE + END) == []


def test_quoted_names():
    dump = b'CREATE TABLE IF NOT EXISTS "a`b" (`c``d` int, "e""f" text, g int, KEY (g));'
    dump += b"INSERT INTO `a``b` VALUES (1,'x',3);"
    assert list(read_rows([dump], "a`b", ["c`d", 'e"f', "g"])) == [(b"1", b"x", b"3")]


CREATED = CREATE.index(b"CREATE")
ROW = len(CREATE + INSERT)
ROWS = INSERT + b"(1,0,'a',NULL),(2,0,'it\\'s',0.5);"


@pytest.mark.parametrize(
    ("dump", "message", "offset"),
    [
        (b"", "no table page; tables in the dump: none", 0),
        (b"<!DOCTYPE html>\n<html>", "HTML", 0),
        (b"\n\n<html>", "HTML", 2),
        (b"404 not found", "expected an SQL statement, found '404'", 0),
        (b"\x1f\x8b\x08\x00", "expected an SQL statement", 0),
        (CREATE.replace(b"`page` (", b"`links` ("), "tables in the dump: links", len(CREATE) + 1),
        (
            CREATE.replace(b"page_title` v", b"title` v"),
            "no column page_title; columns in the table: page_id",
            CREATED,
        ),
        (ROWS, "no column page_title, page_id; columns in the table: none", 0),
        (CREATE + INSERT + b"(1,0,'a');", "expected a row of 4 values", ROW),
        (CREATE + INSERT + b"(1,0,'a',NULL,5);", "expected a row of 4 values", ROW),
        (CREATE + INSERT + b"(1,0,'a',NULL),;", "expected a row of 4 values", ROW + 15),
        (CREATE + INSERT + b"(1,0,'a',NULL)(2,0,'b',0);", "expected a row of 4 values", ROW),
        (CREATE + INSERT + b"(1,0,'a',rand()),(1,", "expected a row of 4 values", ROW),
        (CREATE + INSERT + b"(1,0,'a',NULL),\x00\x00\x00", "expected a row of 4 values", ROW + 15),
        (CREATE + b"INSERT INTO `page` SELECT 1;", "without VALUES", len(CREATE) + 19),
        (CREATE + b"\x00\x00", "expected an SQL statement", len(CREATE)),
        (CREATE + b"/* never closed", "truncated inside a comment", len(CREATE)),
    ],
)
def test_error(dump, message, offset):
    with pytest.raises(SqlDumpError) as error:
        titles_and_ids(dump)
    assert message in error.value.message
    assert error.value.offset == offset
    copy = pickle.loads(pickle.dumps(error.value))
    assert (copy.message, copy.offset) == (error.value.message, offset)


def test_a_cut_anywhere_inside_a_statement_is_noticed():
    start = len(CREATE)
    for end in range(start + 1, len(CREATE + ROWS)):
        with pytest.raises(SqlDumpError, match="truncated"):
            titles_and_ids((CREATE + ROWS)[:end])
    assert len(titles_and_ids(CREATE + ROWS)) == 2


def test_rows_before_a_cut_are_given():
    rows = read_rows([CREATE + ROWS[:-4]], "page", COLUMNS)
    assert next(rows) == (b"a", b"1")
    with pytest.raises(SqlDumpError, match="truncated inside a statement"):
        next(rows)


def test_no_columns():
    with pytest.raises(ValueError, match="columns must not be empty"):
        titles_and_ids(CREATE, [])


VALUES = st.one_of(
    st.none(),
    st.binary(max_size=12),
    st.text(max_size=12).map(str.encode),
    st.lists(st.sampled_from(list(b"'\\,();-x\xfd\xfe\xff\x00\n/*#\"`")), max_size=10).map(bytes),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-5, 10**10), VALUES), max_size=8),
    st.integers(1, 40),
    st.booleans(),
)
def test_reading_undoes_writing(rows, chunk, doubles):
    def literal(value):
        text = b"NULL" if value is None else escape(value)
        return text.replace(rb"\'", b"''") if doubles and rb"\\" not in text else text

    values = b",".join(b"(%d,0,%s,NULL)" % (number, literal(value)) for number, value in rows)
    dump = CREATE + (INSERT + values + b";" if rows else b"") + END
    chunks = (dump[start : start + chunk] for start in range(0, len(dump), chunk))
    expected = [(value, b"%d" % number) for number, value in rows]
    assert list(read_rows(chunks, "page", COLUMNS)) == expected


@pytest.mark.parametrize(
    "filling",
    [
        b"'" + b"a" * 5_000_000,
        b"'" + b"\\'" * 2_500_000,
        b"'" + b"''" * 2_500_000,
        b"/*" + b"*" * 5_000_000,
        b"(" * 5_000_000,
        b"-" * 5_000_000,
        b"1" * 5_000_000,
        b"(1,0,'a'" * 600_000,
    ],
    ids=["string", "escapes", "doubled", "comment", "parentheses", "dashes", "digits", "heads"],
)
@pytest.mark.parametrize("before", [b"", b"SET x = ", CREATE + INSERT, CREATE + INSERT + b"(1,0,"])
def test_linear_time_on_garbage(before, filling):
    def read(dump):
        pieces = (dump[at : at + 9999] for at in range(0, len(dump), 9999))
        with pytest.raises(SqlDumpError):
            list(read_rows(pieces, "page", COLUMNS))

    call_linear(read, lambda size: before + filling[:size], len(filling))


def test_an_endless_string_is_given_up(monkeypatch):
    monkeypatch.setattr("corpusmill.transforms.wikipedia.sql_dump.MAX_ROW_BYTES", 1 << 16)
    taken = []

    def endless():
        yield CREATE + INSERT + b"(1,0,'"
        for _ in range(10_000):
            taken.append(1)
            yield b"a" * 1024

    with pytest.raises(SqlDumpError, match="does not end within"):
        list(read_rows(endless(), "page", COLUMNS))
    assert len(taken) < 200


def test_long_row():
    title = b"x" * 3_000_000
    dump = CREATE + INSERT + b"(1,0,'a',0),(2,0,'%s',0),(3,0,'b',0);" % title + END
    chunks = (dump[start : start + 5000] for start in range(0, len(dump), 5000))
    rows = list(read_rows(chunks, "page", COLUMNS))
    assert rows == [(b"a", b"1"), (title, b"2"), (b"b", b"3")]


def real_rows(name, table, columns):
    with gzip.open(DATA / "wikidata" / name) as dump:
        return list(read_rows([dump.read()], table, columns))


@needs_real_data
@pytest.mark.parametrize(
    ("name", "columns", "count", "first", "last"),
    [
        ("verbatim/rmwiki-20240301-page", "page_title page_is_redirect", 7,
         b"Pagina_principala 0", b"Pajais_Federativ_Austria 0"),
        ("verbatim/rmwiki-20240301-redirect", "rd_title rd_interwiki", 3,
         b"Pagina_principala ", b"it:user:Username b"),
        ("verbatim/rmwiki-20240301-page_props", "pp_page pp_value pp_sortkey", 6,
         b"1 Q5296 NULL", b"14564 -10 -10"),
        ("verbatim/loginwiki-20240501-page_props", "pp_page", 0, None, None),
        ("verbatim/metawiki-20240401-sites", "site_global_key site_domain", 1025,
         b"aawiki gro.aidepikiw.aa.", b"zghwiki gro.aidepikiw.hgz."),
        ("verbatim/wikidatawiki-20240401-page_props", "pp_page pp_value", 16, b"1 1", b"19441465 Q5296"),
        ("elwiki-sample-page_props", "pp_value pp_page", 11, b"Q155 814", b"Q124 882"),
    ],
)  # fmt: skip
def test_real_dump(name, columns, count, first, last):
    rows = real_rows(f"{name}.sql.gz", name.rsplit("-", 1)[1], columns.split())
    assert len(rows) == count
    for row, expected in ((rows[0], first), (rows[-1], last)) if rows else ():
        assert b" ".join(b"NULL" if value is None else value for value in row) == expected


@needs_real_data
def test_real_sitelinks():
    columns = ["ips_item_id", "ips_site_id", "ips_site_page"]
    rows = real_rows("wikidatawiki-sample-wb_items_per_site.sql.gz", "wb_items_per_site", columns)
    assert len(rows) == 23_397
    assert rows[0] == (b"1", b"afwiki", b"Heelal")
    assert (b"262", b"elwiki", "Αλγερία".encode()) in rows
    with gzip.open(DATA / "wikidata" / "wikidata-sample-all.json.gz") as lines:
        entities = [entity for entity in map(parse_entity, lines) if entity]
    assert {(int(item), site.decode(), title.decode()) for item, site, title in rows} == {
        (entity.numeric_id, *sitelink) for entity in entities for sitelink in entity.sitelinks
    }
