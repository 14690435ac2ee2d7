import gzip

import pytest

from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.wikipedia.read_dumps import ReadSqlDump, read_file
from tests.makers.compressed import COMPRESS
from tests.tools.run_pipeline import run_pipeline

COLUMNS = ["pp_value", "pp_page"]
CREATE = (
    b"CREATE TABLE `page_props` (`pp_page` int, `pp_propname` varbinary(60), `pp_value` blob);\n"
)


def dump_of(*rows):
    values = b",".join(b"(%d,'wikibase_item',%s)" % row for row in rows)
    return CREATE + b"INSERT INTO `page_props` VALUES " + values + b";\n"


@pytest.mark.parametrize(("suffix", "compress"), COMPRESS.items())
def test_rows_of_all_files(tmp_path, suffix, compress):
    first = dump_of((1, b"'Q1'"), (2, b"NULL"))
    second = dump_of((3, rb"'L\'Aquila'"), (4, "'東京'".encode()))
    (tmp_path / f"a-page_props.sql{suffix}").write_bytes(compress(first))
    (tmp_path / f"b-page_props.sql{suffix}").write_bytes(compress(second))
    (tmp_path / f"c-page_props.sql{suffix}").write_bytes(compress(CREATE))
    patterns = [f"{tmp_path}/*.sql{suffix}", f"{tmp_path}/a-page_props.sql{suffix}"]
    expected = [(b"Q1", b"1"), (None, b"2"), (b"L'Aquila", b"3"), ("東京".encode(), b"4")]
    assert sorted(read(patterns), key=lambda row: row[1]) == expected


def read(patterns):
    reading = ReadSqlDump(patterns, "page_props", COLUMNS)
    return run_pipeline(lambda root: root | reading).elements["rows"]


def test_errors_name_file_and_offset(tmp_path):
    path = tmp_path / "a.sql"
    path.write_bytes(dump_of((1, b"'Q1'"))[:-8])
    with pytest.raises(
        Exception, match=f"InputError: {path}, byte {len(CREATE) + 32}: .*truncated"
    ):
        read([str(path)])
    with pytest.raises(Exception, match=r"InputError: .*missing\.sql: no such file"):
        read([f"{tmp_path}/missing.sql"])


DAMAGED_GZ = bytearray(gzip.compress(dump_of((1, b"'Q1'"), (2, b"'Q2'"))))
DAMAGED_GZ[20:40] = bytes(20)


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        *((suffix, COMPRESS[suffix](dump_of((1, b"'Q1'")))[:-9]) for suffix in (".gz", ".bz2")),
        (".xz", COMPRESS[".xz"](dump_of((1, b"'Q1'")))[:-40]),
        (".gz", bytes(DAMAGED_GZ)),
    ],
)
def test_a_compressed_file_that_is_cut_off_or_damaged(tmp_path, suffix, content):
    path = tmp_path / f"a.sql{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged or truncated") as error:
        list(read_file(str(path), "page_props", COLUMNS))
    assert error.value.path == str(path)


@pytest.mark.parametrize(("table", "columns"), [("page", COLUMNS), ("page_props", ["pp_sortkey"])])
def test_other_table_or_columns(tmp_path, table, columns):
    (tmp_path / "a.sql").write_bytes(dump_of((1, b"'Q1'")))
    with pytest.raises(
        InputError, match=r"no (table|column) .*; (tables|columns) in the (dump|table): "
    ):
        list(read_file(str(tmp_path / "a.sql"), table, columns))
