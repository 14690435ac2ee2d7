import bz2
import gzip
import json
import lzma
import pathlib
import re
from collections.abc import Sequence
from unittest import mock

import apache_beam as beam
import pytest

from corpusmill.transforms.files import work_units
from corpusmill.transforms.files.bz2_blocks import find_marks
from corpusmill.transforms.files.counters import LostBytes
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Rejected
from corpusmill.transforms.wikipedia import make_entity_table
from corpusmill.transforms.wikipedia.read_dumps import dump_bytes_of
from corpusmill.transforms.wikipedia.wikidata import Entity
from tests.makers.bz2_files import pack_stream
from tests.makers.compressed import COMPRESS
from tests.tools.real_data import DATA, needs_real_data
from tests.tools.run_pipeline import Outcome, run_pipeline


def line_of(number: int, title: str) -> bytes:
    sitelinks = {"jawiki": {"site": "jawiki", "title": title}}
    return json.dumps({"type": "item", "id": f"Q{number}", "sitelinks": sitelinks}).encode()


HEAD = b"[\n" + line_of(1490, "東京都") + b",\n"
BAD_CLAIMS = b'{"id":"Q3","claims":{"P31":5}},\n'
DUMP = (
    HEAD
    + b'{"type":"item","id":"Q2","cla\n'
    + b'{"type":"property","id":"P31"},\n'
    + BAD_CLAIMS
    + line_of(64, "ベルリン")
    + b"\n]\n"
)
ENTITIES = [
    Entity(64, (), (), (("jawiki", "ベルリン"),)),
    Entity(1490, (), (), (("jawiki", "東京都"),)),
]


def write_dump(folder: pathlib.Path, suffix: str, content: bytes) -> str:
    path = folder / f"wikidata-20260101-all.json{suffix}"
    path.write_bytes(content)
    return str(path)


def read(paths: Sequence[str], stripes: int = 1, on_corrupt: str = "fail") -> Outcome:
    return run_pipeline(
        lambda root: root | make_entity_table.ReadEntities(paths, stripes, on_corrupt)
    )


def entities_in(outcome: Outcome) -> list[Entity]:
    return sorted(entity for batch in outcome.elements["batches"] for entity in batch)


@pytest.mark.parametrize("stripes", [1, 3])
@pytest.mark.parametrize("suffix", COMPRESS)
def test_everything_is_accounted_for(tmp_path: pathlib.Path, suffix: str, stripes: int) -> None:
    stored = COMPRESS[suffix](DUMP)
    path = write_dump(tmp_path, suffix, stored)
    name = pathlib.Path(path).name
    outcome = read([path], stripes)
    block = "4+" if suffix == ".bz2" else ""
    assert entities_in(outcome) == ENTITIES
    assert sorted(outcome.elements["rejected"]) == sorted(
        Rejected(f"{name}:{block}{place}", "", "read-entities", reason, detail)
        for place, reason, detail in (
            (len(HEAD), "not-json", "Input data was truncated"),
            (DUMP.index(BAD_CLAIMS), "bad-claims", "Expected `array`, got `int` - at `$.P31`"),
        )
    )
    assert outcome.elements["lost"] == []
    units = stripes if suffix in (".gz", ".xz", ".zst") else 1
    assert len(outcome.elements["skipped"]) == units
    assert sum(outcome.elements["skipped"]) == 3  # two brackets and a property
    assert outcome.counters == {
        "read-entities/dump_bytes": len(stored) * units,
        "read-entities/json_bytes": len(DUMP),
        "read-entities/entities": 2,
        "read-entities/not-json": 1,
        "read-entities/bad-claims": 1,
    }
    assert dump_bytes_of(path, stripes) == len(stored) * units


