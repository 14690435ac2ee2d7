"""Signatures as someone reads them who has numpy, pyarrow and datasketch, and nothing of corpusmill.

The function from a text to its signature is the one that pipelines/docs/overlap.md publishes.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from datasketch import MinHash, MinHashLSH

from tests.makers.wiki_builds import run_cli
from tests.tools.pack_samples import SAMPLES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WIKI = SAMPLES / "wikipedia/jawiki/jawiki-20260101-pages-articles-multistream.xml.bz2"
BOOKS = SAMPLES / "gutenberg" / "library"
QUICK = ("--vocabulary-size", 0)
BUILDS = {
    "wiki40b": (["--language", "ja", "--dump", WIKI, *QUICK], "wikidata_id", "text"),
    "pg19": (["--books", BOOKS, "--members", "hash"], "book_id", "book_text"),
}


@pytest.fixture(scope="module", params=BUILDS)
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(folder of a build with signatures, column of ids, column of texts)."""
    flags, identity, text = BUILDS[request.param]
    output = tmp_path_factory.mktemp(request.param)
    more = ("--signatures", "--workers", 1, "--accept", "empty-train", "--output", output)
    assert run_cli(request.param, *flags, *more) == 0
    (mark,) = output.rglob("COMPLETED")
    return mark.parent, identity, text


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    page = (ROOT / "pipelines" / "docs" / "overlap.md").read_text("utf-8")
    found = re.search(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found
    names: dict[str, Any] = {}
    exec(found[1], names)
    return names


def test_anyone_computes_the_same_signatures(build: Any, published: dict[str, Any]) -> None:
    check_signatures(*build, published)


def check_signatures(folder: Path, identity: str, text: str, published: dict[str, Any]) -> None:
    expected = {}
    for split in ("train", "validation", "test"):
        for row in pq.read_table(list(folder.glob(f"{split}-*.parquet"))).to_pylist():
            ngrams = published["hash_ngrams"](published["plain_words"](row[text]))
            values = published["sign"](row[text]).hashvalues.tolist()
            expected[str(row[identity])] = split, len(ngrams), values
    table = pq.read_table(list(folder.glob("signatures-*.parquet")))
    assert table.column_names == ["id", "split", "ngrams", "signature"]
    assert len(expected) > 10
    assert {row[0]: tuple(row[1:]) for row in zip(*table.to_pydict().values(), strict=True)} == (
        expected
    )


@pytest.mark.parametrize("build", ["pg19"], indirect=True)
def test_an_edition_without_a_passage_has_signatures_of_its_own(
    build: Any, published: dict[str, Any], tmp_path: Path
) -> None:
    folder, identity, text = build
    row = pq.read_table(list(folder.glob("train-*.parquet"))).to_pylist()[0]
    (tmp_path / "items.txt").write_text(max(row[text].splitlines(), key=len)[:150] + "\n", "utf-8")
    given = ("--train", folder, "--eval", tmp_path / "items.txt", "--output", tmp_path / "found")
    more = ("--remove", "passages", "--editions", tmp_path / "new", "--workers", 1)
    assert run_cli("contamination", *given, *more) == 1
    (mark,) = (tmp_path / "new").rglob("COMPLETED")
    check_signatures(mark.parent, identity, text, published)
    (path,) = folder.glob("signatures-*.parquet")
    assert path.read_bytes() != (mark.parent / path.name).read_bytes()


def test_datasketch_takes_them_as_they_are(build: Any, published: dict[str, Any]) -> None:
    folder, identity, text = build
    (path,) = folder.glob("signatures-*.parquet")
    parameters = json.loads(pq.read_schema(path).metadata[b"minhash"])
    scheme, seed = parameters["scheme"], parameters["seed"]
    table = pq.read_table(path)
    values = table["signature"].combine_chunks().values.to_numpy()
    index = MinHashLSH(threshold=0.8, num_perm=parameters["permutations"])
    for name, row in zip(table["id"].to_pylist(), values.reshape(len(table), -1), strict=True):
        assert row.dtype == np.uint32
        index.insert(name, MinHash(hashvalues=row, scheme=scheme, seed=seed))
    book = pq.read_table(list(folder.glob("train-*.parquet"))).to_pylist()[0]
    assert index.query(published["sign"](book[text] + " and a few more words")) == [
        str(book[identity])
    ]


def test_the_manifest_lists_them(build: Any) -> None:
    folder = build[0]
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    (listed,) = [one for one in manifest["outputs"] if one["name"].startswith("signatures-")]
    assert (listed["split"], listed["format"]) == ("", "parquet")
    assert listed["records"] == sum(manifest["counts"]["kept"].values()) // 2  # with the total
    assert listed["bytes"] == (folder / listed["name"]).stat().st_size
    assert manifest["settings"]["signatures"]["words"] == "plain"
