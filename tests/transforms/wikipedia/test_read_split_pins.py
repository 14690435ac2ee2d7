import bz2
import gzip
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.wikipedia import split_pins
from corpusmill.transforms.wikipedia.screening import PageFacts
from tests.tools.case_tables import read_cases
from tests.tools.run_pipeline import Outcome, run_inputs, run_pipeline

PINS = {"Q1": "train", "Q64": "test", "Q1899": "validation", "ukwiki:1088": "test"}
TSV = "title\twikidata_id\tsplit\n" + "".join(f"x\t{one}\t{split}\n" for one, split in PINS.items())


def write_build(folder: Path, pins: dict[str, str], rows_per_group: int = 1) -> Path:
    """A finished build, as far as pins are read from it."""
    folder.mkdir()
    for split in ("train", "validation", "test"):
        ids = [identity for identity, of_identity in pins.items() if of_identity == split]
        table = pa.table({"wikidata_id": pa.array(ids, pa.string()), "text": ["x"] * len(ids)})
        path = folder / f"{split}-00000-of-00001.parquet"
        pq.write_table(table, path, row_group_size=rows_per_group)
    (folder / "rejected").mkdir()
    (folder / "rejected" / "rejected-00000-of-00001.parquet").write_bytes(b"")
    (folder / "manifest.json").write_text("{}")
    (folder / "COMPLETED").touch()
    return folder


def write_tsv(path: Path) -> Path:
    path.write_text(TSV)
    return path


def write_gz(path: Path) -> Path:
    path.write_bytes(gzip.compress(TSV.encode()))
    return path


def write_bz2_csv(path: Path) -> Path:
    path.write_bytes(bz2.compress(TSV.replace("\t", ",").encode()))
    return path


def write_parquet(path: Path) -> Path:
    table = pa.table({"split": list(PINS.values()), "wikidata_id": list(PINS), "n": [1, 2, 3, 4]})
    pq.write_table(table, path, row_group_size=3)
    return path


WRITERS: dict[str, Callable[[Path], Path]] = {
    "pins.tsv": write_tsv,
    "pins.tsv.gz": write_gz,
    "pins.csv.bz2": write_bz2_csv,
    "pins.parquet": write_parquet,
    "build": lambda path: write_build(path, PINS),
}


def read(patterns: Sequence[object]) -> Outcome:
    files = split_pins.find_pins([str(pattern) for pattern in patterns]).files
    return run_pipeline(lambda root: root | split_pins.ReadSplitPins(files))


def read_here(*paths: Path) -> Mapping[str, str]:
    """Without a pipeline, in which errors have other names."""
    planned = map(split_pins.plan_units, split_pins.find_pins([str(path) for path in paths]).files)
    units = itertools.chain.from_iterable(planned)
    return split_pins.unpack_pins(
        block for unit in units for _, block in split_pins.read_blocks(unit)
    )


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_pins_from_each_format(tmp_path: Path, name: str) -> None:
    path = WRITERS[name](tmp_path / name)
    outcome = read([path])
    assert split_pins.unpack_pins(block for _, block in outcome.elements["main"]) == PINS
    assert outcome.counters == {"read-split-pins/pins": 4}
    assert read_here(path) == PINS


def test_what_is_found(tmp_path: Path) -> None:
    table = write_tsv(tmp_path / "a.tsv")
    (tmp_path / "builds").mkdir()
    for name in ("uk", "el"):
        write_build(tmp_path / "builds" / name, PINS)
    sources = split_pins.find_pins([str(table), f"{tmp_path}/builds/*/", f"{tmp_path}/builds/uk"])
    assert sources.files == (
        split_pins.PinFile(str(table)),
        *(
            split_pins.PinFile(f"{tmp_path}/builds/{name}/{split}-00000-of-00001.parquet", split)
            for name in ("el", "uk")
            for split in ("test", "train", "validation")
        ),
    )
    assert sources.inputs == (
        str(table),
        f"{tmp_path}/builds/el/manifest.json",
        f"{tmp_path}/builds/uk/manifest.json",
    )


def test_units_are_row_groups_and_text_files(tmp_path: Path) -> None:
    parquet = split_pins.PinFile(str(write_parquet(tmp_path / "pins.parquet")))
    assert split_pins.plan_units(parquet) == [
        parquet._replace(row_group=0),
        parquet._replace(row_group=1),
    ]
    text = split_pins.PinFile(str(write_gz(tmp_path / "pins.tsv.gz")))
    assert split_pins.plan_units(text) == [text]


