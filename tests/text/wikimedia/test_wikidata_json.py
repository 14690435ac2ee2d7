import bz2
import gzip
import json
import pickle

import pytest

from tests.real_data import DATA, needs_real_data
from transforms.text.wikimedia.wikidata_json import Entity, MalformedEntityError, parse_entity


def statement(value, rank="normal", **snak):
    snak = {"snaktype": "value", "datavalue": {"value": value, "type": "wikibase-entityid"}} | snak
    return {"mainsnak": snak, "type": "statement", "rank": rank}


def names(qid):
    return {"entity-type": "item", "numeric-id": int(qid[1:]), "id": qid}


def item(**fields):
    return {"type": "item", "id": "Q64", "labels": {}, "claims": {}, "sitelinks": {}} | fields


BERLIN = item(
    claims={
        "P31": [statement(names("Q515")), statement(names("Q1549591"))],
        "P279": [statement(names("Q1"))],
        "P17": [statement(names("Q183"))],
    },
    sitelinks={
        "dewiki": {"site": "dewiki", "title": "Berlin", "badges": ["Q17437796"]},
        "jawiki": {"site": "jawiki", "title": "ベルリン", "badges": [], "url": "https://…"},
        "arwiki": {"site": "arwiki", "title": "برلين"},
    },
)
BERLIN_ENTITY = Entity(
    "Q64",
    ("Q515", "Q1549591"),
    ("Q1",),
    (("dewiki", "Berlin"), ("jawiki", "ベルリン"), ("arwiki", "برلين")),
)
LINE = json.dumps(BERLIN).encode()


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        LINE + b",\n",
        LINE + b" ,\r\n",
        b"    " + LINE + b"\n",
        b"[" + LINE + b",\n",
        LINE + b"]\n",
        b"[" + LINE + b"]",
        b"," + LINE,
        b"\xef\xbb\xbf[" + LINE + b",",
        json.dumps(BERLIN, ensure_ascii=False).encode(),
        json.dumps({"pageid": 1, "ns": 0, "title": "Q64", "lastrevid": 2} | BERLIN).encode(),
        json.dumps(BERLIN | {"id": "q64"}).encode(),
        json.dumps({key: value for key, value in BERLIN.items() if key != "type"}).encode(),
    ],
)
def test_item(line):
    assert parse_entity(line) == BERLIN_ENTITY


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"[",
        b"[\n",
        b"]",
        b"]\r\n",
        b"[]",
        b",",
        b"\xef\xbb\xbf[\n",
        b'{"type":"property","id":"P31","datatype":"wikibase-item","claims":{}}',
        b'{"type":"lexeme","id":"L1","lemmas":{},"claims":{}}',
        b'{"type":"mediainfo","id":"M1"}',
        b'{"entity":"Q404","redirect":"Q395"},',
    ],
)
def test_no_item(line):
    assert parse_entity(line) is None


def test_page_data_of_a_redirect_do_not_name_the_item():
    line = json.dumps({"title": "Q404", "ns": 0} | item(id="Q395")).encode()
    assert parse_entity(line) == Entity("Q395", (), (), ())


@pytest.mark.parametrize(
    "fields",
    [
        {"claims": [], "sitelinks": [], "labels": []},
        {"claims": {}, "sitelinks": {}},
        {"claims": None, "sitelinks": None},
        {"claims": {"P31": [], "P279": []}},
    ],
)
def test_empty(fields):
    line = json.dumps(item(**fields)).encode()
    assert parse_entity(line) == Entity("Q64", (), (), ())


def test_without_claims_and_sitelinks():
    assert parse_entity(b'{"type":"item","id":"Q64"}') == Entity("Q64", (), (), ())


