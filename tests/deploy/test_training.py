"""The program that reads a share of a corpus: shares are a partition, in an order that all agree on."""

import importlib.util
import json
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.deploy.schedulers import DEPLOY

PROGRAM = DEPLOY / "training" / "read_corpus.py"
ROWS = [40, 1, 33]  # of the files
ROWS_PER_GROUP = 10
TOTAL = sum(ROWS)


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("read_corpus", PROGRAM)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # NamedTuple asks for it
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def edition(tmp_path: Path) -> Path:
    """An edition of documents 0, 1, …, and another split whose name begins alike."""
    folder = tmp_path / "wiki40b" / "uk" / "20261101-1.3.0"
    (folder / "rejected").mkdir(parents=True)
    first = 0
    for at, rows in enumerate(ROWS):
        numbers = list(range(first, first + rows))
        table = pa.table({"id": numbers, "text": [f"текст {number}" for number in numbers]})
        name = f"train-{at:05}-of-{len(ROWS):05}.parquet"
        pq.write_table(table, folder / name, row_group_size=ROWS_PER_GROUP)
        first += rows
    for name in ("train_2-00000-of-00001.parquet", "rejected/train-00000-of-00001.parquet"):
        pq.write_table(pa.table({"id": [-1], "text": ["nothing of this"]}), folder / name)
    (folder / "COMPLETED").touch()
    (folder.parent / "CURRENT").write_text(f"{folder.name}\n", "utf-8")
    return folder


def read(program: ModuleType, edition: Path, rank: int, ranks: int, **more: Any) -> list[int]:
    share = program.read_share(str(edition), "train", ["id"], rank=rank, ranks=ranks, **more)
    return [document["id"] for document in share]


@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 64, TOTAL + 5])
def test_shares_are_a_partition_of_one_order(
    program: ModuleType, edition: Path, ranks: int
) -> None:
    whole = read(program, edition, 0, 1)
    shares = [read(program, edition, rank, ranks) for rank in range(ranks)]
    assert [number for share in shares for number in share] == whole
    assert sorted(whole) == list(range(TOTAL))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_the_order_depends_on_seed_and_epoch(program: ModuleType, edition: Path) -> None:
    orders = [
        read(program, edition, 0, 1, seed=seed, epoch=epoch) for seed in (1, 2) for epoch in (0, 1)
    ]
    assert len(set(map(tuple, orders))) == 4
    assert all(sorted(order) == list(range(TOTAL)) != order for order in orders)
    assert read(program, edition, 0, 1, seed=2, epoch=1) == orders[-1]


def test_places_in_the_split_are_the_same_in_every_order(
    program: ModuleType, edition: Path
) -> None:
    """The ids here count documents in the order of files and rows."""
    for seed in (1, 2):
        shares = (
            program.read_share(
                str(edition), "train", ["id", "document"], rank=rank, ranks=3, seed=seed
            )
            for rank in range(3)
        )
        documents = [document for share in shares for document in share]
        assert all(document["id"] == document["document"] for document in documents)
        assert len(documents) == TOTAL


@pytest.mark.parametrize("had", [0, 1, 9, 10, 24, 25, 99])
def test_a_stopped_process_goes_on(program: ModuleType, edition: Path, had: int) -> None:
    share = read(program, edition, 1, 3, seed=5)
    assert read(program, edition, 1, 3, seed=5, start=had) == share[had:]


