"""Runs the stages of a build in order, each as one pipeline. Finished stages are not run again.

Names the stages of a build. A name contains a hash of the settings, the code and the inputs.

If a finished stage with the same name exists, it is reused. The hash covers the code of the module of the
corpus, and of all modules that it imports, directly or indirectly. After a change to any other module,
finished stages are still reused.
"""

import contextlib
import dataclasses
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import logging
import pathlib
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from rich.filesize import decimal

from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.stage_files import StageOutcome, WriteStage, write_list
from corpusmill.transforms.files.stores import NOT_WRITTEN, is_local

from . import progress
from .corpora import VERSION
from .corpus_build import CorpusBuild, Place, Stage
from .engines.engine import Engine
from .engines.run_pipeline import run_on
from .stage_folders import DamagedStageError, FinishedStage, StageFolders

_TOP = pathlib.Path(__file__).parents[3]
_PACKAGE = "corpusmill"
_FORMAT = "corpusmill.transforms.files.stage_files"  # writes and reads the outputs of stages
_TABLES = (".toml", ".tsv")
_DIGITS = 16
_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+)?import\s+(\([^)]*\)|[^\n]+)", re.MULTILINE)
_NAME = re.compile(r"(?:^|[,(])\s*([\w.]+)")
_COMMENT = re.compile(r"#.*")


def name_stages(corpus: CorpusBuild, names: Sequence[str], folder: str) -> list[str]:
    """Returns a folder name for each stage, such as "01-clean-0123456789abcdef".

    The name consists of the number of the stage, its name in `names`, and a hash. The hash depends on the
    settings, the code, the inputs, the earlier stages, and on `folder`: stages contain paths, so stages in a
    moved folder are not reused. The hash does not depend on the number of workers or on their machines.

    Args:
      names: The names of all stages, in order.
      folder: The folder that contains the stage folders.

    Raises InputError for a missing input.
    """
    facts = {
        "folder": folder,
        "config": dataclasses.asdict(corpus.config),
        "provenance": corpus.provenance()._asdict(),
        "inputs": {role: list(map(_describe, paths)) for role, paths in corpus.inputs().items()},
        "code": code_digest(type(corpus).__module__),
        "version": VERSION,
    }
    digests = (_digest(facts | {"stages": names[:end]}) for end in range(1, len(names) + 1))
    return [
        f"{number:02d}-{name}-{digest}"
        for number, (name, digest) in enumerate(zip(names, digests, strict=True), 1)
    ]


def _describe(path: str) -> list[Any]:
    """Describes an input file, so that a changed file is noticed: [path, bytes, time of the last change].

    Raises InputError for a missing file.
    """
    try:
        if is_local(path):
            found = pathlib.Path(path).stat()  # Beam's file systems round the time
            return [str(pathlib.Path(path).absolute()), found.st_size, found.st_mtime_ns]
        metadata = FileSystems.get_filesystem(path).metadata(path)
    except OSError as error:
        raise InputError(path, "no such file") from error
    return [path, metadata.size_in_bytes, metadata.last_updated_in_seconds]


def code_digest(module: str, top: pathlib.Path = _TOP) -> str:
    """Returns a hash of the code that a module runs.

    It is a hash of the module, of all modules that it imports, of their tables (.toml and .tsv files), and of
    the versions of the imported libraries.

    Args:
      module: Dotted name of the module.
      top: The folder that contains the package `corpusmill`.
    """
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
    """Returns what a module imports, directly or indirectly: paths of files in `top`, and names of libraries.

    Both lists are sorted. The imports are read from the source code, because many modules are not loaded yet.
    """
    files: set[pathlib.Path] = set()
    libraries: set[str] = set()
    waiting = [_file_of(module, top), _file_of(_FORMAT, top)]
    while waiting:
        path = waiting.pop()
        if path in files or not path.is_file():
            continue
        files |= {path, *_tables_in(path.parent)}
        package = ".".join(path.relative_to(top).parent.parts)
        for name in _imports(path.read_text("utf-8"), package):
            if name.split(".")[0] == _PACKAGE:
                waiting.append(_file_of(name, top))
            else:
                libraries.add(name)
    libraries = {_package_of(name) for name in libraries}
    return sorted(files), sorted(libraries - set(sys.stdlib_module_names))


def _file_of(module: str, top: pathlib.Path) -> pathlib.Path:
    return top / (module.replace(".", "/") + ".py")


@functools.cache
def _tables_in(folder: pathlib.Path) -> frozenset[pathlib.Path]:
    """Returns the paths of tables that the modules in a folder may read: .toml and .tsv files in the folder,
    and in subfolders without code.
    """
    subfolders = {path for path in folder.iterdir() if path.is_dir()}
    without_code = {path for path in subfolders if not (path / "__init__.py").exists()}
    tables = (table for place in (folder, *without_code) for table in place.iterdir())
    return frozenset(table for table in tables if table.suffix in _TABLES)


