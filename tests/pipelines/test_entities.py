"""`corpusmill entities`: from dumps to finished tables."""

import bz2
import gzip
import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.entities import Entities
from corpusmill.pipelines.entities_settings import VERSION, EntitiesConfig, _codes
from corpusmill.pipelines.run.launch import launch
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.wikipedia.entity_table import INTERNAL_ROOTS
from corpusmill.transforms.wikipedia.read_dumps import plan_units
from corpusmill.transforms.wikipedia.wikidata import parse_entity
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES, open_codes
from tests.makers.dump_files import wikidata_item, write_entities
from tests.makers.wiki_builds import Build, files_below, random_hex, run_cli
from tests.tools.case_tables import read_cases
from tests.tools.real_data import DATA, needs_real_data

DATE = "20260101"
NAME = f"wikidata-{DATE}-all.json"
LIST, CATEGORY = "Q13406463", "Q4167836"


def item(number: int, p31: Sequence[str] = (), p279: Sequence[str] = (), **titles: str) -> Any:
    claims = {name: values for name, values in (("P31", p31), ("P279", p279)) if values}
    return wikidata_item(f"Q{number}", {}, claims, titles)


ITEMS = [
    item(64, ["Q515", "Q1549591"], enwiki="Berlin", dewiki="Berlin", ukwiki="Берлін"),
    item(1490, ["Q515"], enwiki="Tokyo", zhwiki="东京都", commonswiki="東京都"),
    item(515, [], ["Q486972"], enwiki="City", ukwiki="Місто"),
    item(9001, [], [LIST], enwiki="List of lists"),
    item(9002, [], ["Q9001", "Q9003"]),
    item(9003, [], ["Q9002", CATEGORY]),
    item(3_000_000_001, ["Q9002"], ukwiki="Список міст"),
    item(7),
    *(item(10_000 + 40_000 * number, ["Q5"], enwiki=f"Person {number}") for number in range(30)),
]
BAD_LINES = [b'{"type":"item","id":"Q1","cla', b'{"type":"item","id":"X1"}']
SKIPPED_LINES = [b'{"type":"property","id":"P31"}', b'{"entity":"Q2","redirect":"Q64"}']


def write(folder: Path, name: str, items: Iterable[Mapping[str, Any]] = ITEMS) -> str:
    folder.mkdir(exist_ok=True)
    write_entities(folder / name, items)
    return str(folder / name)


def build(output: Path, *dumps: str, workers: int = 1, **settings: Any) -> Build:
    config = EntitiesConfig(dumps, **({"wikis": ("uk", "zh-tw"), "rows_per_file": 10} | settings))
    corpus = Entities(config)
    launch(corpus, str(output), workers=workers)
    return Build(output.joinpath(*corpus.path))


def rows_of(built: Build) -> list[dict[str, Any]]:
    paths = sorted(built.folder.glob("entities-*.parquet"))
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def kinds_of(built: Build) -> dict[int, str]:
    rows = pq.read_table(built.folder / "internal-classes.parquet").to_pylist()
    return {row["numeric_id"]: row["kind"] for row in rows}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Build:
    folder = tmp_path_factory.mktemp("table")
    return build(folder / "output", write(folder, NAME))


def test_the_table(table: Build) -> None:
    assert table.folder.parts[-3:] == ("entities", "wikidata", f"{DATE}-{VERSION}")
    expected = []
    for one in sorted(ITEMS, key=lambda one: int(one["id"][1:])):
        entity = parse_entity(json.dumps(one).encode())
        assert entity
        titles = dict(entity.sitelinks)
        expected.append(
            {"numeric_id": entity.numeric_id, "instance_of": [*entity.instance_of]}
            | {wiki: titles.get(wiki) for wiki in ("enwiki", "ukwiki", "zhwiki")}
        )
    assert rows_of(table) == expected
    assert expected[1] == {
        "numeric_id": 64,
        "instance_of": [515, 1549591],
        "enwiki": "Berlin",
        "ukwiki": "Берлін",
        "zhwiki": None,
    }
    assert list(expected[0]) == ["numeric_id", "instance_of", "enwiki", "ukwiki", "zhwiki"]


def test_classes_are_known_through_subclasses_and_rings(table: Build) -> None:
    assert kinds_of(table) == INTERNAL_ROOTS | {9001: "list", 9002: "category", 9003: "category"}