@pytest.mark.parametrize("suffix", ["", ".bz2"])
def test_units_share_a_file(tmp_path: pathlib.Path, suffix: str) -> None:
    lines = [line_of(number, f"題 {number}") for number in range(1, 3001)]
    dump = b"[\n" + b",\n".join(lines) + b"\n]\n"
    parts = [dump[at : at + 9999] for at in range(0, len(dump), 9999)]
    stored = pack_stream(parts) if suffix else dump
    path = write_dump(tmp_path, suffix, stored)
    with mock.patch.object(work_units, "MIN_UNIT_BYTES", len(stored) // 7):
        outcome = read([path])
    assert [entity.numeric_id for entity in entities_in(outcome)] == list(range(1, 3001))
    assert len(outcome.elements["skipped"]) == 7
    assert sum(outcome.elements["skipped"]) == 2
    assert outcome.elements["rejected"] == []
    assert outcome.counters == {
        "read-entities/dump_bytes": len(stored),
        "read-entities/json_bytes": len(dump),
        "read-entities/entities": 3000,
    }


def test_batches_are_small_and_files_come_together(tmp_path: pathlib.Path) -> None:
    lines = b"\n".join(line_of(number, "x") for number in range(1, 2502))
    second = gzip.compress(line_of(2502, "x"))
    outcome = read([write_dump(tmp_path, "", lines), write_dump(tmp_path, ".gz", second)])
    assert sorted(map(len, outcome.elements["batches"])) == [1, 501, 1000, 1000]
    assert [len(entities_in(outcome)), outcome.elements["skipped"]] == [2502, [0, 0]]


def test_overlong_lines_are_rejected(tmp_path: pathlib.Path) -> None:
    overlong = line_of(2, "x" * 1000)
    dump = HEAD + overlong + b",\n" + line_of(64, "ベルリン") + b"\n]"
    path = write_dump(tmp_path, "", dump)
    with mock.patch.object(work_units, "MAX_LINE_BYTES", 200):
        outcome = read([path])
    assert entities_in(outcome) == ENTITIES
    (rejected,) = outcome.elements["rejected"]
    place = f"wikidata-20260101-all.json:{len(HEAD)}"
    detail = overlong[:100].decode()
    assert rejected == Rejected(place, "", "read-entities", "line-too-long", detail)
    assert outcome.counters["read-entities/line-too-long"] == 1


def test_damage_is_told_and_the_rest_kept(tmp_path: pathlib.Path) -> None:
    lines = [line_of(number, f"題 {number}") + b"\n" for number in range(1, 41)]
    parts = [b"".join(lines[at : at + 10]) for at in range(0, 40, 10)]
    stored = bytearray(pack_stream(parts))
    _, start, end, *_ = (bit // 8 for bit, _ in find_marks(stored))
    stored[(start + end) // 2] ^= 255
    path = write_dump(tmp_path, ".bz2", bytes(stored))
    with pytest.raises(Exception, match=f"InputError: {path}, byte {start}: a damaged bz2 block"):
        read([path])
    outcome = read([path], on_corrupt="keep-good")
    # The first line of the third block may be the rest of one that begins in the second.
    kept = [*range(1, 11), *range(22, 41)]
    assert [entity.numeric_id for entity in entities_in(outcome)] == kept
    name = pathlib.Path(path).name
    lost = LostBytes(name, start, end + 1, "a damaged bz2 block", -1, "")
    assert outcome.elements["lost"] == [lost]
    assert outcome.counters["read-entities/damages"] == 1
    assert outcome.counters["read-entities/dump_bytes"] == len(stored)
    path = write_dump(tmp_path, ".gz", gzip.compress(DUMP)[:-9])
    place = f"{path}, byte {len(DUMP)}: .*truncated: .*uncompressed text"
    with pytest.raises(Exception, match=f"InputError: {place}"):
        read([path], stripes=2)


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match=r"on_corrupt must be one of .*, not 'skip'"):
        _ = beam.Pipeline() | make_entity_table.ReadEntities(["a.json"], on_corrupt="skip")


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        *((suffix, compress(DUMP)) for suffix, compress in COMPRESS.items()),
        ("", DUMP.removesuffix(b"\n]\n") + b",\n"),
        ("", DUMP.removesuffix(b"\n]\n")),
        ("", b"[]"),
        (".bz2", pack_stream([DUMP[:50], DUMP[50:]])),
        (".xz", lzma.compress(DUMP) + b"\0" * 8),
        (".gz", gzip.compress(DUMP)[:-8]),  # nobody sees that it is cut off
    ],
)
def test_dumps_that_look_whole(tmp_path: pathlib.Path, suffix: str, content: bytes) -> None:
    make_entity_table.check_entity_dump(write_dump(tmp_path, suffix, content))