def test_what_others_read_is_not_read(
    program: ModuleType, edition: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = []
    real = program._read_group

    def note(files: Any, group: Any, columns: Any) -> Any:
        groups.append(group)
        return real(files, group, columns)

    monkeypatch.setattr(program, "_read_group", note)
    for rank in range(4):
        read(program, edition, rank, 4)
    in_all = sum(-(-rows // ROWS_PER_GROUP) for rows in ROWS)
    assert len(set(groups)) == in_all
    assert list(dict.fromkeys(groups)) != sorted(set(groups)), "they are in the order of the files"
    assert len(groups) <= in_all + 3  # only what lies across a border is read by both


def test_an_unfinished_build_is_not_read(program: ModuleType, edition: Path) -> None:
    (edition / "COMPLETED").unlink()
    with pytest.raises(FileNotFoundError, match="COMPLETED"):
        read(program, edition, 0, 1)


def test_wrong_settings(program: ModuleType, edition: Path) -> None:
    with pytest.raises(ValueError, match="rank must be from 0 to 1, not 2"):
        read(program, edition, 2, 2)
    with pytest.raises(ValueError, match=r"there is no split tset; there are train, train_2$"):
        list(program.read_share(str(edition), "tset", ["id"], rank=0, ranks=1))


def test_it_waits_for_the_first_edition(
    program: ModuleType, edition: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, current = edition.parent, edition.parent / "CURRENT"
    content = current.read_text("utf-8")
    current.unlink()
    with pytest.raises(TimeoutError, match="CURRENT"):
        program.wait_for_edition(str(corpus), wait_seconds=0.001)
    monkeypatch.setattr(program, "POLL_SECONDS", 0.01)
    later = threading.Timer(0.1, current.write_text, [content])
    later.start()
    assert program.wait_for_edition(str(corpus), wait_seconds=30) == str(edition)
    later.join()


def test_a_build_without_current(program: ModuleType, edition: Path) -> None:
    (edition.parent / "CURRENT").unlink()
    assert program.wait_for_edition(f"{edition}/") == str(edition)
    assert program.wait_for_edition(f"{edition.parent}/") == str(edition)
    other = edition.with_name("20261201-1.3.0")
    other.mkdir()
    (other / "COMPLETED").touch()
    with pytest.raises(ValueError, match=f"{edition.name}, {other.name}"):
        program.wait_for_edition(str(edition.parent))
    (other / "COMPLETED").unlink()
    (edition / "COMPLETED").unlink()
    for folder in (edition, edition.parent, edition.parent / "nothing"):
        with pytest.raises(TimeoutError, match="COMPLETED"):
            program.wait_for_edition(str(folder))


def test_the_command_of_the_readme(edition: Path) -> None:
    readme = (DEPLOY / "training" / "README.md").read_text("utf-8")
    (line,) = (
        line for line in readme.splitlines() if line.startswith("python deploy/training/read_")
    )
    _, program, *arguments = line.replace("/srv/corpora/wiki40b/uk", str(edition.parent)).split()
    assert DEPLOY.parent / program == PROGRAM
    run = subprocess.run(
        [sys.executable, PROGRAM, *arguments],
        cwd=edition.parent,
        capture_output=True,
        text=True,
        check=True,
        env={},
    )
    documents = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.stderr == f"{edition}\n"
    assert len(documents) in {TOTAL // 8, TOTAL // 8 + 1}
    assert all(document["text"].startswith("текст ") for document in documents)


@pytest.mark.compat
@pytest.mark.parametrize("ranks", [3, 4])
def test_shares_by_datasets(edition: Path, ranks: int) -> None:
    datasets = pytest.importorskip("datasets")
    distributed = pytest.importorskip("datasets.distributed")
    read = []
    for rank in range(ranks):
        data = datasets.load_dataset(
            "parquet", data_files=f"{edition}/train-*.parquet", split="train", streaming=True
        )
        share = distributed.split_dataset_by_node(data, rank=rank, world_size=ranks)
        read += [document["id"] for document in share]
    assert sorted(read) == list(range(TOTAL))


def test_a_column_that_is_not_there_is_an_error_with_the_columns(edition: Path) -> None:
    command = [sys.executable, str(PROGRAM), "--corpus", str(edition), "--columns", "text", "txt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[1:] == [
        f"read_corpus.py: {edition}: there is no column txt in the split train; there are id, text"
    ]


@pytest.mark.parametrize(
    ("corpus", "split", "column"),
    [
        ("wiki40b/uk", "train", "text"),
        ("lm1b/en-*", "paper_test", "text"),
        ("pg19/en-*", "train", "book_text"),
        ("simplebooks/en-*", "train_2", "text"),
        ("flores101/en-*", "dev", "text"),
    ],
)
def test_the_column_of_the_text_is_known(
    program: ModuleType, corpus: str, split: str, column: str
) -> None:
    (build,) = (DEPLOY.parent / "tests" / "golden").glob(f"{corpus}/2*")
    assert program.text_column(str(build), split) == column
    with pytest.raises(ValueError, match=f"no column none with text in .* {column}"):
        program.text_column(str(build), split, "none")
    (first, *_) = program.read_share(str(build), split, [column], rank=0, ranks=1)
    assert first[column]
