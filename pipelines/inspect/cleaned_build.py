"""Copies a finished build without the near-duplicates or evaluation-set items that a search found in it.

The new build has the remaining rows in files with the same names, so programs can read it like the original.
It is a separate edition; the original build is not changed.

Removes documents or passages that a search has found, by writing new editions of finished builds.
"""

import dataclasses
import hashlib
import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.builds import finished_builds
from corpusmill.transforms.files.builds.ledger import DOUBTS
from corpusmill.transforms.files.builds.manifest import MANIFEST, Description, Release
from corpusmill.transforms.files.distribution import SpreadAll
from corpusmill.transforms.files.formats import PARQUET, formats_of
from corpusmill.transforms.files.read_files import InputError, file_bytes_of
from corpusmill.transforms.models.train_pieces import MODEL_KIND, VOCABULARY_KIND
from corpusmill.transforms.wikipedia.article_accounts import LICENSES

from ..run.corpora import row_of_build
from ..run.corpus_build import BuildOfBuild, CorpusBuild, Place, Stage
from ..run.engines.run_pipeline import find_engine, run_pipeline
from ..run.launch import launch, print_json, print_summary
from ..run.publish import is_completed
from . import remove_documents
from .edit_files import find_originals
from .findings import new_folder
from .removal_accounts import EditionAccounts, account_for_files, measure_of
from .remove_documents import Copying, HitsOf, PairsOf, ReadRemovals, RemoveDocuments, Rewriting
from .text_sources import Sources, find_sources

LISTS = {"overlap": "pairs-", "contamination": "hits-"}
"""Command of a search → prefix of the names of the files with its findings."""

_CARRIED = (MODEL_KIND, VOCABULARY_KIND)
_MADE_ANEW = ("card", "json")
_NUMBERED = re.compile(r"-\d{5}-of-\d{5}")


@dataclasses.dataclass(frozen=True)
class CleanedConfig:
    """The settings of a build, or of other files, from which the findings of a search are removed."""

    build: str  # folder of a finished build; "" for other files
    found: str  # output folder of a finished search
    side: str = ""  # data sets to drop from, "first" or "second"; "" keeps one document per cluster
    passages: bool = False  # remove passages instead of whole documents
    tier: str = "copied"  # hits of this tier and of the tiers before it are removed


