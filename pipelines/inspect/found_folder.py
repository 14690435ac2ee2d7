"""The output folder of a search, with a manifest like that of a build."""

import contextlib
import functools
import os
import pathlib
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from apache_beam.io.filesystems import FileSystems

from pipelines.builds.corpus_build import CorpusBuild
from pipelines.builds.publish import TargetError, building
from transforms.builds.finished_builds import COMPLETED, MANIFEST
from transforms.duplicates.read_texts import TextFile
from transforms.files.open_input import is_there
from transforms.files.stores import is_local
from transforms.text.builds.build_manifest import Description, Release


class FoundFolder(CorpusBuild):
    """The output folder of a search, handled like a build.

    Args:
      release: The release of the search. Its corpus is the name of the command.
      settings: The settings that influence the output.
      inputs: (name of a data set, its files) for each data set. Of a finished build, only the manifest counts
        as input, because it has the hashes of all files.
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
        for name, files in inputs:
            paths = (_input_of(*posixpath.split(file.path)) for file in files)
            self._inputs[name] = list(dict.fromkeys([*self._inputs.get(name, []), *paths]))

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return self._inputs

    def settings(self) -> Mapping[str, Any]:
        return self._settings

    def signature_settings(self) -> Mapping[str, str]:
        """Returns the settings that are a single word or number."""
        words = {name: one for name, one in self._settings.items() if isinstance(one, str | int)}
        return {name.replace("_", "-"): str(one) for name, one in words.items()}


@functools.lru_cache(maxsize=1 << 10)
def _is_build(folder: str) -> bool:
    return is_there(FileSystems.join(folder, COMPLETED))


def _input_of(folder: str, name: str) -> str:
    return str(FileSystems.join(folder, MANIFEST if _is_build(folder) else name))


@contextlib.contextmanager
def new_folder(output: str) -> Iterator[str]:
    """Yields a folder to write to. It is renamed to `output` if the block ends without an error.

    Raises TargetError if `output` is not empty.
    """
    if is_local(output) and pathlib.Path(output).exists() and any(os.scandir(output)):
        raise TargetError(f"{output} is not empty: use another --output")
    with building(output) as folder:
        yield folder
