"""Keeps the temporary files of a command in one folder.

The folder is in the system's temporary folder (`TMPDIR`), and is locked while the command runs. If the
command is killed, the next command removes the folder.
"""

import contextlib
import errno
import os
import pathlib
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator

from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.file_lock import locked

VARIABLE = "TMPDIR"
_PREFIX = "corpusmill-temporary-"
_NAME = re.compile(_PREFIX + "[0-9a-f]{12}")
_PRIVATE = 0o700
_NO_LINK = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP)  # NFS cannot lock folders


@contextlib.contextmanager
def temporary_files() -> Iterator[None]:
    """Puts all temporary files of this process and its children into one folder during the `with` block.

    At the beginning, removes the folders that killed commands of this user have left. At the end, removes the
    folder of this process. Raises BuildError if the folder cannot be made.
    """
    top, variable = tempfile.tempdir, os.environ.get(VARIABLE)
    with contextlib.ExitStack() as lock:
        folder = _make_folder(lock)
        tempfile.tempdir = os.environ[VARIABLE] = str(folder)
        try:
            yield
        finally:
            tempfile.tempdir = top
            del os.environ[VARIABLE]
            if variable is not None:
                os.environ[VARIABLE] = variable
            shutil.rmtree(folder, ignore_errors=True)


def _make_folder(lock: contextlib.ExitStack) -> pathlib.Path:
    try:
        top = pathlib.Path(tempfile.gettempdir())
        remove_dead(top)
        while True:
            folder = top / f"{_PREFIX}{uuid.uuid4().hex[:12]}"
            folder.mkdir(_PRIVATE)
            try:
                lock.enter_context(locked(folder, waits=True, flags=_NO_LINK))
            except FileNotFoundError:  # another command removed the folder before it was locked
                continue
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    raise  # without locks, no command removes the folder of another command
            if folder.exists():
                return folder
    except OSError as error:
        raise BuildError(
            f"cannot create a folder for temporary files: {error};"
            f" set {VARIABLE} to a folder with free space"
        ) from None


def remove_dead(top: pathlib.Path) -> None:
    """Removes the folders of this user's commands in `top`, if the commands are no longer running."""
    for folder in top.glob(f"{_PREFIX}*"):
        if _NAME.fullmatch(folder.name):
            with (
                contextlib.suppress(
                    OSError
                ),  # the command is running, or this is not a folder, or it belongs to another user
                locked(folder, flags=_NO_LINK) as descriptor,
            ):
                if os.fstat(descriptor).st_uid == os.geteuid():
                    shutil.rmtree(folder, ignore_errors=True)
