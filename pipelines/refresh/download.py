"""Downloads the files of a dump to a folder on a disk or object store.

Downloads can be resumed, are verified, and use few connections.

Existing download tools were tried on a server with faults: pypdl gives an incomplete file its final name,
aria2 mixes two versions of a file that is replaced during the download, pooch never resumes, parfive never
retries. So this package decides about retries and mirrors, and the libraries requests and urllib3 only handle
connections, proxies, Retry-After and truncated bodies.
"""

import concurrent.futures
from collections.abc import Callable, Sequence
from pathlib import Path

from corpusmill.pipelines.refresh.ask import plain_session
from corpusmill.pipelines.refresh.disk_part import DiskPart
from corpusmill.pipelines.refresh.part_file import PartFile
from corpusmill.pipelines.refresh.remote import DiskFullError, DownloadError, RemoteFile
from corpusmill.pipelines.refresh.show_downloads import shown
from corpusmill.pipelines.refresh.stored_part import StoredPart
from corpusmill.pipelines.refresh.transfer import (
    InterruptedTransferError,
    Patience,
    Switch,
    Transfer,
)
from corpusmill.transforms.files.stores import is_local

CONNECTIONS = 2
"""Default number of connections. The dump servers allow three for each client address."""


def download(
    files: Sequence[RemoteFile],
    folder: str,
    *,
    user_agent: str,
    connections: int = CONNECTIONS,
    min_free_bytes: int = 0,
    patience: Patience = Patience(),  # noqa: B008  it cannot be changed
    count_bytes: Callable[[int], None] = lambda _: None,
) -> list[str]:
    """Downloads files and checks them. Returns their paths in the given order.

    Files from an earlier call are checked and kept, and incomplete files are resumed. If one file fails, the
    others are still downloaded, unless the disk is full.

    Args:
      folder: output folder, created if missing. No other process may download into it at the same time.
      user_agent: User-Agent header from `ask.name_ourselves`.
      connections: maximum number of simultaneous connections, for all files and servers together.
      min_free_bytes: number of bytes to keep free on the disk.
      patience: limits for retries and waiting times.
      count_bytes: function that is called, by several threads, with the size of each piece of data received.

    Raises:
      ValueError: invalid settings or file names.
      DiskFullError: the disk has too little space. The bytes received are kept, and the next call resumes.
      DownloadError: none of the addresses of a file provides the expected bytes.
    """
    if connections < 1:
        raise ValueError(f"connections must be at least 1, got {connections}")
    part_of: type[PartFile] = DiskPart if is_local(folder) else StoredPart
    parts = [part_of(folder, file) for file in files]
    if len({part.path for part in parts}) < len(parts):
        raise ValueError("two of the files to download have the same name")
    if is_local(folder):
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DownloadError(
                folder, "", f"the folder cannot be created: {error.strerror}"
            ) from None
    _check_room(parts, folder, min_free_bytes)
    switch = Switch()

    def fetch(part: PartFile) -> str:
        switch.check()
        with plain_session(user_agent) as session:
            return Transfer(part, session, patience, switch, count_bytes, min_free_bytes).run()

    with shown(parts), concurrent.futures.ThreadPoolExecutor(connections) as pool:
        running = [pool.submit(fetch, part) for part in parts]
        try:
            for ended in concurrent.futures.as_completed(running):
                if isinstance(ended.exception(), DiskFullError):
                    switch.turn_off()
        except BaseException:
            switch.turn_off()
            raise
    return _results(running)


def _check_room(parts: Sequence[PartFile], folder: str, min_free_bytes: int) -> None:
    there = parts[0].free_bytes() if parts else None
    if there is None:
        return
    needed = sum(max(part.file.size - part.bytes_there, 0) for part in parts)
    free = there - min_free_bytes
    if needed > max(free, 0):
        kept = f" beyond min_free_bytes ({min_free_bytes:,})" if min_free_bytes else ""
        reason = f"not enough disk space: {needed:,} more bytes are needed, {max(free, 0):,} are free{kept}"
        raise DiskFullError(folder, "", reason)


def _results(ended: Sequence[concurrent.futures.Future[str]]) -> list[str]:
    errors = [error for one in ended if (error := one.exception())]
    if not errors:
        return [one.result() for one in ended]
    # Raises the error about a full disk first, because it interrupted the other transfers.
    first = min(errors, key=_rank)
    more = sum(isinstance(error, DownloadError) for error in errors) - 1
    if isinstance(first, DownloadError) and more > 0:
        reason = f"{first.reason} ({more} more of {len(ended)} files failed)"
        raise type(first)(first.name, first.url, reason) from first
    raise first


def _rank(error: BaseException) -> int:
    kinds = (DiskFullError, DownloadError, InterruptedTransferError)
    return next((rank for rank, kind in enumerate(kinds) if isinstance(error, kind)), -1)
