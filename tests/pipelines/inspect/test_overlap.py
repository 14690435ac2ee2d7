import itertools
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.cli import main
from corpusmill.transforms.duplicates.minhash import exact_jaccard, hash_ngrams
from corpusmill.transforms.files.text import plain_words


def made_texts() -> dict[str, str]:
    """Documents, each with a near copy and a far one; names end with the number of changed words."""
    chance = random.Random(5)
    texts = {}
    for number in range(12):
        words = [f"w{chance.randrange(5000)}" for _ in range(300)]
        for changed in (0, 1, 12):
            copy = list(words)
            for place in chance.sample(range(300), changed):
                copy[place] = "Changed,"
            texts[f"{number}-{changed}"] = " ".join(copy)
    return texts


def similar(texts: dict[str, str], least: float) -> dict[frozenset[str], float]:
    """Every pair that is alike, compared one by one."""
    ngrams = {name: hash_ngrams(plain_words(text), 8) for name, text in texts.items()}
    pairs = itertools.combinations(texts, 2)
    found = {frozenset(pair): float(exact_jaccard(*map(ngrams.get, pair))) for pair in pairs}  # type: ignore[arg-type]
    return {pair: similarity for pair, similarity in found.items() if similarity >= least}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """JSON lines of all documents, and Parquet of the changed ones, with columns of other names."""
    folder, texts = tmp_path_factory.mktemp("inputs"), made_texts()
    rows = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    (folder / "all.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    copies = {name: text for name, text in texts.items() if not name.endswith("-0")}
    table = pa.table({"id": list(copies), "body": list(copies.values())})
    pq.write_table(table, folder / "copies.parquet")
    originals = [row for name, row in zip(texts, rows, strict=True) if name.endswith("-0")]
    (folder / "originals.jsonl").write_text("\n".join(originals) + "\n", "utf-8")
    return folder


def run(*arguments: object, status: int = 0) -> None:
    assert main(["overlap", *map(str, arguments)]) == status


def pairs_in(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("pairs-*.parquet")
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    lines = path.with_suffix(".jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == rows
    return rows


def test_pairs_are_those_of_comparing_all(
    inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(inputs / "all.jsonl", "--output", tmp_path / "found", "--workers", 1)
    expected = similar(made_texts(), 0.8)
    rows = pairs_in(tmp_path / "found")
    found = {frozenset((row["first_id"], row["second_id"])): row["similarity"] for row in rows}
    assert found == expected
    assert len(found) == len(rows) >= 12
    clusters = {(row["cluster"], row["first_id"].partition("-")[0]) for row in rows}
    assert len(clusters) == 12
    assert "all.jsonl all 36 24 0" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_between_two_sides_only_theirs_are_compared(inputs: Path, tmp_path: Path) -> None:
    sides = inputs / "originals.jsonl", "--with", f"C={inputs}/copies.parquet#body"
    for workers in (1, 2):
        output = tmp_path / str(workers)
        run(*sides, "--similarity", "0.3", "--output", output, "--workers", workers)
    rows = pairs_in(tmp_path / "1")
    found = {frozenset((row["first_id"], row["second_id"])): row["similarity"] for row in rows}
    every = similar(made_texts(), 0.3)
    assert found == {
        pair: similarity
        for pair, similarity in every.items()
        if any(name.endswith("-0") for name in pair)
    }
    assert {(row["first_data_set"], row["second_data_set"]) for row in rows} == {
        ("originals.jsonl", "C")
    }
    for path in (tmp_path / "1").iterdir():
        assert path.read_bytes() == (tmp_path / "2" / path.name).read_bytes()


def test_documents_that_are_left_out_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ['"one text"', "null", r'"\ud800"', '"two texts"', '" "']
    rows = "".join(f'{{"text": {text}}}\n' for text in texts)
    (tmp_path / "a.jsonl").write_text(rows)
    run(tmp_path / "a.jsonl", "--output", tmp_path / "found", "--workers", 1)
    manifest = json.loads((tmp_path / "found/manifest.json").read_text("utf-8"))
    counts = {name: manifest["counts"][name] for name in ("documents_read", "kept", "rejected")}
    assert counts == {
        "documents_read": 5,
        "kept": 2,
        "rejected": {"total": 3, "malformed-utf-8": 1, "no-text": 2},
    }
    out = capsys.readouterr().out
    assert "documents left out: 2 no-text" in out
    assert "a.jsonl a 2 0 3" in " ".join(out.split())


def test_ids_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "q", "text": "one text"}\n' * 2)
    (tmp_path / "b.jsonl").write_text('{"key": "q", "text": "one text"}\n')
    output = "--output", tmp_path / "found", "--workers", 1
    run(tmp_path / "a.jsonl", *output, status=1)
    assert '["a.jsonl", "q", "a"]: several documents have this id' in capsys.readouterr().err
    sides = tmp_path / "b.jsonl", "--with", tmp_path / "all.jsonl"
    (tmp_path / "all.jsonl").write_text('{"id": "r", "text": "one text"}\n')
    run(*sides, "--id-column", "key", *output, status=2)
    assert "all.jsonl: no column key with ids; the file has id" in capsys.readouterr().err
    run(*sides, "--id-column", "key", "--with-id", "id", *output)
    (row,) = pairs_in(tmp_path / "found")
    assert (row["first_id"], row["second_id"]) == ("q", "r")


def test_a_file_is_not_compared_with_itself(
    inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(inputs / "all.jsonl", "--with", inputs / "all.jsonl", "--output", tmp_path / "o", status=2)
    assert "all.jsonl is on both sides" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["overlap", "contamination"])
def test_rows_that_are_mostly_unreadable_are_an_error(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [b'{"text": "a good text of some words %d"}\n' % number for number in range(2000)]
    (tmp_path / "a.jsonl").write_bytes(b"".join(good) + b'{"text": "\xff"}\n' * 3000)
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "one two three four five six seven eight"}\n')
    given = {
        "overlap": ["overlap", tmp_path / "a.jsonl"],
        "contamination": [
            *("contamination", "--train", tmp_path / "a.jsonl", "--eval", tmp_path / "b.jsonl")
        ],
    }[command]
    output = tmp_path / "found"
    assert main([*map(str, given), "--output", str(output), "--workers", "1"]) == 1
    assert "most of its rows cannot be read: 3,000 of 5,000" in capsys.readouterr().err
    assert not output.exists()


def test_what_cannot_be_done_is_said(
    inputs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(inputs / "all.jsonl", "--output", inputs, status=1)
    assert "is not empty: use another --output" in capsys.readouterr().err
    run(inputs / "all.jsonl", "--similarity", "2", "--output", tmp_path / "new", status=2)
    assert "must be above 0 and below 1" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
