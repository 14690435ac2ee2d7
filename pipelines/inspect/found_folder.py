"""Writes the output folder of a search in data sets, such as the search for near-duplicates.

The folder has a manifest like that of a build.
"""

import contextlib
import functools
import logging
import os
import pathlib
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from apache_beam.io.filesystems import FileSystems

from corpusmill.pipelines.run.corpus_build import CorpusBuild
from corpusmill.pipelines.run.publish import TargetError, building, is_completed
from corpusmill.transforms.duplicates.read_texts import TextFile
from corpusmill.transforms.files.builds.build_manifest import Description, Release
from corpusmill.transforms.files.builds.finished_builds import COMPLETED, MANIFEST, open_build
from corpusmill.transforms.files.hash_inputs import hash_input
from corpusmill.transforms.files.open_input import file_bytes_of, is_there
from corpusmill.transforms.files.records import InputFile
from corpusmill.transforms.files.stores import is_local

LOG = logging.getLogger(__name__)


class FoundFolder(CorpusBuild):
    """A search in data sets, such as the search for near-duplicate documents.

    Its output folder has a manifest, a card and stats.json, like the folder of a build.

    Args:
      release: The name and the version of the command. The manifest has the name in its field `corpus`.
      title: The title of the card.
      settings: The settings that influence the output.
      inputs: A pair (name, files) for each data set. For a finished build, only its manifest is recorded as
        an input, because the manifest contains the hashes of all files.
    """

    edition = ""
    dump_date = ""

    def __init__(
        self,
        release: Release,
        title: str,
        settings: Mapping[str, Any],
        inputs: Iterable[tuple[str, Sequence[TextFile]]],
    ):
        self.release, self.description = release, Description(title)
        self._settings = settings
        self._inputs: dict[str, list[str]] = {}
        self._texts: dict[str, list[str]] = {}
        for name, files in inputs:
            texts = {" ".join((file.kind, file.id, *file.columns)) for file in files}
            self._texts[name] = sorted(texts.union(self._texts.get(name, [])))
            paths = (_input_of(*posixpath.split(file.path)) for file in files)
            self._inputs[name] = list(dict.fromkeys([*self._inputs.get(name, []), *paths]))

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return self._inputs

    def settings(self) -> Mapping[str, Any]:
        """Returns the settings, and how the texts of each data set are read: the kind of files, the column of
        ids, and the columns of texts.
        """
        return {**self._settings, "texts": self._texts}

    def is_finished(self, output: str) -> bool:
        """Returns True if `output` contains the finished results of this search: made by the same version,
        with the same settings and inputs.

        Inputs are compared by their hashes. For builds, only the manifests are compared.
        """
        if not is_completed(output):
            return False
        found = open_build(output)
        expected = self.release.corpus, self.release.version, self.settings()
        if (found.corpus, found.manifest["version"], found.manifest.get("settings")) != expected:
            return False
        listed = [
            InputFile(*map(file.get, InputFile._fields))
            for file in found.manifest.get("inputs", [])
        ]
        paths = [(role, path) for role, paths in self._inputs.items() for path in paths]
        sizes = [(role, posixpath.basename(path), file_bytes_of(path)) for role, path in paths]
        if sorted(sizes) != [file[:3] for file in listed]:
            return False
        if sorted(hash_input(*path) for path in paths) != listed:
            return False
        LOG.info("%s has the results of this search, so nothing is searched again", output)
        return True

    def signature_settings(self) -> Mapping[str, str]:
        """Returns the settings that are part of the signature of the search: all strings and integers."""
        words = {name: one for name, one in self._settings.items() if isinstance(one, str | int)}
        return {name.replace("_", "-"): str(one) for name, one in words.items()}


@functools.lru_cache(maxsize=1 << 10)
def _is_build(folder: str) -> bool:
    return is_there(FileSystems.join(folder, COMPLETED))


def _input_of(folder: str, name: str) -> str:
    return str(FileSystems.join(folder, MANIFEST if _is_build(folder) else name))


@contextlib.contextmanager
def new_folder(output: str) -> Iterator[str]:
    """Yields a folder to write to. It is renamed to `output` if the `with` block ends without an error.

    Raises TargetError if `output` is not empty.
    """
    if is_local(output) and pathlib.Path(output).exists() and any(os.scandir(output)):
        raise TargetError(f"{output} is not empty: use another --output")
    with building(output) as folder:
        yield folder