@pytest.mark.parametrize(
    ("suffix", "content", "place", "message"),
    [
        ("", b"", 0, "the file is empty"),
        (
            "",
            DUMP[:-8],
            len(DUMP) - 8,
            "the file ends inside a line: it is truncated or still being",
        ),
        (".bz2", bz2.compress(DUMP)[:-1], -1, "the file ends inside its bz2 data: it is truncated"),
        (".xz", lzma.compress(DUMP)[:-8], -8, "the file ends inside its xz data: it is truncated"),
        (".bz2", b"BZh9" + b"x" * 100, 0, "cannot be decompressed: Invalid data stream"),
        (".xml", b"<mediawiki>", 0, "not a Wikidata JSON dump: it begins with '<mediawiki>'"),
        (
            ".gz",
            gzip.compress(b"-- My", mtime=0),
            0,
            "not a Wikidata JSON dump: it begins with '-- My'",
        ),
    ],
)
def test_dumps_that_look_wrong(
    tmp_path: pathlib.Path, suffix: str, content: bytes, place: int, message: str
) -> None:
    path = write_dump(tmp_path, suffix, content)
    offset = len(content) if place < 0 else place
    with pytest.raises(InputError) as error:
        make_entity_table.check_entity_dump(path)
    assert (error.value.path, error.value.offset) == (path, offset)
    assert message in error.value.message
    if "truncated" in message:  # the part that is whole may be wanted
        make_entity_table.check_entity_dump(path, whole=False)
    else:
        with pytest.raises(InputError, match=re.escape(message)):
            make_entity_table.check_entity_dump(path, whole=False)


REAL_DUMPS = [  # entities, lines without an item, entities with a class, entities without a sitelink
    ("wikidata-sample-all.json.gz", 760, 2, 746, 318),
    ("verbatim/sample_wikidata_items.json.bz2", 100, 2, 100, 0),
    ("verbatim/short_stream.json.bz2", 635, 0, 631, 373),
    ("verbatim/wikibase-dump-filter-entities.json.gz", 49, 1, 40, 0),
    ("verbatim/twenty_entities.json.bz2", 20, 2, 19, 0),
    ("mock/mock-dump-for-long-testing.json", 55, 48, 51, 55),
    ("mock/mock-dump-with-bugs.json", 55, 48, 51, 55),
    ("mock/sample-dump-20150815.json.gz", 55, 48, 51, 55),
]


@needs_real_data
@pytest.mark.parametrize(("name", "items", "skipped", "with_class", "unlinked"), REAL_DUMPS)
@pytest.mark.parametrize("stripes", [1, 3])
def test_real_dumps(
    name: str, items: int, skipped: int, with_class: int, unlinked: int, stripes: int
) -> None:
    path = f"{DATA}/wikidata/{name}"
    make_entity_table.check_entity_dump(path)
    with mock.patch.object(work_units, "MIN_UNIT_BYTES", 1 << 14):
        outcome = read([path], stripes)
        units = make_entity_table.plan_units(path, stripes)
    entities = entities_in(outcome)
    assert len(entities) == items
    assert sum(bool(entity.instance_of) for entity in entities) == with_class
    assert sum(not entity.sitelinks for entity in entities) == unlinked
    assert sum(outcome.elements["skipped"]) == skipped
    assert outcome.elements["rejected"] == outcome.elements["lost"] == []
    assert len(outcome.elements["skipped"]) == len(units)
    assert outcome.counters["read-entities/dump_bytes"] == dump_bytes_of(path, stripes)
    assert outcome.counters["read-entities/entities"] == items
