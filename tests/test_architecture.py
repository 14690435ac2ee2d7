"""Rooms and their imports. A room is a folder right below pipelines/ or transforms/."""

import ast
import fnmatch
import functools
import importlib
import itertools
import pathlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec, resolve_name

import pytest

from corpusmill.pipelines.run.corpora import rows
from tests.tools import budgets

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
QUOTED_QUESTIONS = re.compile(f"[\"']{QUESTIONS.pattern}")
LISTED = re.compile(r"Modules that use Beam: ([^\"]+)")


def paths(folder: str) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py"))


@functools.cache
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
            module = resolve_name(name, package_of(path))
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


@functools.cache
def pairs() -> list[tuple[str, str]]:
    """A pair for each import statement and each module that it names."""
    statements = [
        (path, node)
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    return [(path, name) for path, node in statements for name in own(imports(path, iter((node,))))]


def is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def is_ours(name: str) -> bool:
    return is_below(name, "corpusmill") or is_below(name, "tests")


def test_every_folder_is_a_room() -> None:
    assert {room_of(path) for path in MODULES} == set(ROOMS)
    assert len(ROOMS) <= MOST_ROOMS


def test_rooms_import_from_rooms_below_only() -> None:
    for path, name in pairs():
        here, there = room_of(path), room_of(name)
        assert ROOMS.index(there) <= ROOMS.index(here), f"{path} imports {name}"


@pytest.mark.parametrize("path", [*paths("tests/bench"), *paths("tests/tools")])
def test_names_imported_by_benchmarks_and_tools_exist(path: str) -> None:
    """No other test imports most of them."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and is_ours(node.module or ""):
            try:
                module = importlib.import_module(node.module or "")
            except ModuleNotFoundError as error:
                if is_ours(error.name or ""):
                    raise
                continue  # a library of the extra "bench"
            for name in (alias.name for alias in node.names):
                is_there = hasattr(module, name) or find_spec(f"{node.module}.{name}")
                assert is_there, f"{path}: {node.module}.{name}"


def test_arrows_between_rooms_are_few() -> None:
    arrows = {(room_of(path), room_of(name)) for path, name in pairs()}
    assert len({(here, there) for here, there in arrows if here != there}) <= MOST_ARROWS


def test_most_imports_stay_in_their_room() -> None:
    above = [pair for pair in pairs() if room_of(pair[1]) != GROUND]
    inside = sum(room_of(path) == room_of(name) for path, name in above)
    assert inside / len(above) >= LEAST_INSIDE


def test_modules_are_few_and_not_small() -> None:
    sizes = [budgets.code_lines(ROOT / path) for path in MODULES]
    assert len(sizes) <= MOST_MODULES
    assert sum(size < SMALL_LINES for size in sizes) <= MOST_SMALL
    imported = sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    assert imported <= MOST_IMPORTS * sum(sizes)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_begins_with_a_paragraph(room: str) -> None:
    about = ast.get_docstring(tree_of(f"{room}/__init__.py")) or ""
    assert all(word in about for word in ("In:", "Out:", "Knows")), room


@pytest.mark.parametrize("room", PURE_ROOMS)
def test_only_listed_modules_know_beam(room: str) -> None:
    """Neither by themselves nor by what they load."""
    found = LISTED.search((ROOT / room / "__init__.py").read_text("utf-8"))
    assert found
    listed = {name.strip() for name in found[1].split(",")} - {"none"}
    here = [path for path in MODULES if room_of(path) == room]
    beam = {path for path in here if name_of(path, room) in listed}
    assert {name_of(path, room) for path in beam} == listed
    for path in here:
        if path not in beam:
            source = (ROOT / path).read_text("utf-8")
            assert not any(reading in source for reading in CLOCK), path
            for name in imports(path):
                assert not any(is_below(name, impure) for impure in IMPURE), f"{path}: {name}"
            assert not own(imports_when_loaded(path)) & beam, path


def name_of(path: str, room: str) -> str:
    return path.removeprefix(f"{room}/").removesuffix(".py").replace("/", ".")


def test_work_is_distributed_by_spread_alone() -> None:
    """A lost node may end a job of Spark where Reshuffle, which goes by the order of arrival, is used."""
    for path in MODULES:
        attributes = (node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute))
        assert all(node.attr != "Reshuffle" for node in attributes), path


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
        if QUOTED_QUESTIONS.search((ROOT / path).read_text("utf-8"))
        for one in docstrings(path)
        if isinstance(one.value, str) and QUESTIONS.match(one.value)
    ]
    assert not found


def test_methods_do_not_import_each_other() -> None:
    names = [row.module.removeprefix("corpusmill.") for row in rows().values()]
    methods = {f"{name.replace('.', '/')}.py" for name in names}
    for path, name in pairs():
        assert not {path, name} <= methods, f"{path} imports {name}"


@pytest.mark.parametrize("top", TOPS)
def test_tests_are_where_their_subject_is(top: str) -> None:
    for path in (ROOT / "tests" / top).rglob("test_*.py"):
        subject = ROOT / path.parent.relative_to(ROOT / "tests")
        assert subject.is_dir() or list(subject.parent.glob(f"{subject.name}*.py")), path


def test_packages_import_nothing_by_themselves() -> None:
    for path in itertools.chain(*map(paths, (*TOPS, "tests"))):
        if path.endswith("__init__.py"):
            assert not list(imports(path)), path


def test_names_of_modules_are_those_of_no_library_and_seldom_occur_twice() -> None:
    libraries = "sentencepiece pyarrow sacrebleu sentencex datasketch rich msgspec".split()
    names = Counter(pathlib.Path(path).stem for path in MODULES)
    assert not (names.keys() - {"__main__"}) & {*sys.stdlib_module_names, *libraries}
    assert sum(count > 1 for count in names.values()) <= 5


FILE = re.compile(r"(?<![\w./<>-])[a-z_]+\.py\b")
FOREIGN = {"setup.py", "indexed_dataset.py"}  # outside of both folders, and of Megatron-LM


@pytest.mark.parametrize("top", TOPS)
def test_files_that_comments_name_exist(top: str) -> None:
    existing = {pathlib.Path(path).name for one in TOPS for path in paths(one)} | FOREIGN
    for path in paths(top):
        source = (ROOT / path).read_text("utf-8")
        assert not set(FILE.findall(source)) - existing, path


def test_each_module_has_one_capability_and_each_pattern_a_module() -> None:
    modules = [path for of_one in budgets.assigned().values() for path in of_one]
    patterns = [pattern for one in budgets.capabilities() for pattern in one.patterns]
    assert len(modules) == len(set(modules))
    assert [one for one in patterns if not fnmatch.filter(modules, one)] == []