def _imports(source: str, package: str) -> Iterator[str]:
    """Yields the dotted names of the modules that a source file of a package imports.

    For `from a import b`, these are a and a.b, because b may be a module. Statements are found by a pattern,
    in a tenth of the time of a parser, which would slow down the start of every build. An import in a string
    is found, too.
    """
    for module, names in _IMPORT.findall(source):
        if module:
            module = importlib.util.resolve_name(module, package)
            yield module
        before = f"{module}." if module else ""
        yield from (before + name for name in _NAME.findall(_COMMENT.sub("", names)))


def _package_of(name: str) -> str:
    """Returns the package that contains a module: "pyarrow" for pyarrow.parquet.

    For a module in a namespace package, the name has two parts: "google.protobuf".
    """
    parts = name.split(".")
    top = sys.modules.get(parts[0])
    is_namespace = top is not None and getattr(top, "__file__", None) is None
    return ".".join(parts[: 2 if is_namespace and parts[0] not in sys.stdlib_module_names else 1])


def _version_of(library: str) -> str:
    """Returns the version of a library; "" if it is not installed, because it may be optional."""
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


def run_stages(
    corpus: CorpusBuild,
    engine: Engine,
    folders: StageFolders,
    folder: str,
    stripes: int,
    *,
    fresh: bool = False,
) -> None:
    """Runs the stages that are not finished, in order. The last stage always runs, and writes the build into
    `folder`.

    Args:
      corpus: The build.
      engine: The engine that runs the pipelines of the stages.
      folders: The folders of finished stages.
      folder: The folder of the build.
      stripes: The number of parts into which workers divide a file.
      fresh: Whether to run all stages, even finished ones.

    Raises BuildError for bad inputs, TargetError if another build of the same target is running.
    """
    stages = corpus.stages()
    keys = name_stages(corpus, [stage.name for stage in stages], folders.folder)
    if (removed := folders.open(() if fresh else keys[:-1])) and not fresh:
        _log(_NOT_OURS.format(", ".join(removed)))
    finished: dict[str, FinishedStage] = {}
    with engine.started(folders.folder) as started:
        for number, (stage, key) in enumerate(zip(stages, keys, strict=True), 1):
            label = f"stage {number} of {len(stages)}, {stage.name}"
            if not (found := _find(folders, key, label)):
                folders.forget(keys[number - 1 :])  # later stages refer to files of this one
                place = Place(folder, folders.begin(key), stripes)
                progress.enter_stage(stage.name)
                if len(stages) > 1:
                    _log(label)
                start, counted = time.monotonic(), progress.counts_so_far()
                with _rerun_hint(folders.folder):
                    run_on(started, functools.partial(_add, stage, place, finished))
                if number == len(stages):
                    return
                found = folders.finish(place.scratch, progress.counts_so_far() - counted)
                seconds = time.monotonic() - start
                _log(f"{label}: finished, {seconds:.0f} s, {decimal(found.total_bytes)}")
            finished[stage.name] = found


_NOT_OURS = "removed stages of an earlier run, because settings, inputs or code have changed: {}"


def _find(folders: StageFolders, key: str, label: str) -> FinishedStage | None:
    try:
        found = folders.find(key)
    except DamagedStageError as error:
        _log(f"{label}: {error}, so it is run again")
        return None
    if found:
        progress.add_counts(key, found.counts)
        _log(f"{label}: already finished, {found.finished}, {decimal(found.total_bytes)}")
    return found


@contextlib.contextmanager
def _rerun_hint(folder: str) -> Iterator[None]:
    """Adds advice to each BuildError about a file in `folder`, which contains the finished stages.

    The advice says how to run the finished stages again.
    """
    try:
        yield
    except BuildError as error:
        if folder not in str(error) or NOT_WRITTEN in str(error):
            raise
        raise BuildError(
            f"{error}; if this happens again, remove {folder}, and the next run repeats all stages"
        ) from None


def _add(
    stage: Stage, place: Place, before: Mapping[str, FinishedStage], root: beam.Pipeline
) -> None:
    """Adds the steps of a stage to a pipeline.

    Args:
      stage: The stage.
      place: The folders that the stage may write to.
      before: Name → stage, for all earlier stages.
      root: The pipeline.
    """
    outcomes = [StageOutcome(root, name, found.folder) for name, found in before.items()]
    outcome: Any = stage.build(root, place, *outcomes)
    if outcome:
        given = {name: one for name, one in outcome._asdict().items() if one is not None}
        _ = given | "WriteStage" >> WriteStage(place.scratch)
    else:
        write_list(place.scratch, {}, ())


def _log(text: str) -> None:
    logging.getLogger(__name__).info("%s", text)
