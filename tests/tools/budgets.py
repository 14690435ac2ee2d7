"""Prints the lines of code of each capability beside its budget.

    python -m tests.tools.budgets [--modules]

budgets.toml assigns each module to one capability. Lines are counted without blank lines, comments
and docstrings.
"""

import argparse
import ast
import fnmatch
import functools
import io
import pathlib
import tokenize
import tomllib
from collections import defaultdict
from typing import NamedTuple

ROOT = pathlib.Path(__file__).parents[2]
LIST = pathlib.Path(__file__).with_suffix(".toml")
TOTALS = {"pipelines and transforms": 54_000, "tests": 56_000}
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


class Capability(NamedTuple):
    """A group of modules for one purpose, and the most lines of code that it may have."""

    name: str
    budget: int
    patterns: tuple[str, ...]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--modules", action="store_true", help="also print each module")
    settings = parser.parse_args()
    found = assigned()
    for capability in capabilities():
        sizes = {path: code_lines(ROOT / path) for path in found.get(capability.name, ())}
        print_line(capability.name, sum(sizes.values()), capability.budget)
        for path, lines in sizes.items() if settings.modules else ():
            print(f"    {lines:6,}  {path}")
    tops = {"pipelines and transforms": ("pipelines", "transforms"), "tests": ("tests",)}
    for name, folders in tops.items():
        paths = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
        print_line(name, sum(map(code_lines, paths)), TOTALS[name])


def print_line(name: str, lines: int, budget: int) -> None:
    """Prints the lines of a capability, its budget, and the difference if there are too many."""
    over = f"{lines - budget:+,}" if lines > budget else ""
    print(f"{name:55} {lines:7,} {budget:7,}  {over}".rstrip())


@functools.cache
def capabilities() -> list[Capability]:
    """Returns the capabilities in the order of budgets.toml."""
    listed = tomllib.loads(LIST.read_text("utf-8"))["capability"]
    return [Capability(one["name"], one["lines"], tuple(one["modules"])) for one in listed]


def assigned() -> dict[str, list[str]]:
    """Returns name of a capability → its modules. Raises ValueError for a module without one."""
    found: dict[str, list[str]] = defaultdict(list)
    for folder in ("pipelines", "transforms"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if code_lines(path):
                relative = str(path.relative_to(ROOT))
                found[capability_of(relative)].append(relative)
    return found


def capability_of(path: str) -> str:
    """Returns the name of the first capability with a pattern that matches a path."""
    for capability in capabilities():
        if any(fnmatch.fnmatch(path, pattern) for pattern in capability.patterns):
            return capability.name
    raise ValueError(f"{path} belongs to no capability in {LIST.name}")


@functools.cache
def code_lines(path: pathlib.Path) -> int:
    """Returns the number of lines of a module with code."""
    text = path.read_text("utf-8")
    used: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            used.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            used.difference_update(range(first.lineno, (first.end_lineno or 0) + 1))
    return len(used)


if __name__ == "__main__":
    main()
