import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikipedia import wikidata
from tests.tools.case_tables import read_byte_cases


def statement(value, rank="normal", **snak):
    snak = {"snaktype": "value", "datavalue": {"value": value, "type": "wikibase-entityid"}} | snak
    return {"mainsnak": snak, "type": "statement", "rank": rank}


def names(number):
    return {"entity-type": "item", "numeric-id": number, "id": f"Q{number}"}


def item(**fields):
    return {"type": "item", "id": "Q64", "labels": {}, "claims": {}, "sitelinks": {}} | fields


BERLIN = item(
    claims={
        "P31": [statement(names(515)), statement(names(1549591))],
        "P279": [statement(names(1))],
        "P17": [statement(names(183))],
    },
    sitelinks={
        "dewiki": {"site": "dewiki", "title": "Berlin", "badges": ["Q17437796"]},
        "jawiki": {"site": "jawiki", "title": "ベルリン", "badges": [], "url": "https://…"},
        "arwiki": {"site": "arwiki", "title": "برلين"},
    },
)
BERLIN_ENTITY = wikidata.Entity(
    64,
    (515, 1549591),
    (1,),
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
    assert wikidata.parse_entity(line) == BERLIN_ENTITY


@pytest.mark.parametrize("line", read_byte_cases("wikipedia/wikidata_json", "no_item"))
def test_no_item(line):
    assert wikidata.parse_entity(line) is None


def test_page_data_of_a_redirect_do_not_name_the_item():
    line = json.dumps({"title": "Q404", "ns": 0} | item(id="Q395")).encode()
    assert wikidata.parse_entity(line) == wikidata.Entity(395, (), (), ())


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
    assert wikidata.parse_entity(line) == wikidata.Entity(64, (), (), ())


def test_without_claims_and_sitelinks():
    assert wikidata.parse_entity(b'{"type":"item","id":"Q64"}') == wikidata.Entity(64, (), (), ())


@pytest.mark.parametrize(
    ("statements", "classes"),
    [
        ([statement(names(5))], (5,)),
        ([statement({"entity-type": "item", "numeric-id": 5})], (5,)),
        ([statement({"entity-type": "item", "id": "Q5"})], (5,)),
        ([statement({"id": "Q5"})], (5,)),
        ([statement(names(5)), statement(names(5))], (5,)),
        ([statement(names(5)), statement(names(6), "preferred")], (5, 6)),
        ([statement(names(5), "deprecated"), statement(names(6))], (6,)),
        ([statement(names(5), "deprecated")], ()),
        ([{"mainsnak": {"snaktype": "novalue", "property": "P31"}, "rank": "normal"}], ()),
        ([{"mainsnak": {"snaktype": "somevalue"}}, statement(names(6))], (6,)),
        ([{"mainsnak": statement(names(5))["mainsnak"]}], (5,)),
        ([statement({"entity-type": "property", "id": "P31"})], ()),
        ([statement({"id": "q5"}), statement({"id": "Q5"})], (5,)),
        ([statement({"numeric-id": 10**18 - 1})], (10**18 - 1,)),
        ([statement({"id": "Q5", "numeric-id": 6})], (5,)),
    ],
)
def test_classes(statements, classes):
    line = json.dumps(item(claims={"P31": statements})).encode()
    assert wikidata.parse_entity(line) == wikidata.Entity(64, classes, (), ())
    line = json.dumps(item(claims={"P279": statements})).encode()
    assert wikidata.parse_entity(line) == wikidata.Entity(64, (), classes, ())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        *read_byte_cases("wikipedia/wikidata_json", "malformed", 0),
        (LINE[:-30], "not-json"),
        (b'{"id":"Q1","labels":"\xff"}', "not-json"),
        (b'{"id":"Q1","\xff":1}', "not-json"),
        (b'{"id":"Q1","labels":' + b"[" * 10**5 + b"]" * 10**5 + b"}", "not-json"),
        (b'{"id":"Q1","sitelinks":{"enwiki":{"title":"\xc3"}}}', "not-json"),
    ],
)
def test_malformed(line, reason):
    with pytest.raises(wikidata.MalformedEntityError) as error:
        wikidata.parse_entity(line)
    assert error.value.reason == reason
    copy = pickle.loads(pickle.dumps(error.value))
    assert (copy.reason, copy.detail) == (reason, error.value.detail)


def test_long_line():
    links = {f"x{number}wiki": {"title": "Berlin " * 20} for number in range(20_000)}
    entity = wikidata.parse_entity(json.dumps(item(sitelinks=links)).encode())
    assert entity is not None
    assert len(entity.sitelinks) == 20_000


numbers = st.integers(1, 10**18 - 1)
titles = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | titles,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(titles, inner, max_size=3),
    max_leaves=10,
)
KNOWN = {"id", "type", "redirect", "claims", "sitelinks"}
known_keys = st.sampled_from(["P31", "P279", "title", *sorted(KNOWN)])


@given(
    st.builds(
        wikidata.Entity,
        numbers,
        st.lists(numbers, unique=True, max_size=4).map(tuple),
        st.lists(numbers, unique=True, max_size=4).map(tuple),
        st.dictionaries(titles, titles, max_size=4).map(lambda links: tuple(links.items())),
    ),
    st.dictionaries(titles, anything, max_size=4),
    st.dictionaries(titles | known_keys, anything, max_size=4),
    st.booleans(),
)
def test_what_stands_beside_the_wanted_is_passed_over(entity, beside, inside, ascii_only):
    def named(classes):
        return [statement(names(number)) | {"qualifiers": inside} for number in classes]

    fields = item(
        id=f"Q{entity.numeric_id}",
        claims=beside | {"P31": named(entity.instance_of), "P279": named(entity.subclass_of)},
        sitelinks={
            site: {key: value for key, value in inside.items() if key != "title"} | {"title": title}
            for site, title in entity.sitelinks
        },
        labels=inside,
    )
    line = {key: value for key, value in beside.items() if key not in KNOWN} | fields
    assert wikidata.parse_entity(json.dumps(line, ensure_ascii=ascii_only).encode()) == entity


@given(st.data())
def test_a_changed_byte_is_noticed_or_json(data):
    """Changes in parts that the decoder skips are noticed: a line is an item only if all of it is JSON."""
    line = bytearray(json.dumps(BERLIN | {"labels": {"de": "Ö\\n"}}, ensure_ascii=False).encode())
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] = data.draw(st.integers(0, 255))
    try:
        entity = wikidata.parse_entity(bytes(line))
    except wikidata.MalformedEntityError:
        return
    if entity is not None:
        assert isinstance(json.loads(bytes(line).strip(b"[], \t\r\n")), dict)


@pytest.mark.parametrize(
    ("head", "begins"), read_byte_cases("wikipedia/wikidata_json", "the_beginning_of_a_dump", 0)
)
def test_the_beginning_of_a_dump(head, begins):
    assert wikidata.begins_entities(head) == begins