@pytest.mark.parametrize(
    ("statements", "classes"),
    [
        ([statement(names("Q5"))], ("Q5",)),
        ([statement({"entity-type": "item", "numeric-id": 5})], ("Q5",)),
        ([statement({"entity-type": "item", "id": "Q5"})], ("Q5",)),
        ([statement({"id": "Q5"})], ("Q5",)),
        ([statement(names("Q5")), statement(names("Q5"))], ("Q5",)),
        ([statement(names("Q5")), statement(names("Q6"), "preferred")], ("Q5", "Q6")),
        ([statement(names("Q5"), "deprecated"), statement(names("Q6"))], ("Q6",)),
        ([statement(names("Q5"), "deprecated")], ()),
        ([{"mainsnak": {"snaktype": "novalue", "property": "P31"}, "rank": "normal"}], ()),
        ([{"mainsnak": {"snaktype": "somevalue"}}, statement(names("Q6"))], ("Q6",)),
        ([{"mainsnak": statement(names("Q5"))["mainsnak"]}], ("Q5",)),
        ([statement({"entity-type": "property", "id": "P31"})], ()),
    ],
)
def test_classes(statements, classes):
    line = json.dumps(item(claims={"P31": statements})).encode()
    assert parse_entity(line) == Entity("Q64", classes, (), ())
    line = json.dumps(item(claims={"P279": statements})).encode()
    assert parse_entity(line) == Entity("Q64", (), classes, ())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (LINE[:-30], "not-json"),
        (b"<html>", "not-json"),
        (b'{"id":"Q1"}{"id":"Q2"}', "not-json"),
        (b'{"id":"Q1","labels":"\xff"}', "not-json"),
        (b'"Q1"', "not-an-object"),
        (b"12", "not-an-object"),
        (b"{}", "no-id"),
        (b'{"error":{"code":"x"}}', "no-id"),
        (b'{"type":"item","id":"P31"}', "bad-id"),
        (b'{"type":"item","id":"Q0"}', "bad-id"),
        (b'{"type":"item","id":64}', "bad-id"),
        (b'{"id":"Q1","claims":["P31"]}', "bad-claims"),
        (b'{"id":"Q1","claims":{"P31":["Q5"]}}', "bad-claims"),
        (b'{"id":"Q1","claims":{"P31":5}}', "bad-claims"),
        (b'{"id":"Q1","claims":{"P279":[{"rank":"normal"}]}}', "bad-claims"),
        (json.dumps(item(claims={"P31": [statement("Q5")]})).encode(), "bad-claims"),
        (json.dumps(item(claims={"P31": [statement({"id": "x"})]})).encode(), "bad-claims"),
        (json.dumps(item(claims={"P31": [statement({"id": 5})]})).encode(), "bad-claims"),
        (b'{"id":"Q1","sitelinks":["enwiki"]}', "bad-sitelinks"),
        (b'{"id":"Q1","sitelinks":{"enwiki":"Universe"}}', "bad-sitelinks"),
        (b'{"id":"Q1","sitelinks":{"enwiki":{"title":null}}}', "bad-sitelinks"),
    ],
)
def test_malformed(line, reason):
    with pytest.raises(MalformedEntityError) as error:
        parse_entity(line)
    assert error.value.reason == reason
    copy = pickle.loads(pickle.dumps(error.value))
    assert (copy.reason, copy.detail) == (reason, error.value.detail)


def test_long_line():
    links = {f"x{number}wiki": {"title": "Berlin " * 20} for number in range(20_000)}
    entity = parse_entity(json.dumps(item(sitelinks=links)).encode())
    assert entity is not None
    assert len(entity.sitelinks) == 20_000


def real_entities(name):
    path = DATA / "wikidata" / name
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "rb") as lines:
        parsed = [parse_entity(line) for line in lines]
    return [entity for entity in parsed if entity is not None], parsed.count(None)


@needs_real_data
@pytest.mark.parametrize(
    ("name", "items", "lines_without", "with_class", "without_sitelinks"),
    [
        ("wikidata-sample-all.json.gz", 760, 2, 746, 318),
        ("verbatim/sample_wikidata_items.json.bz2", 100, 2, 100, 0),
        ("verbatim/short_stream.json.bz2", 635, 0, 631, 373),
        ("verbatim/wikibase-dump-filter-entities.json.gz", 49, 1, 40, 0),
        ("verbatim/twenty_entities.json.bz2", 20, 2, 19, 0),
        ("mock/mock-dump-for-long-testing.json", 55, 48, 51, 55),
        ("mock/mock-dump-with-bugs.json", 55, 48, 51, 55),
        ("mock/sample-dump-20150815.json.gz", 55, 48, 51, 55),
    ],
)
def test_real_dump(name, items, lines_without, with_class, without_sitelinks):
    entities, without = real_entities(name)
    assert (len(entities), without) == (items, lines_without)
    assert sum(bool(entity.instance_of) for entity in entities) == with_class
    assert sum(not entity.sitelinks for entity in entities) == without_sitelinks


@needs_real_data
def test_real_classes_and_sitelinks():
    entities, _ = real_entities("wikidata-sample-all.json.gz")
    by_id = {entity.qid: entity for entity in entities}
    assert sum(len(entity.sitelinks) for entity in entities) == 23_397
    assert sum("Q4167836" in entity.instance_of for entity in entities) == 10
    assert sum("Q5" in entity.instance_of for entity in entities) == 188
    assert ("elwiki", "Αλγερία") in by_id["Q262"].sitelinks
    assert by_id["Q1"].instance_of == ("Q1454986",)