def test_long_files_come_in_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_pins, "PINS_AT_ONCE", 2)
    path = tmp_path / "pins.tsv"
    path.write_text("wikidata_id\tsplit\n" + "Q64\ttest\n" * 5)
    assert len(list(split_pins.read_blocks(split_pins.PinFile(str(path))))) == 3
    assert read_here(path) == {"Q64": "test"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "none.tsv",
            None,
            "none.tsv: expected a file or the folder of a finished build, found neither",
        ),
        (
            "a.tsv",
            b"id\tsplit\n",
            "a.tsv: line 1: the header must have the columns wikidata_id and split",
        ),
        ("a.tsv", b"", "a.tsv: line 1: the header must have the columns"),
        ("a.parquet", b"PAR1", "a.parquet: damaged or truncated: "),
        (
            "a.tsv.gz",
            gzip.compress(b"wikidata_id\tsplit\n", mtime=0)[:12],
            "a.tsv.gz: damaged or truncated: ",
        ),
    ],
)
def test_what_is_told_before_the_workers_start(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=re.escape(f"{tmp_path}/{message}")):
        split_pins.find_pins([str(tmp_path / name)])


def test_parquet_without_the_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"wikidata_id": ["Q1"]}), tmp_path / "a.parquet")
    with pytest.raises(
        InputError,
        match=r"a\.parquet: schema: there is no column split; the columns are wikidata_id",
    ):
        split_pins.find_pins([str(tmp_path / "a.parquet")])


def test_folders_that_are_no_finished_builds(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", PINS)
    (build / "COMPLETED").unlink()
    with pytest.raises(InputError, match=r"build: not a finished build: it has no file COMPLETED"):
        split_pins.find_pins([f"{build}/"])
    (tmp_path / "entities").mkdir()
    (tmp_path / "entities" / "COMPLETED").touch()
    with pytest.raises(InputError, match=r"entities: not a build of a corpus"):
        split_pins.find_pins([str(tmp_path / "entities")])


@pytest.mark.parametrize(
    ("name", "message"),
    read_cases("wikipedia/read_split_pins", "errors_of_workers_name_the_file_and_the_place"),
)
def test_errors_of_workers_name_the_file_and_the_place(
    tmp_path: Path, name: str, message: str
) -> None:
    path = tmp_path / name
    if name == "a.tsv":
        path.write_text("wikidata_id\tsplit\nQ1\ttest\nq2\ttest\n")
    elif name == "a.tsv.gz":
        rows = "".join(f"Q{number * 7919}\ttest\n" for number in range(1, 30_000))
        path.write_bytes(gzip.compress(f"wikidata_id\tsplit\n{rows}".encode())[:-20])
    else:
        table = pa.table({"wikidata_id": ["Q1", "q2"], "split": ["test", "test"]})
        pq.write_table(table, path, row_group_size=1)
    with pytest.raises((InputError, RuntimeError), match=re.escape(message)):
        read([path])
    with pytest.raises(InputError, match=re.escape(f"{tmp_path}/{message}")):
        read_here(path)


def pin(pins: Sequence[Path]) -> Outcome:
    """Pins some facts."""
    read_pins = split_pins.ReadSplitPins(split_pins.find_pins([str(path) for path in pins]).files)
    return run_inputs(
        lambda facts: facts | split_pins.PinItems(facts.pipeline | read_pins), facts=FACTS
    )


FACTS = [
    (1, PageFacts("Q64", exists=True)),
    (2, PageFacts("Q64", is_class_known=True)),
    (3, PageFacts("Q2")),
    (4, PageFacts(exists=True)),
    (1088, PageFacts()),
]


def test_facts_about_pinned_items(tmp_path: Path) -> None:
    outcome = pin([write_tsv(tmp_path / "pins.tsv")])
    assert sorted(outcome.elements["main"]) == [
        (1, PageFacts("Q64", exists=True, pinned_split="test")),
        (2, PageFacts("Q64", is_class_known=True, pinned_split="test")),
        *FACTS[2:],
    ]


def test_pages_are_pinned_by_their_wiki_and_number(tmp_path: Path) -> None:
    files = split_pins.find_pins([str(write_tsv(tmp_path / "pins.tsv"))]).files
    expected = {"ukwiki": [(1088, PageFacts(pinned_split="test"))], "kwiki": [], "elwiki": []}
    for wiki, pages in expected.items():
        outcome = run_pipeline(
            lambda root, of=wiki: root | split_pins.ReadSplitPins(files) | split_pins.PinPages(of)
        )
        assert outcome.elements["main"] == pages


@pytest.mark.parametrize("name", ["pins.tsv", "build"])
def test_two_splits_of_one_id_in_two_files(tmp_path: Path, name: str) -> None:
    good = WRITERS[name](tmp_path / name)
    bad = tmp_path / "zz.csv"
    bad.write_text("split,wikidata_id\ntrain,Q64\n")
    message = "zz.csv: Q64 is pinned to train, but to test in "
    for paths in itertools.permutations([good, bad]):
        with pytest.raises((InputError, RuntimeError), match=re.escape(message)):
            pin(paths)
    with pytest.raises(InputError, match=re.escape(message)):
        read_here(good, bad)


def test_pins_of_a_bucket_without_pages() -> None:
    assert list(split_pins.add_pins(7, {"facts": [], "pins": [("a", b"Q64\ttest")]})) == []
