"""Plants faults in copies of the code, one at a time, and records which test finds each.

    python -m tests.tools.planted_faults --seed 50 --output faults.tsv

The seed chooses where: each room has one at least, and a room has each kind once at most. The tests of
the room run, those that import the module first, until one fails; with --tests, those given run instead.
planted_faults.tsv records the first thirteen faults of seed 50 at cd4959bf (two cores, 29 November 2026).
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.test_architecture import MODULES, ROOMS, ROOT, room_of

COLUMNS = ("room", "kind", "place", "before", "after", "found by")
PYTEST = "-q -n 0 -x --timeout 120 -rfE -p no:cacheprovider".split()
UNTRIED = shutil.ignore_patterns(".git", ".*_cache", ".hypothesis", "__pycache__", "build")
OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
EMPTY = {"str": '""', "bytes": 'b""', "int": "0", "float": "0.0", "bool": "False"}
EMPTY |= {"list": "[]", "tuple": "()", "dict": "{}", "set": "set()", "Iterator": "iter(())"}
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Fault(NamedTuple):
    room: str
    kind: str
    path: str
    line: int
    before: str
    after: str
    start: int
    """In bytes of the module."""


def turned(node: ast.AST, _: ast.FunctionDef) -> str | None:
    """A comparison that says the opposite."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    return f"({ast.unparse(ast.Compare(node.left, [OPPOSITES[type(node.ops[0])]()], node.comparators))})"


def off_by_one(node: ast.AST, _: ast.FunctionDef) -> str | None:
    """A whole number, raised by one."""
    return (
        str(node.value + 1) if isinstance(node, ast.Constant) and type(node.value) is int else None
    )


def negated(node: ast.AST, _: ast.FunctionDef) -> str | None:
    """The condition of a branch, negated. Its parent stands for it."""
    return f"not ({ast.unparse(node)})" if getattr(node, "is_condition", False) else None


def dropped(node: ast.AST, _: ast.FunctionDef) -> str | None:
    """A statement that is a call, left out."""
    return "None" if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None


def swapped(node: ast.AST, _: ast.FunctionDef) -> str | None:
    """A call whose first two arguments have changed places."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return None
    first, second, *others = node.args
    if isinstance(first, ast.Starred) or isinstance(second, ast.Starred):
        return None
    return ast.unparse(ast.Call(node.func, [second, first, *others], node.keywords))


def emptied(node: ast.AST, function: ast.FunctionDef) -> str | None:
    """A return of an empty value of the same type."""
    if not isinstance(node, ast.Return) or node.value is None or function.returns is None:
        return None
    empty = EMPTY.get(ast.unparse(function.returns).split("[")[0], "None")
    return f"return {empty}" if ast.unparse(node.value) != empty else None


KINDS = {kind.__name__: kind for kind in (turned, off_by_one, negated, dropped, swapped, emptied)}


def faults_of(path: str, kind: str) -> Iterator[Fault]:
    """Every fault of a kind that a module can have, in order."""
    source = (ROOT / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def inside(node: ast.AST, function: ast.FunctionDef) -> Iterator[Fault]:
        if isinstance(node, ast.JoinedStr | ast.Raise):  # places in f-strings are wrong
            return
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            node.test.is_condition = True  # type: ignore[attr-defined]
        after = KINDS[kind](node, function)
        if after is not None and isinstance(node, ast.stmt | ast.expr):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            before = source[start:end].decode("utf-8")
            yield Fault(room_of(path), kind, path, node.lineno, before, after, start)
        for child in ast.iter_child_nodes(node):
            yield from inside(child, function)

    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    yield from inside(statement, function)


def chosen(seed: int, count: int) -> list[Fault]:
    """The rooms and the kinds take turns."""
    draw = random.Random(seed)
    faults = []
    for number in range(count):
        room, kind = ROOMS[number % len(ROOMS)], list(KINDS)[number % len(KINDS)]
        modules = [path for path in MODULES if room_of(path) == room and "/docs/" not in path]
        faults.append(draw.choice([fault for path in modules for fault in faults_of(path, kind)]))
    return faults


def tests_of(path: str) -> list[str]:
    """Test modules of a module's room, those that name the module first."""
    room = ROOT / "tests" / room_of(path)
    tests = room.rglob("test_*.py") if "/" in room_of(path) else room.glob("test_*.py")
    name = Path(path).stem
    imported = re.compile(rf"\b{name} import|import .*\b{name}\b")

    def rank(test: Path) -> tuple[bool, bool, str]:
        others = test.stem != f"test_{name}", not imported.search(test.read_text("utf-8"))
        return (*others, str(test))

    return [str(test.relative_to(ROOT)) for test in sorted(tests, key=rank)]


def finder(fault: Fault, tests: list[str], seconds: int) -> str:
    """The first test that fails with the fault; empty if none does."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, symlinks=True, ignore=UNTRIED)
        source = (copy / fault.path).read_bytes()
        end = fault.start + len(fault.before.encode("utf-8"))
        (copy / fault.path).write_bytes(
            source[: fault.start] + fault.after.encode("utf-8") + source[end:]
        )
        command = [sys.executable, "-m", "pytest", *PYTEST, *(tests or tests_of(fault.path))]
        own = {"PYTHONPATH": str(copy / ".package"), "PYTHONDONTWRITEBYTECODE": "1"}
        environment = {**os.environ, **own}
        environment.pop("CORPUSMILL_DATA", None)
        try:
            done = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, text=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return f"(not within {seconds} seconds)"
    if found := FAILED.search(done.stdout):
        return found[1]
    return f"(pytest ended with {done.returncode})" if done.returncode else ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=50)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of faults, from 0")
    parser.add_argument(
        "--tests", nargs="*", default=[], help="paths, instead of those of the room"
    )
    parser.add_argument("--seconds", type=int, default=900, help="for the tests of one fault")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    with args.output.open("w", encoding="utf-8") as output:
        print("number", *COLUMNS, sep="\t", file=output, flush=True)
        for number, fault in enumerate(chosen(args.seed, args.count)):
            if args.only is None or number in args.only:
                cells = [*fault[:2], f"{fault.path}:{fault.line}", fault.before, fault.after]
                cells.append(finder(fault, args.tests, args.seconds))
                line = "\t".join(" ".join(cell.split()) for cell in cells)
                print(number, line, sep="\t", file=output, flush=True)


if __name__ == "__main__":
    main()
