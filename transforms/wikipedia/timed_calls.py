"""Calls a function in a separate process, which is killed if a call takes too long.

The module is meant for functions of C libraries, which cannot be interrupted and may crash on malformed
input. In a separate process they cannot stop the worker.
"""

import importlib
import os
import pickle
import selectors
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from typing import IO, Any

_SIZE = struct.Struct(">Q")
_PIECE = 1 << 16


class CallTimeoutError(Exception):
    """Raised if a call took longer than allowed."""


class CallEndedError(Exception):
    """Raised if the process ended during a call, because of an uncaught error or a lack of memory."""


class TimedCalls:
    """Calls a function of a module in a separate process, one call after the other. It is not thread-safe.

    Args:
      function: function with one argument. The argument and the result must be picklable.
      seconds: time limit of one call. The start of the process does not count.
    """

    def __init__(self, function: Callable[[Any], Any], seconds: float):
        self._name = f"{function.__module__}:{function.__qualname__}"
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def call(self, argument: Any) -> Any:
        """Calls the function and returns its result.

        Raises CallTimeoutError or CallEndedError if the call fails; the next call then starts a new process.
        """
        try:
            process = self._process or self._start()
            assert process.stdin
            assert process.stdout
            _send(process.stdin, argument)
            return pickle.loads(_receive(process.stdout, time.monotonic() + self._seconds))
        except (EOFError, BrokenPipeError):
            self.close()
            raise CallEndedError(self._name) from None
        except CallTimeoutError:
            self.close()
            raise

    def close(self) -> None:
        """Kills the separate process. The next call starts a new one."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()

    def _start(self) -> "subprocess.Popen[bytes]":
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, self._name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert self._process.stdout
        # Imports may take long on a busy machine.
        _receive(self._process.stdout, time.monotonic() + 10 * self._seconds)
        return self._process


def _send(file: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value, protocol=5)
    file.write(_SIZE.pack(len(data)) + data)
    file.flush()


def _receive(file: IO[bytes], deadline: float) -> bytes:
    """Returns the next pickled value from a pipe, as bytes.

    Raises CallTimeoutError if it has not arrived at the time `deadline`, and EOFError if the pipe was closed.
    """
    (size,) = _SIZE.unpack(_read(file, _SIZE.size, deadline))
    return _read(file, size, deadline)


def _read(file: IO[bytes], size: int, deadline: float) -> bytes:
    data = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(file, selectors.EVENT_READ)
        while len(data) < size:
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise CallTimeoutError
            piece = os.read(file.fileno(), min(size - len(data), _PIECE))
            if not piece:
                raise EOFError
            data += piece
    return bytes(data)


def _serve(name: str) -> None:
    """Runs in the separate process: executes calls until the input is closed.

    `name` is "module:function", the function to call.
    """
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the function itself goes to stderr
    module, _, function = name.partition(":")
    call = getattr(importlib.import_module(module), function)
    _send(answers, None)
    while head := requests.read(_SIZE.size):
        argument = pickle.loads(requests.read(_SIZE.unpack(head)[0]))
        _send(answers, call(argument))


if __name__ == "__main__":
    _serve(sys.argv[1])