class _Cleaned(CorpusBuild):
    """A copy of texts without the near-duplicates or evaluation-set items that a search found in them."""

    config: CleanedConfig

    def __init__(self, config: CleanedConfig):
        self.config, self.found = config, finished_builds.open_build(config.found)
        self.lists = [
            file
            for file in self.found.manifest["outputs"]
            if file["name"].startswith(LISTS.get(self.found.corpus, "/"))
            and file["format"] == PARQUET
        ]

    @property
    def reason(self) -> str:
        """The reason for which documents are removed."""
        is_overlap = self.found.corpus == "overlap"
        return remove_documents.NEAR_DUPLICATE if is_overlap else remove_documents.CONTAMINATED

    def _what(self) -> str:
        if self.found.corpus == "overlap":
            return "without near-duplicates"
        return f"without {'passages' if self.config.passages else 'documents'} of evaluation sets"

    @property
    def variant_name(self) -> str:
        """The end of the edition's name, after "-without-", such as "near-duplicates-1f3870be".

        The 8 hexadecimal digits are a hash of the findings of the search and of the settings.
        """
        facts = self._facts(), self.config.side, self.config.tier
        digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:8]
        what = "near-duplicates" if self.found.corpus == "overlap" else "contaminated"
        passages = "-passages" if self.config.passages else ""
        return f"{what}{passages}-{digest}"

    def _facts(self) -> Any:
        return [(file["name"], file["sha256"]) for file in self.lists]

    def has_removals(self) -> bool:
        """Returns True if the search found anything that must be removed."""
        return any(
            any(remove_documents.read_removals(path, self._wanted())) for path in self._list_paths()
        )

    def _list_paths(self) -> list[str]:
        return [finished_builds.path_below(self.found.folder, file["name"]) for file in self.lists]

    def _wanted(self) -> PairsOf | HitsOf:
        raise NotImplementedError

    def _remove(self, root: beam.Pipeline, remove: RemoveDocuments) -> remove_documents.Removed:
        removals = root | "ReadRemovals" >> ReadRemovals(self._list_paths(), self._wanted())
        removed: remove_documents.Removed = removals | "RemoveDocuments" >> remove
        return removed

    def _origin(self) -> dict[str, Any]:
        return {
            "command": self.found.corpus,
            "search": self.found.signature,
            "search_sha256": self.found.sha256,
            "search_settings": self.found.manifest["settings"],
            "removed": "passages" if self.config.passages else "documents",
            "side": self.config.side,
            "tier": self.config.tier,
        }

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Returns the manifest of the search. It contains the hashes of the files that were searched."""
        search = finished_builds.path_below(self.found.folder, MANIFEST)
        return {self.found.signature: [search]}


class CleanedBuild(_Cleaned, BuildOfBuild):
    """A copy of a finished build, without the near-duplicates or evaluation-set items that a search found."""

    def __init__(self, config: CleanedConfig):
        """Opens the original build and the output of the search, and checks that they belong together.

        Raises InputError if a folder is missing or damaged, or if the search was not run on this build;
        ValueError if documents cannot be removed from builds of this corpus, or passages if `config.passages`
        is True.
        """
        super().__init__(config)
        self.build = finished_builds.open_build(config.build)
        check_removable(self.build, passages=config.passages)
        self.files = remove_documents.data_files(self.build)
        row = row_of_build(self.build.manifest)
        assert row
        assert row.shape
        self.row, self.shape = row, row.shape
        known = {file["sha256"] for file in self.found.manifest.get("inputs", [])}
        if self.found.corpus not in LISTS or self.build.sha256 not in known:
            raise InputError(
                config.found,
                f"not the output of a search in {config.build}, or the build was changed after the search;"
                " run the search again",
            )
        version = self.build.manifest["version"]
        self.release = Release(
            self.build.corpus, version, self.build.manifest.get("release_notes", {})
        )
        schema = finished_builds.schema_of_files([file.path for file in self.files])
        numbers = [field.name for field in schema if not str(field.type).endswith("string")]
        method = row.classes()[0].description
        license_id = (
            [*LICENSES]
            if self._of_build("settings", {}).get("columns") == "full"
            else method.license_id
        )
        has_features = any(
            file["name"] == "features.json" for file in self.build.manifest["outputs"]
        )
        self.description = method._replace(
            title=f"{method.title}, {self._what()}",
            features=schema.names if has_features else (),
            numbers=numbers,
            license_id=license_id,
        )

    def _of_build(self, name: str, default: Any) -> Any:
        return self.build.manifest.get(name, default)

    @property
    def edition(self) -> str:
        """The name of the edition, such as "uk-without-near-duplicates-1f3870be"."""
        return f"{self.build.edition}-without-{self.variant_name}"

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the total size in bytes of the original build's Parquet files.

        Workers do not divide these files, so `stripes` (the number of parts of a file) is ignored.
        """
        return sum(file_bytes_of(file.path) for file in self.files)

    def stages(self) -> Sequence[Stage]:
        """Returns the only stage, which reads each file and writes it without the removed texts."""
        return (Stage("remove", self.remove),)

    def is_finished(self, output: str) -> bool:
        """Returns True if `output` has a finished build of this edition, made from the same inputs."""
        target = FileSystems.join(output, *self.path)
        return (
            is_completed(target)
            and finished_builds.open_build(target).manifest.get("made_of") == self._origin()
        )

    def _wanted(self) -> PairsOf | HitsOf:
        if self.found.corpus != "overlap":
            folder, has_ids = self.build.folder, bool(self.shape.id)
            return HitsOf(folder, has_ids, self.config.passages, self.config.tier)
        name = f"{self.build.corpus}/{self.build.name}"
        if name not in self.found.manifest["settings"][self.config.side or "first"]:
            raise ValueError(
                f"{name} does not belong to the {self.config.side or 'first'} group of data sets of the"
                f" search {self.config.found}"
            )
        return PairsOf([name], self.config.side)

    def remove(self, root: beam.Pipeline, place: Place) -> None:
        """Writes the files of the new build, and a list of what was removed from the original build.

        Args:
          root: The pipeline.
          place: The folder of the new build.
        """
        folder = place.folder
        carried = self._carried()
        model = next((one[0] for one in carried if one[2] == MODEL_KIND), "")
        how = Rewriting(self.build, self.shape, folder, self.reason, model)
        removed = self._remove(root, RemoveDocuments(how, self.files))
        copied = (
            root
            | "SpreadCarried" >> SpreadAll(carried)
            | "Carry" >> beam.Map(remove_documents.carry_file, folder)
        )
        self.close_ledger(
            folder,
            self.open_ledger(root),
            self._accounts(),
            outputs=[removed.files, removed.lists, copied],
            rejected=removed.rejected,
            **removed.accounts,
        )

    def _carried(self) -> list[tuple[str, str, str, int]]:
        return [
            (
                finished_builds.path_below(self.build.folder, file["name"]),
                file["name"],
                file["format"],
                file["records"],
            )
            for file in self.build.manifest["outputs"]
            if file["format"] in _CARRIED
        ]

    def _accounts(self) -> EditionAccounts:
        kept = self._of_build("counts", {}).get("kept", {})
        there = {file.split: None for file in self.files}
        names = [split for split in {**kept, **there} if split in there]
        pieces = self._of_build("sentencepiece", {})
        return EditionAccounts(
            unit=self.shape.unit,
            splits=names,
            whole=[split for split in names if split in self.shape.splits],
            formats=formats_of(self.build.manifest),
            measure=measure_of(self.build.corpus),
            made_of=self._origin(),
            about=f"Made of `{self.build.signature}`, {self._what()}: `removed-*.parquet` lists what went.",
            findings={"sentencepiece": pieces} if pieces and self._carried() else {},
        )

    def _origin(self) -> dict[str, Any]:
        origin = {"build": self.build.signature, "build_sha256": self.build.sha256}
        return origin | super()._origin()

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Returns the manifests of the original build and of the search, as the inputs of the new build.

        The key is the signature (a line that identifies the build or search), the value a list with the path
        of the manifest. Other files need not be listed as inputs, because the manifests contain their hashes.
        """
        return {**BuildOfBuild.inputs(self), **super().inputs()}

    def caveats(self) -> tuple[str, ...]:
        """Returns the caveats of the original build, and caveats about files that the new build lacks."""
        data = {
            target.name
            for file in self.files
            for target in remove_documents.targets_of(self.build, file)
        }
        lacking = {
            _NUMBERED.sub("-*", file["name"])
            for file in self.build.manifest["outputs"]
            if file["format"] not in (*_CARRIED, *_MADE_ANEW)
            and not file["name"].startswith("rejected/")
            and file["name"] not in data
        }
        found = [*self._of_build("caveats", [])]
        if lacking:
            found.append(
                f"Files of that build that are not made anew: {', '.join(sorted(lacking))}. They are made of"
                " the text before anything was removed."
            )
        if self._carried():
            found.append(
                "The SentencePiece model is that of the build: it has seen what was removed."
            )
        return tuple(found)

    def settings(self) -> Mapping[str, Any]:
        return {**self._of_build("settings", {}), "made_of": self._origin()}

    def signature_settings(self) -> Mapping[str, str]:
        parts = (part.partition(":") for part in self.build.signature.split("|")[1:])
        settings = {name: value for name, _, value in parts if name != "v"}
        return {**settings, "without": self.variant_name}


def check_removable(build: finished_builds.Build, *, passages: bool) -> None:
    """Raises ValueError if documents, or passages of documents, cannot be removed from `build`.

    Args:
      passages: Whether passages are to be removed, instead of whole documents.
    """
    row = row_of_build(build.manifest)
    if not row or not row.measure:
        raise ValueError(
            f"{build.folder}: removing documents from builds of {build.corpus} is not supported"
        )
    if row.shape and not row.shape.id and build.format != PARQUET:
        # Hits name these rows by number in Parquet, and by place in JSON lines.
        raise ValueError(
            f"{build.folder}: rows without ids can be removed only from Parquet: build the corpus with"
            " parquet in --formats"
        )
    if passages and row.shape and len(row.shape.texts) > 1:
        raise ValueError(
            f"{build.folder}: passages cannot be removed, because {build.corpus} has each text in two forms,"
            " and passages are found in only one; remove whole documents"
        )


class CleanedFiles(_Cleaned):
    """Copies of Parquet files and JSON lines, without the documents or passages that a search found in them.

    Args:
      sources: The files, and builds whose documents the search may also have found.
      config: The settings.
    """

    edition = dump_date = ""
    release = Release("removal", "1.0.0", {"1.0.0": "First."})

    def __init__(self, sources: Sources, config: CleanedConfig):
        super().__init__(config)
        self.sources, self.description = sources, Description(f"Files {self._what()}")

    def _facts(self) -> Any:
        return self.found.sha256, self.release.version

    def _wanted(self) -> PairsOf | HitsOf:
        if self.found.corpus == "overlap":
            names = {data_set for data_set, _ in self.sources.files}
            return PairsOf(names, self.config.side, by_name=True)
        skipped = {build.folder for build in self.sources.builds}
        return HitsOf("", False, self.config.passages, self.config.tier, skipped)

    def settings(self) -> Mapping[str, Any]:
        return {"made_of": self._origin()}

    def signature_settings(self) -> Mapping[str, str]:
        return {"without": self.variant_name}

    def remove(self, root: beam.Pipeline, folder: str) -> None:
        """Writes the new files to `folder`, and a list of what was removed."""
        by_name = self.found.corpus == "overlap"
        how = Copying(folder, self.reason, by_name)
        files = find_originals(self.sources.files)
        removed = self._remove(root, RemoveDocuments(how, files))
        self.close_ledger(
            folder,
            self.open_ledger(root),
            account_for_files,
            outputs=[removed.files, removed.lists],
            rejected=removed.rejected,
            **removed.accounts,
        )

    def write(
        self,
        output: str,
        as_json: bool,
        runner: str,
        workers: int | None,
        beam_flags: Sequence[str],
    ) -> None:
        """Writes the new files to a folder in `output`, unless it is finished. Prints a summary."""
        target = FileSystems.join(output, f"files-without-{self.variant_name}")
        if is_completed(target):
            LOG.info("%s: the files are copied already", target)
            return
        start = time.monotonic()
        engine = find_engine(runner, workers or os.cpu_count() or 1, beam_flags)
        with new_folder(target) as folder:
            run_pipeline(lambda root: self.remove(root, folder), engine)
        tell = print_json if as_json else print_summary
        manifest = finished_builds.read_manifest(target)
        tell(target, manifest, manifest["counts"], time.monotonic() - start)


LOG = logging.getLogger(__name__)


def find_removable(
    arguments: Sequence[str], id_column: str = "", whole_files: bool = False, *, passages: bool
) -> Sources:
    """Returns the builds and files that command-line arguments name.

    Checks that documents or passages can be removed from them.

    Args:
      arguments, id_column, whole_files: As in `find_training_files`.
      passages: Whether only passages will be removed, not whole documents.

    Raises ValueError if nothing can be removed from a build or file.
    """
    found = find_sources(arguments, id_column, whole_files)
    for build in found.builds:
        check_removable(build, passages=passages)
    find_originals(found.files)
    return found


def write_editions(
    sources: Sources,
    found: str,
    output: str,
    *,
    as_json: bool = False,
    **how: Any,
) -> None:
    """Writes a new edition of each build in which a search has found something to remove, and copies of the
    other files.

    A new edition that already exists is not made again if it was made from the same findings.

    Args:
      sources: The builds and files.
      found: The output folder of a finished search.
      output: The parent folder of the new editions.
      as_json: Whether to print the summary of each new edition as JSON.
      how: The settings `side`, `passages` and `tier` of CleanedConfig, and keyword arguments for `launch`.

    Raises TargetError if a different build exists in the folder of a new edition. Raises InputError,
    ValueError or BuildError as `launch` does.
    """
    names = ("side", "passages", "tier")
    settings = {name: how.pop(name) for name in names if name in how}
    for build in sources.builds:
        cleaned = CleanedBuild(CleanedConfig(build.folder, found, **settings))
        if not cleaned.has_removals():
            LOG.info("%s: nothing to remove, so there is no new edition", build.folder)
        elif cleaned.is_finished(output):
            LOG.info("%s: the new edition is finished already", build.folder)
        else:
            launch(cleaned, output, as_json=as_json, accept=DOUBTS, is_sample=True, **how)
    if sources.files:
        files = CleanedFiles(sources, CleanedConfig("", found, **settings))
        if files.has_removals():
            files.write(output, as_json, **how)
        else:
            LOG.info("nothing to remove from the files, so they are not copied")
