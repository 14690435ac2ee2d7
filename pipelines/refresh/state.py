"""The state of each corpus between two runs: a file per corpus.

All that decides what a run does can be found again without it: editions by their folders and CURRENT,
downloads by their checksums. What only the state knows is for people and monitoring, and why an edition was
not accepted, which another comparison would find again.
"""

import logging
from collections.abc import Mapping
from typing import Any

import msgspec
from apache_beam.io.filesystems import FileSystems

from pipelines.builds.safe_files import read_bytes_if_there, write_whole

_DAMAGED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class CorpusState(msgspec.Struct, frozen=True, kw_only=True):
    """Of one corpus. Times are seconds since 1970, 0 for never."""

    edition_folder: str = ""  # below the output: "wiki40b/uk"
    current: str = ""  # "20261101-1.3.0"
    signature: str = ""  # of the current edition
    settings: Mapping[str, Any] = {}  # the table `build` that the newest edition was built with
    last_run: float = 0.0
    last_success: float = 0.0  # that the corpus was found or made as new as its sources
    last_failure: float = 0.0
    last_published: float = 0.0
    failures: int = 0  # of all runs
    error: str = ""  # of the last run; "" where it succeeded
    downloaded_bytes: int = 0  # of all runs
    seconds: Mapping[str, float] = {}  # step → how long it took when it was last done
    compared: str = ""  # the edition that `documents` is about
    compared_with: str = ""  # the edition before; "" for the first one
    documents: Mapping[str, int] = {}  # "added", "removed", "changed", "unchanged", "moved"
    rejected: Mapping[str, str] = {}  # edition → why it did not become the current one


class StateFolder:
    """The files.

    Args:
      folder: of the state, on a disk or an object store; on a disk it must exist.
    """

    def __init__(self, folder: str):
        self._folder = folder

    def path_of(self, label: str) -> str:
        """The file of a corpus."""
        path: str = FileSystems.join(self._folder, f"{label}.json")
        return path

    def load(self, label: str) -> CorpusState:
        """Returns the stored state, which is empty at first. A damaged file is moved aside, with a
        warning.
        """
        path = self.path_of(label)
        try:
            return self._read(path)
        except _DAMAGED as error:
            aside = f"{path}.corrupt"
            FileSystems.rename([path], [aside])
            logging.getLogger(__name__).warning(
                "%s is damaged (%s): moved to %s; what it held is found again", path, error, aside
            )
            return CorpusState()

    def peek(self, label: str) -> CorpusState:
        """The same, and nothing is moved."""
        try:
            return self._read(self.path_of(label))
        except _DAMAGED:
            return CorpusState()

    @staticmethod
    def _read(path: str) -> CorpusState:
        content = read_bytes_if_there(path)
        return CorpusState() if content is None else msgspec.json.decode(content, type=CorpusState)

    def save(self, label: str, state: CorpusState) -> None:
        """Raises OSError; the old file stays then."""
        content = msgspec.json.format(msgspec.json.encode(state, order="sorted"), indent=1)
        write_whole(self.path_of(label), content + b"\n")
