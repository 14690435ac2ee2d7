import bz2
import gzip
import io
import json
import lzma

import apache_beam as beam
import pytest
from apache_beam.metrics import MetricsFilter
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.test_pipeline import TestPipeline
from apache_beam.testing.util import assert_that, equal_to

from tests.real_data import DATA, needs_real_data
from transforms import read_entities
from transforms.open_input import InputError
from transforms.read_entities import ReadEntities, read_lines
from transforms.records import Rejected
from transforms.text.wikimedia.wikidata_json import Entity


def line_of(qid, title):
    sitelinks = {"jawiki": {"site": "jawiki", "title": title}}
    return json.dumps({"type": "item", "id": qid, "sitelinks": sitelinks}).encode()


HEAD = b"[\n" + line_of("Q1490", "東京都") + b",\n"
BAD_CLAIMS = b'{"id":"Q3","claims":{"P31":5}},\n'
DUMP = (
    HEAD
    + b'{"type":"item","id":"Q2","cla\n'
    + b'{"type":"property","id":"P31"},\n'
    + BAD_CLAIMS
    + line_of("Q64", "ベルリン")
    + b"\n]\n"
)
ENTITIES = [
    Entity("Q1490", (), (), (("jawiki", "東京都"),)),
    Entity("Q64", (), (), (("jawiki", "ベルリン"),)),
]


def counters_of(result):
    found = result.metrics().query(MetricsFilter().with_namespace("corpusmill"))["counters"]
    return {counter.key.metric.name: counter.committed for counter in found}


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)],
)
def test_entities_and_rejected(tmp_path, suffix, compress):
    path = tmp_path / f"wikidata-all.json{suffix}"
    path.write_bytes(compress(DUMP))
    pipeline = TestPipeline(runner=FnApiRunner())
    read = pipeline | ReadEntities([str(path)])
    places = read.rejected | beam.Map(lambda r: (r.id, r.title, r.stage, r.reason))
    assert_that(read.entities, equal_to(ENTITIES), "entities")
    assert_that(
        places,
        equal_to(
            [
                (f"{path.name}:{len(HEAD)}", "", "read-entities", "not-json"),
                (f"{path.name}:{DUMP.index(BAD_CLAIMS)}", "", "read-entities", "bad-claims"),
            ]
        ),
        "rejected",
    )
    result = pipeline.run()
    result.wait_until_finish()
    assert counters_of(result) == {
        "read-entities/entities": 2,
        "read-entities/not-json": 1,
        "read-entities/bad-claims": 1,
    }


def test_overlong_lines_are_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(read_entities, "MAX_LINE_BYTES", 200)
    path = tmp_path / "a.json"
    path.write_bytes(
        HEAD + line_of("Q2", "x" * 1000) + b",\n" + line_of("Q64", "ベルリン") + b"\n]"
    )
    with TestPipeline(runner=FnApiRunner()) as pipeline:
        read = pipeline | ReadEntities([str(path)])
        rejected = Rejected(f"{path.name}:{len(HEAD)}", "", "read-entities", "line-too-long")
        assert_that(read.entities, equal_to(ENTITIES), "entities")
        assert_that(read.rejected, equal_to([rejected]), "rejected")


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"a", [(0, b"a")]),
        (b"[\na,\n\n]\n", [(0, b"[\n"), (2, b"a,\n"), (5, b"\n"), (6, b"]\n")]),
        (b"12345\n12", [(0, b"12345\n"), (6, b"12")]),
        (b"1234567890\n12\n", [(0, b"123456"), (11, b"12\n")]),
        (b"1234567890123456", [(0, b"123456")]),
    ],
)
def test_read_lines(monkeypatch, content, lines):
    monkeypatch.setattr(read_entities, "MAX_LINE_BYTES", 5)
    assert list(read_lines(io.BytesIO(content), "a.json")) == lines


@pytest.mark.parametrize(
    ("suffix", "compress", "keep"),
    [(".gz", gzip.compress, -9), (".bz2", bz2.compress, -9), (".xz", lzma.compress, -40)],
)
def test_cut_file(tmp_path, suffix, compress, keep):
    path = tmp_path / f"a.json{suffix}"
    path.write_bytes(compress(DUMP)[:keep])
    with (
        pytest.raises(InputError, match="damaged or cut"),
        read_entities.open_input(str(path)) as stream,
    ):
        list(read_lines(stream, str(path)))
    with (
        pytest.raises(Exception, match=f"InputError: {path}, byte"),
        TestPipeline(runner=FnApiRunner()) as pipeline,
    ):
        _ = pipeline | ReadEntities([str(path)])


@needs_real_data
def test_real_dumps():
    patterns = [
        f"{DATA}/wikidata/verbatim/*.json.*",
        f"{DATA}/wikidata/mock/*",
        f"{DATA}/wikidata/wikidata-sample-all.json.gz",
    ]
    with TestPipeline(runner=FnApiRunner()) as pipeline:
        read = pipeline | ReadEntities(patterns)
        links = read.entities | beam.Map(lambda entity: len(entity.sitelinks))
        counted = read.entities | beam.combiners.Count.Globally()
        assert_that(counted, equal_to([760 + 100 + 635 + 49 + 20 + 3 * 55]), "entities")
        assert_that(
            links | beam.CombineGlobally(sum), equal_to([23397 + 11933 + 948 + 8494 + 318]), "links"
        )
        assert_that(read.rejected, equal_to([]), "rejected")
