"""When a finished stage may stand for a new run of it: the same settings, code and inputs.

The code is what the module of a corpus imports, directly or not: an edit of a report keeps a day's work.
"""

import ast
import dataclasses
import functools
import hashlib
import importlib.metadata
import json
import pathlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from apache_beam.io.filesystems import FileSystems

from pipelines.builds.provenance import VERSION
from transforms.files.open_input import InputError
from transforms.files.stores import is_local
from transforms.text.builds.build_manifest import Provenance

_TOP = pathlib.Path(__file__).parents[2]
_PACKAGES = ("pipelines", "transforms")
_FORMAT = "transforms.files.stage_files"  # writes and reads what stages hand on
_TABLES = (".toml", ".tsv")
_DIGITS = 16


class Identified(Protocol):
    """The settings and inputs that determine the output of a build."""

    @property
    def config(self) -> Any: ...
    def provenance(self) -> Provenance: ...
    def inputs(self) -> Mapping[str, Sequence[str]]: ...


def name_stages(corpus: Identified, names: Sequence[str], folder: str) -> list[str]:
    """A name of a folder for each stage, "01-clean-" and hexadecimal digits: another one whenever settings,
    code, inputs, or the stages before are others.

    `folder` is that of the stages; where it is moved to another place, nothing in it counts any more, for
    paths are in what they hold. How many workers there are, and where they run, makes no difference.

    Raises InputError for an input that is gone.
    """
    facts = {
        "folder": folder,
        "config": dataclasses.asdict(corpus.config),
        "provenance": corpus.provenance()._asdict(),
        "inputs": describe_inputs(corpus.inputs()),
        "code": code_digest(type(corpus).__module__),
        "version": VERSION,
    }
    digests = (_digest(facts | {"stages": names[:end]}) for end in range(1, len(names) + 1))
    return [
        f"{number:02d}-{name}-{digest}"
        for number, (name, digest) in enumerate(zip(names, digests, strict=True), 1)
    ]


def describe_inputs(inputs: Mapping[str, Sequence[str]]) -> dict[str, list[list[Any]]]:
    """Role → (path, bytes, time of the last change) of each file. Raises InputError for one that is gone."""
    return {role: [_describe(path) for path in paths] for role, paths in inputs.items()}


def _describe(path: str) -> list[Any]:
    try:
        if is_local(path):
            found = pathlib.Path(path).stat()  # a file system of Beam's would round the time
            return [str(pathlib.Path(path).absolute()), found.st_size, found.st_mtime_ns]
        metadata = FileSystems.get_filesystem(path).metadata(path)
    except OSError as error:
        raise InputError(path, "no such file") from error
    return [path, metadata.size_in_bytes, metadata.last_updated_in_seconds]


def code_digest(module: str, top: pathlib.Path = _TOP) -> str:
    """Of a module, of all that it imports, directly or not, of their tables, and of versions of libraries."""
    files, libraries = _imported(module, top)
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(top)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    for library in libraries:
        digest.update(f"{library} {_version_of(library)}\0".encode())
    return digest.hexdigest()


@functools.cache
def _imported(module: str, top: pathlib.Path) -> tuple[list[pathlib.Path], list[str]]:
    """Our files, sorted, and the libraries, from the text of the modules: many are not loaded yet."""
    files: set[pathlib.Path] = set()
    libraries: set[str] = set()
    waiting = [_file_of(module, top), _file_of(_FORMAT, top)]
    while waiting:
        path = waiting.pop()
        if path in files or not path.is_file():
            continue
        files |= {path, *_tables_beside(path)}
        for name in _imports(path.read_bytes()):
            if name.split(".")[0] in _PACKAGES:
                waiting.append(_file_of(name, top))
            else:
                libraries.add(name)
    libraries = {_package_of(name) for name in libraries}
    return sorted(files), sorted(libraries - set(sys.stdlib_module_names))


def _file_of(module: str, top: pathlib.Path) -> pathlib.Path:
    return top / (module.replace(".", "/") + ".py")


def _tables_beside(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields the tables that a module may read: those in its folder, and in subfolders that hold
    only tables.
    """
    for pattern in ("*", "*/*"):
        for table in path.parent.glob(pattern):
            has_code = table.parent != path.parent and (table.parent / "__init__.py").exists()
            if table.suffix in _TABLES and not has_code:
                yield table


def _imports(source: bytes) -> Iterator[str]:
    """Dotted names: of modules, and of what is taken from them, which may be modules, too."""
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node. Expressions, which are most of a module, have none."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for statement in getattr(node, field, ()):
            yield statement
            yield from _statements(statement)


def _package_of(name: str) -> str:
    """The package of a library: "pyarrow" of pyarrow.parquet, "google.protobuf" of google's."""
    parts = name.split(".")
    top = sys.modules.get(parts[0])
    is_namespace = top is not None and getattr(top, "__file__", None) is None
    return ".".join(parts[: 2 if is_namespace and parts[0] not in sys.stdlib_module_names else 1])


def _version_of(library: str) -> str:
    """ "" for what is not installed: it may be an extra."""
    version = getattr(sys.modules.get(library), "__version__", None)
    if isinstance(version, str):
        return version
    try:
        return importlib.metadata.version(library.replace(".", "-"))
    except importlib.metadata.PackageNotFoundError:
        return ""


def _digest(facts: Mapping[str, Any]) -> str:
    text = json.dumps(facts, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
