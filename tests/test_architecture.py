"""Imports go down only: pipelines → transforms → transforms.text → libraries."""

import ast
import graphlib
import itertools
import pathlib
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from corpusmill.pipelines.corpora import rows

ROOT = pathlib.Path(__file__).parents[1]
TOPS = ("pipelines", "transforms")
TEXT = "transforms/text"
MOST_MODULES = 30  # of a room: more cannot be taken in at a glance
IMPURE = {"apache_beam", "requests", "urllib.request", "socket", "time", "random"}
CLOCK = ("datetime.now(", ".today(", ".utcnow(")
QUESTIONS = re.compile(r"\s*(What|Whether|How|Who|Whose|Where|Why|Which)\b")


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
        if is_below(name, "corpusmill.transforms"):
            assert is_below(name, "corpusmill.transforms.text") or is_below(
                name, "corpusmill.transforms.records"
            ), name


@pytest.mark.parametrize("path", modules("transforms"))
def test_transforms_do_not_import_pipelines(path: str) -> None:
    assert not any(
        is_below(name, top)
        for name in imports(ROOT / path)
        for top in ("corpusmill.pipelines", "tests")
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


def docstrings(path: pathlib.Path) -> Iterator[ast.Constant]:
    """Docstrings of modules, classes and functions, and those below attributes."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


@pytest.mark.parametrize("folder", ["deploy", "pipelines", "tests", "transforms"])
def test_docstrings_begin_with_a_noun_or_a_verb(folder: str) -> None:
    """Write "Returns the number of lines", not "How many lines there are"."""
    found = [
        f"{path}:{one.lineno}"
        for path in modules(folder)
        for one in docstrings(ROOT / path)
        if isinstance(one.value, str) and QUESTIONS.match(one.value)
    ]
    assert not found


# Rooms. A folder right below a floor is a room, with all that is in it; so is a file there.


def room_of(path: str) -> str:
    """The room of a module: "transforms/wiki", "transforms/text/news", "pipelines/lm1b.py"."""
    depth = 3 if path.startswith(f"{TEXT}/") else 2
    return "/".join(path.split("/")[:depth])


def imported_modules(path: str) -> set[str]:
    """Paths of our own modules that a module imports."""
    dotted = (
        name.removeprefix("corpusmill.").replace(".", "/") + ".py" for name in imports(ROOT / path)
    )
    return {name for name in dotted if (ROOT / name).is_file()}


def test_imports_of_rooms_go_down_only() -> None:
    """A room may stand on others, and none of them on it."""
    above: dict[str, set[str]] = {}
    examples = {}
    for path in [*modules("pipelines"), *modules("transforms")]:
        for name in imported_modules(path):
            if room_of(name) != room_of(path):
                above.setdefault(room_of(path), set()).add(room_of(name))
                examples[room_of(path), room_of(name)] = f"{path} imports {name}"
    try:
        graphlib.TopologicalSorter(above).prepare()
    except graphlib.CycleError as error:
        circle = error.args[1][::-1]
        pytest.fail("\n".join(examples[pair] for pair in itertools.pairwise(circle)))


def test_no_folder_is_crowded() -> None:
    paths = [path for top in TOPS for path in modules(top) if not path.endswith("__init__.py")]
    for folder, count in Counter(path.rpartition("/")[0] for path in paths).items():
        assert count <= MOST_MODULES, folder


METHODS = {
    f"{row.module.removeprefix('corpusmill.').replace('.', '/')}.py" for row in rows().values()
}


@pytest.mark.parametrize("path", sorted(METHODS))
def test_methods_do_not_import_each_other(path: str) -> None:
    assert not imported_modules(path) & METHODS


@pytest.mark.parametrize("top", TOPS)
def test_tests_stand_where_what_they_test_stands(top: str) -> None:
    for path in (ROOT / "tests" / top).rglob("test_*.py"):
        assert (ROOT / path.parent.relative_to(ROOT / "tests")).is_dir(), path


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
