"""The state of each corpus, which is stored in a file between runs.

A run does not depend on the state: it finds editions from their folders and the file CURRENT, and checks
downloads by their checksums. The state informs users and monitoring. It also records why an edition was not
accepted, so that the edition need not be compared again with its predecessor.
"""

import logging
from collections.abc import Mapping
from typing import Any

import msgspec
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.safe_files import read_bytes_if_there, write_whole

_DAMAGED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class CorpusState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of one corpus. Times are in seconds since 1970; 0 means never."""

    edition_folder: str = ""  # path below the output: "wiki40b/uk"
    current: str = ""  # name of the current edition: "20261101-1.3.0"
    signature: str = ""  # signature of the current edition
    settings: Mapping[str, Any] = {}  # the table `build` of the newest edition
    last_run: float = 0.0
    last_success: float = 0.0  # when it was last published or found to be up to date
    last_failure: float = 0.0
    last_published: float = 0.0
    failures: int = 0  # number of failures in all runs
    error: str = ""  # error of the last run; "" if it succeeded
    downloaded_bytes: int = 0  # bytes downloaded in all runs
    seconds: Mapping[str, float] = {}  # step → duration when it was last done
    compared: str = ""  # the edition that `documents` describes
    compared_with: str = ""  # the edition before it; "" for the first one
    documents: Mapping[str, int] = {}  # "added", "removed", "changed", "unchanged", "moved"
    rejected: Mapping[str, str] = {}  # edition → reason why it was not accepted


class StateFolder:
    """Reads and writes the state files of all corpora.

    Args:
      folder: folder on a disk or an object store. A folder on a disk must exist.
    """

    def __init__(self, folder: str):
        self._folder = folder

    def path_of(self, label: str) -> str:
        """Returns the path of the state file of a corpus."""
        path: str = FileSystems.join(self._folder, f"{label}.json")
        return path

    def load(self, label: str) -> CorpusState:
        """Returns the stored state of a corpus, or an empty state if there is no file.

        If the file is damaged, renames it, logs a warning, and returns an empty state.
        """
        path = self.path_of(label)
        try:
            return self._read(path)
        except _DAMAGED as error:
            aside = f"{path}.corrupt"
            FileSystems.rename([path], [aside])
            logging.getLogger(__name__).warning(
                "%s is damaged (%s): moved to %s; the run starts with an empty state",
                path,
                error,
                aside,
            )
            return CorpusState()

    def peek(self, label: str) -> CorpusState:
        """Returns the stored state of a corpus, as `load` does, but does not rename a damaged file."""
        try:
            return self._read(self.path_of(label))
        except _DAMAGED:
            return CorpusState()

    @staticmethod
    def _read(path: str) -> CorpusState:
        content = read_bytes_if_there(path)
        return CorpusState() if content is None else msgspec.json.decode(content, type=CorpusState)

    def save(self, label: str, state: CorpusState) -> None:
        """Writes the state. If this fails, raises OSError and leaves the old file unchanged."""
        content = msgspec.json.format(msgspec.json.encode(state, order="sorted"), indent=1)
        write_whole(self.path_of(label), content + b"\n")