def test_what_the_build_says_of_itself(table: Build) -> None:
    assert table.manifest["signature"] == f"entities|lang:wikidata|dump:{DATE}|v:{VERSION}"
    assert table.manifest["counts"] == {
        "lines_read": len(ITEMS) + 2,
        "rows": len(ITEMS),
        "repeated": 0,
        "without_item": 2,
        "rejected": {"total": 0},
    }
    assert [(file["role"], file["name"]) for file in table.manifest["inputs"]] == [
        ("entities", NAME)
    ]
    assert table.stats == {
        "total": {
            "items": len(ITEMS),
            "items_with_class": 33,
            "sitelinks": {"enwiki": 34, "ukwiki": 3, "zhwiki": 1},
            "internal_classes": {
                "disambiguation": 2,
                "category": 4,
                "list": 2,
                "template": 3,
                "internal": 7,
            },
        }
    }
    assert sorted(file["name"] for file in table.manifest["outputs"]) == sorted(
        set(table.tree()) - {"COMPLETED", "manifest.json"}
    )


def test_the_readme_tells_how_to_read_it(table: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    card = (table.folder / "README.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    monkeypatch.chdir(table.folder)
    found: dict[str, Any] = {}
    exec(code, found)
    assert found["titles"].num_rows == 34
    assert found["berlin"].to_pylist() == [rows_of(table)[1]]


def with_bulk(one: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The item with a label that is of no interest, so long that workers share the dump."""
    return {**one, "labels": {"en": {"language": "en", "value": random_hex(seed, 300_000)}}}


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_order_of_the_dump_nor_its_parts_packings_or_workers(
    tmp_path: Path, table: Build
) -> None:
    items = [*map(with_bulk, ITEMS, range(len(ITEMS)))]
    shuffled = random.Random(1).sample(items, len(items))
    parts = [
        write(tmp_path, f"wikidata-{DATE}-all.json{suffix}", shuffled[at::4])
        for at, suffix in enumerate(("", ".gz", ".bz2", ".xz"))
    ]
    assert all(len(plan_units(dump, stripes=2)) > 1 for dump in parts)
    for workers, dumps in ((1, parts[::-1]), (2, [f"{tmp_path}/wikidata-*"])):
        built = build(tmp_path / f"output{workers}", *dumps, workers=workers)
        tree, expected = built.tree_but_inputs(), table.tree_but_inputs()
        manifest = json.loads(tree.pop("manifest.json"))
        assert manifest.pop("counts")["without_item"] == 8  # brackets
        rest = json.loads(expected.pop("manifest.json"))
        del rest["counts"]
        for one in (manifest, rest):  # the card has the counts
            one["outputs"] = [file for file in one["outputs"] if file["name"] != "README.md"]
        assert manifest == rest
        del tree["README.md"], expected["README.md"]
        assert tree == expected


def test_by_default_the_wikis_of_all_corpora_are_wanted(tmp_path: Path) -> None:
    wikis = Entities(EntitiesConfig([write(tmp_path, NAME)])).wikis
    assert len(wikis) == 40
    assert wikis == sorted(wikis)
    assert {"enwiki", "nowiki", "zhwiki", "viwiki"} <= set(wikis)


def with_lines(path: str, lines: Sequence[bytes]) -> None:
    dump = Path(path)
    head, rest = dump.read_bytes().split(b"\n", 1)
    dump.write_bytes(b"\n".join([head, *(line + b"," for line in lines), rest]))


def test_lines_that_are_no_entity_are_rejected_and_counted(tmp_path: Path, table: Build) -> None:
    dump = write(tmp_path, NAME)
    with_lines(dump, [*BAD_LINES, *SKIPPED_LINES, b""])
    built = build(tmp_path / "output", dump)
    assert rows_of(built) == rows_of(table)
    assert built.manifest["counts"] == {
        "lines_read": len(ITEMS) + 7,
        "rows": len(ITEMS),
        "repeated": 0,
        "without_item": 5,
        "rejected": {"read-entities/bad-id": 1, "read-entities/not-json": 1, "total": 2},
    }
    assert [(one.id, one.stage, one.reason) for one in built.rejected()] == [
        (f"{NAME}:{2 + len(BAD_LINES[0]) + 2}", "read-entities", "bad-id"),
        (f"{NAME}:2", "read-entities", "not-json"),
    ]


@pytest.mark.parametrize(
    ("path", "given", "date"), read_cases("pipelines/entities", "the_date_is_that_of_the_dump")
)
def test_the_date_is_that_of_the_dump(tmp_path: Path, path: str, given: str, date: str) -> None:
    dump = tmp_path / path
    dump.parent.mkdir(parents=True, exist_ok=True)
    write_entities(dump, ITEMS[:1])
    assert Entities(EntitiesConfig([str(dump)], dump_date=given)).path == (
        "entities",
        "wikidata",
        f"{date}-{VERSION}",
    )


def test_a_dump_that_is_missing_or_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.json: no such file"):
        Entities(EntitiesConfig([f"{tmp_path}/nowhere.json"]))
    (tmp_path / NAME).write_text("<html>404 Not Found</html>")
    with pytest.raises(InputError, match=f"{NAME}, byte 0: not a Wikidata JSON dump"):
        Entities(EntitiesConfig([str(tmp_path / NAME)]))


def test_a_dump_cut_off(tmp_path: Path) -> None:
    dump = Path(write(tmp_path, f"{NAME}.gz", ITEMS))
    dump.write_bytes(dump.read_bytes()[:-200])
    with pytest.raises(BuildError, match=f"{dump}, byte [0-9]+: "):
        build(tmp_path / "output", str(dump))
    assert files_below(tmp_path / "output") == []
    built = build(tmp_path / "output", str(dump), on_corrupt="keep-good")
    (lost,) = built.manifest["lost"]
    assert lost["name"] == dump.name
    rows, all_ids = rows_of(built), {int(one["id"][1:]) for one in ITEMS}
    assert 0 < len(rows) < len(ITEMS)
    assert {row["numeric_id"] for row in rows} < all_ids


def test_the_command(tmp_path: Path, table: Build, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, f"{NAME}.gz")
    flags = ("--dump", f"{tmp_path}/*.json.gz", "--output", tmp_path / "output", "--workers", 1)
    assert run_cli("entities", *flags, "--wikis", "uk, zh-cn", "--dump-date", "20260102") == 0
    built = Build(tmp_path / "output" / "entities" / "wikidata" / f"20260102-{VERSION}")
    assert rows_of(built) == rows_of(table)
    assert f"{len(ITEMS) + 2} lines read" in capsys.readouterr().out
    assert run_cli("entities", *flags, "--wikis", "uk,commons") == 2
    assert "no such language: 'commons'" in capsys.readouterr().err
    assert run_cli("entities", *flags, "--wikis", ",") == 2
    assert _codes("all") == open_codes()
    assert _codes("hy, yue") == ("hy", "zh-yue")
    assert run_cli("entities", *flags[2:]) == 2


def test_the_examples_of_the_help_name_flags_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_cli("entities", "--help") == 0
    usage, _, examples = capsys.readouterr().out.partition("examples:")
    own = re.findall(r"corpusmill entities(.*(?: \\\n.*)*)", examples.partition("what you get")[0])
    assert len(own) == 3
    flags = {flag for example in own for flag in re.findall(r"--[a-z-]+", example)}
    assert flags >= {"--dump", "--output", "--wikis", "--on-corrupt"}
    assert all(flag in usage for flag in flags)


@needs_real_data
def test_real_items(tmp_path: Path) -> None:
    dump = f"{DATA}/wikidata/wikidata-sample-all.json.gz"
    settings: dict[str, Any] = {"wikis": LANGUAGE_CODES, "rows_per_file": 200}
    built = build(tmp_path / "one", dump, **settings)
    rows = {row["numeric_id"]: row for row in rows_of(built)}
    assert len(rows) == 760
    assert built.stats["total"]["items_with_class"] == 746
    assert sum(built.stats["total"]["sitelinks"].values()) == 6139
    assert len(list(built.folder.glob("entities-*.parquet"))) == 4
    assert rows[282]["instance_of"] == []
    titles = [rows[155][wiki] for wiki in ("enwiki", "ukwiki", "elwiki", "zhwiki", "nowiki")]
    assert titles == ["Brazil", "Бразилія", "Βραζιλία", "巴西", "Brasil"]
    packed = tmp_path / "a.json.bz2"
    packed.write_bytes(bz2.compress(gzip.decompress(Path(dump).read_bytes())))
    again = build(tmp_path / "two", str(packed), workers=2, **settings)
    assert again.tree_but_inputs() == built.tree_but_inputs()


def test_a_dump_without_an_item_makes_no_table(tmp_path: Path) -> None:
    """An array on one line, say: a build that joined the table would lose all its pages."""
    path = tmp_path / "wikidata-20260101-all.json"
    path.write_text('[{"type":"item","id":"Q1"},{"type":"item","id":"Q2"}]\n', "utf-8")
    corpus = Entities(EntitiesConfig(dump=[str(path)]))
    with pytest.raises(
        BuildError,
        match=r"wikidata-20260101-all\.json: the dump has no item: 1 lines were rejected",
    ):
        launch(corpus, str(tmp_path / "output"), workers=1)
    assert not list((tmp_path / "output").rglob("*.parquet"))
