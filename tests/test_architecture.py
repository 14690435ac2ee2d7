"""Rooms and their imports. A room is a folder right below pipelines/ or transforms/."""

import ast
import importlib.util
import itertools
import pathlib
import re
from collections.abc import Iterator

import pytest

from corpusmill.pipelines.run.corpora import rows

ROOT = pathlib.Path(__file__).parents[1]
TOPS = ("pipelines", "transforms")
GROUND = "transforms/files"
ROOMS = (  # from the ground up: a room imports only from those before it
    GROUND,
    "transforms/wikitext",
    "transforms/duplicates",
    "transforms/models",
    "transforms/wikipedia",
    "transforms/news",
    "transforms/books",
    "transforms/translation",
    "pipelines/run",
    "pipelines/inspect",
    "pipelines/refresh",
    "pipelines/translation",
    "pipelines",
)
MOST_ROOMS, MOST_ARROWS, LEAST_INSIDE = 15, 80, 0.6
MOST_MODULES, MOST_SMALL, SMALL_LINES, MOST_IMPORTS = 270, 15, 30, 0.09
IMPURE = {"apache_beam", "requests", "urllib.request", "socket", "time", "random"}
CLOCK = ("datetime.now(", ".today(", ".utcnow(")
QUESTIONS = re.compile(r"\s*(What|Whether|How|Who|Whose|Where|Why|Which)\b")
LISTED = re.compile(r"Modules that use Beam: ([^\"]+)")


def paths(folder: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py"))


def tree_of(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text("utf-8"))


MODULES = [path for top in TOPS for path in paths(top) if not path.endswith("__init__.py")]
PURE_ROOMS = [room for room in ROOMS if room.startswith("transforms/")]


def room_of(path: str) -> str:
    """The room of a module: "transforms/news", or "pipelines" for the modules directly in it."""
    return "/".join(path.split("/")[:-1][:2])


def package_of(path: str) -> str:
    return ".".join(("corpusmill", *path.split("/")[:-1]))


def imports(path: str, nodes: Iterator[ast.AST] | None = None) -> Iterator[str]:
    """Dotted names of the modules, and of what is imported from them."""
    for node in nodes or ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            module = importlib.util.resolve_name(name, package_of(path))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imports_when_loaded(path: str) -> Iterator[str]:
    """Imports outside functions, and not only for types."""

    def outside(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            if not is_function and "TYPE_CHECKING" not in ast.dump(getattr(child, "test", child)):
                yield child
                yield from outside(child)

    return imports(path, outside(tree_of(path)))


def own(names: Iterator[str]) -> set[str]:
    """Paths of our own modules among imported names."""
    found = (name.removeprefix("corpusmill.").replace(".", "/") + ".py" for name in names)
    return {name for name in found if name.split("/")[0] in TOPS and (ROOT / name).is_file()}


IMPORTED = {path: own(imports(path)) for path in MODULES}
PAIRS = [  # one for each import statement and each module that it names
    (path, name)
    for path in MODULES
    for node in ast.walk(tree_of(path))
    for name in own(imports(path, iter((node,))))
]


def is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def test_every_folder_is_a_room() -> None:
    assert {room_of(path) for path in MODULES} == set(ROOMS)
    assert len(ROOMS) <= MOST_ROOMS


def test_rooms_import_from_rooms_below_only() -> None:
    for path, name in PAIRS:
        here, there = room_of(path), room_of(name)
        assert ROOMS.index(there) <= ROOMS.index(here), f"{path} imports {name}"


def test_arrows_between_rooms_are_few() -> None:
    arrows = {(room_of(path), room_of(name)) for path, name in PAIRS}
    assert len({(here, there) for here, there in arrows if here != there}) <= MOST_ARROWS


@pytest.mark.parametrize("path", MODULES)
def test_work_is_distributed_by_spread_alone(path: str) -> None:
    """A lost node may end a job of Spark where Reshuffle, which goes by the order of arrival, is used."""
    nodes = ast.walk(tree_of(path))
    assert not any(isinstance(node, ast.Attribute) and node.attr == "Reshuffle" for node in nodes)


def docstrings(path: str) -> Iterator[ast.Constant]:
    """Docstrings of modules, classes and functions, and those below attributes."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


@pytest.mark.parametrize("folder", ["deploy", "pipelines", "tests", "transforms"])
def test_docstrings_begin_with_a_noun_or_a_verb(folder: str) -> None:
    """Write "Returns the number of lines", not "How many lines there are"."""
    found = [
        f"{path}:{one.lineno}"
        for path in paths(folder)
        for one in docstrings(path)
        if isinstance(one.value, str) and QUESTIONS.match(one.value)
    ]
    assert not found


METHODS = {
    f"{row.module.removeprefix('corpusmill.').replace('.', '/')}.py" for row in rows().values()
}


@pytest.mark.parametrize("path", sorted(METHODS))
def test_methods_do_not_import_each_other(path: str) -> None:
    assert not IMPORTED[path] & METHODS


@pytest.mark.parametrize("top", TOPS)
def test_tests_are_where_their_subject_is(top: str) -> None:
    for path in (ROOT / "tests" / top).rglob("test_*.py"):
        subject = ROOT / path.parent.relative_to(ROOT / "tests")
        assert subject.is_dir() or list(subject.parent.glob(f"{subject.name}*.py")), path


def test_packages_import_nothing_by_themselves() -> None:
    for path in itertools.chain(*map(paths, (*TOPS, "tests"))):
        if path.endswith("__init__.py"):
            assert not list(imports(path)), path
