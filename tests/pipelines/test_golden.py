"""`corpusmill demo` makes the golden builds. `python -m tests.tools.regenerate_golden` rewrites them."""

import json
from pathlib import Path

import pytest

from corpusmill.pipelines.run.corpora import CORPORA
from tests.tools.golden_tree import GOLDEN, check_golden, content_of, is_written_alike, tree_of

FILES = tree_of(GOLDEN)


def test_the_demo_makes_the_files_of_the_golden_tree(demo: Path) -> None:
    check_golden(tree_of(demo))


def test_the_writer_is_known_from_the_file(demo: Path) -> None:
    fresh = next(demo.rglob("*.parquet")).read_bytes()
    assert is_written_alike(fresh)
    assert not is_written_alike(
        fresh.replace(b"parquet-cpp-arrow version ", b"parquet-cpp-arrow version-")
    )


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".parquet")])
def test_tables_are_compared_by_what_they_hold_where_the_writer_differs(name: str) -> None:
    table = content_of(name, FILES[name], is_alike=False)
    assert table == content_of(name, FILES[name], is_alike=False)
    if table.num_rows:
        assert table != table.slice(1)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith((".model", ".vocab"))])
def test_vocabularies_are_compared_by_their_pieces_and_scores(name: str) -> None:
    pieces = content_of(name, FILES[name], is_alike=True)
    assert len(pieces) > 500
    assert sorted({round(score) for _, score in pieces})[0] < -5


def test_the_golden_manifests_are_of_this_release() -> None:
    builds = [row.classes()[0] for row in CORPORA]
    releases = {build.release.corpus: build.release for build in builds}
    for name, data in FILES.items():
        if name.endswith("manifest.json"):
            manifest = json.loads(data)
            release = releases[manifest["corpus"]]
            assert manifest["version"] == release.version, (
                "VERSION has changed: regenerate the golden builds"
            )
            assert manifest["release_notes"] == release.notes
