"""Imports go down only: pipelines → transforms → transforms.text → libraries."""

import ast
import pathlib
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).parents[1]
CORPORA = {  # a module each, in pipelines/
    "entities",
    "flores101",
    "lm1b",
    "pg19",
    "simplebooks",
    "subwords",
    "wiki40b",
    "wiki40b_multilingual",
}
SHARED = {
    "book_settings",
    "clean_up",
    "dump_settings",
    "publish",
    "progress",
    "side_thread",
    "subword_sources",
    "provenance",
    "stages",
    "store_builds",
    "build_sizes",
    "paper_figures",
}  # for all of them
IMPURE = {"apache_beam", "requests", "urllib.request", "socket", "time", "random"}
CLOCK = ("datetime.now(", ".today(", ".utcnow(")


def imports(path: pathlib.Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(folder: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py"))


def is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("path", modules("transforms/text"))
def test_text_is_pure(path: str) -> None:
    source = (ROOT / path).read_text("utf-8")
    assert not any(reading in source for reading in CLOCK)
    for name in imports(ROOT / path):
        assert not any(is_below(name, impure) for impure in IMPURE), name
        if is_below(name, "transforms"):
            assert is_below(name, "transforms.text") or is_below(name, "transforms.records"), name


@pytest.mark.parametrize("path", modules("transforms"))
def test_transforms_do_not_import_pipelines(path: str) -> None:
    assert not any(
        is_below(name, top) for name in imports(ROOT / path) for top in ("pipelines", "tests")
    )


@pytest.mark.parametrize("path", [*modules("transforms"), *modules("pipelines")])
def test_work_is_dealt_out_by_spread_alone(path: str) -> None:
    """A node that dies may end a job of Spark where Reshuffle, which goes by the order of arrival, dealt."""
    nodes = ast.walk(ast.parse((ROOT / path).read_text("utf-8")))
    assert not any(isinstance(node, ast.Attribute) and node.attr == "Reshuffle" for node in nodes)


def test_records_import_no_beam() -> None:
    assert not any(
        is_below(name, "apache_beam") for name in imports(ROOT / "transforms/records.py")
    )


@pytest.mark.parametrize("corpus", sorted(CORPORA))
def test_corpora_do_not_import_each_other(corpus: str) -> None:
    for name in imports(ROOT / "pipelines" / f"{corpus}.py"):
        if is_below(name, "pipelines") and name != "pipelines":
            assert name.split(".")[1] in SHARED, name


@pytest.mark.parametrize("shared", sorted(SHARED))
def test_what_corpora_share_knows_none_of_them(shared: str) -> None:
    for name in imports(ROOT / "pipelines" / f"{shared}.py"):
        if is_below(name, "pipelines") and name != "pipelines":
            assert name.split(".")[1] in SHARED, name


def test_packages_import_nothing_by_themselves() -> None:
    for path in modules("."):
        if path.endswith("__init__.py") and path.split("/")[0] in (
            "pipelines",
            "transforms",
            "tests",
        ):
            assert not list(imports(ROOT / path)), path


def test_no_module_is_named_like_a_library() -> None:
    import sys

    taken = set(sys.stdlib_module_names) | {
        "sentencepiece",
        "pyarrow",
        "sacrebleu",
        "sentencex",
        "datasketch",
        "rich",
        "msgspec",
    }
    names = {pathlib.Path(path).stem for path in modules("transforms") + modules("pipelines")}
    assert not (names - {"__init__", "__main__"}) & taken
