import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.markup import MalformedTableError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.text import SPLITS
from corpusmill.transforms.wikipedia import split_pins
from tests.tools.case_tables import read_cases


def read(text: str | bytes) -> list[tuple[str, str]]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(split_pins.read_pin_lines(io.BytesIO(data)))


@pytest.mark.parametrize(("text", "pins"), read_cases("wikipedia/split_pins", "lines"))
def test_lines(text: str, pins: list[list[str]]) -> None:
    assert [list(pin) for pin in read(text)] == pins


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *read_cases("wikipedia/split_pins", "lines_that_are_no_pins_are_told_with_their_number"),
        (b"wikidata_id,split\nQ64,test\nQ\xff,test\n", "line 3: not UTF-8"),
        (b"wikidata_id\tsplit\nQ64\ttest\nQ\xff\ttest\n", "line 3: not UTF-8"),
        ("wikidata_id\tsplit\n".encode("utf-16"), "line 1: not UTF-8"),
    ],
)
def test_lines_that_are_no_pins_are_told_with_their_number(text: str | bytes, message: str) -> None:
    with pytest.raises(MalformedTableError, match=message.replace("[]", r"\[\]")):
        read(text)


def test_lines_are_read_as_they_are_needed() -> None:
    lines = iter([b"wikidata_id\tsplit\n", b"Q64\ttest\n", b"bad"])
    assert next(split_pins.read_pin_lines(lines)) == ("Q64", "test")
    assert list(lines) == [b"bad"]


STRINGS = pa.array(["Q64", "Q1"])


@pytest.mark.parametrize(
    "identities",
    [
        STRINGS,
        STRINGS.cast(pa.large_string()),
        STRINGS.dictionary_encode(),
        STRINGS.cast(pa.binary()),
        pa.chunked_array([["Q64"], ["Q1"]]),
    ],
)
def test_tables(identities: pa.Array) -> None:
    table = pa.table({"n": [1, 2], "split": ["test", "dev"], "wikidata_id": identities})
    assert list(split_pins.pins_of_table(table)) == [("Q64", "test"), ("Q1", "validation")]
    assert list(split_pins.pins_of_table(table.drop_columns("split"), "train")) == [
        ("Q64", "train"),
        ("Q1", "train"),
    ]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"wikidata_id": ["Q64"]}, "schema: there is no column split; the columns are wikidata_id"),
        ({"split": ["test"]}, "schema: there is no column wikidata_id; the columns are split"),
        ({"wikidata_id": ["Q64", None], "split": ["test"] * 2}, "row 2: wikidata_id is ''"),
        ({"wikidata_id": ["Q64"], "split": [None]}, "row 1: split is ''"),
        ({"wikidata_id": [64], "split": ["test"]}, "row 1: wikidata_id is '64'"),
        ({"wikidata_id": [["Q64"]], "split": ["test"]}, "schema: wikidata_id is not text but list"),
        ({"wikidata_id": ["Q64"], "split": ["all"]}, "row 1: split is 'all'; expected one of"),
    ],
)
def test_tables_that_hold_no_pins(columns: dict[str, list[object]], message: str) -> None:
    with pytest.raises(MalformedTableError, match=message):
        list(split_pins.pins_of_table(pa.table(columns)))


def test_columns_to_read() -> None:
    assert split_pins.check_columns(["a", "split", "wikidata_id"]) == ["wikidata_id", "split"]
    assert split_pins.check_columns(["wikidata_id", "text"], "test") == ["wikidata_id"]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train-00000-of-00002.parquet", "train"),
        ("validation-00001-of-00002.parquet", "validation"),
        ("test-00000-of-00001.parquet", "test"),
        ("rejected-00000-of-00001.parquet", None),
        ("wiki40b-test.tfrecord-00000-of-00001", None),
        ("test.parquet", None),
        ("latest-00000-of-00001.parquet", None),
    ],
)
def test_the_split_of_a_file_of_a_build(name: str, split: str | None) -> None:
    assert split_pins.split_of_file(name) == split


identities = st.one_of(
    st.integers(1, 300).map("Q{}".format), st.integers(0, 99).map("elwiki:{}".format)
)
tables = st.dictionaries(identities, st.sampled_from(SPLITS), max_size=40)


@given(tables, st.data())
def test_pins_are_whole_after_the_way_in_blocks(pins: dict[str, str], data: st.DataObject) -> None:
    rows = [*pins.items(), *data.draw(st.lists(st.sampled_from([*pins.items(), ("Q1", "test")])))]
    conflict = pins.get("Q1", "test") != "test" and ("Q1", "test") in rows
    cut = data.draw(st.integers(0, len(rows)))
    blocks: dict[int, list[tuple[str, bytes]]] = {}
    for file, part in (("a", rows[:cut]), ("b", rows[cut:])):
        for bucket, block in split_pins.pack_pins(part).items():
            assert 0 <= bucket < split_pins.BUCKETS
            blocks.setdefault(bucket, []).append((file, block))
    if conflict:
        with pytest.raises(InputError, match=r"^[ab]: Q1 is pinned to "):
            split_pins.unpack_pins(blocks[split_pins.bucket_of("Q1")])
        return
    unpacked: dict[str, str] = {}
    for bucket, of_bucket in blocks.items():
        splits = split_pins.unpack_pins(data.draw(st.permutations(of_bucket)))
        assert {split_pins.bucket_of(identity) for identity in splits} == {bucket}
        unpacked |= splits
    assert unpacked == pins | dict(rows)


def test_where_pins_meet_is_fixed() -> None:
    assert [split_pins.bucket_of(one) for one in ("Q64", "Q1", "ukwiki:1088")] == [85, 208, 205]
