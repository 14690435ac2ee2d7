"""Calls of a function that may take too long: in a process of its own, which is ended then.

A library written in C can neither be interrupted nor trusted with what anybody may have written. What it
does to its process, the worker survives.
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
    """The function took longer than allowed."""


class CallEndedError(Exception):
    """The process of the function ended: by an error that nobody caught, or for want of memory."""


class TimedCalls:
    """Calls a function of a module, one call after the other; not for several threads at once.

    Args:
      function: of one argument; argument and result can be pickled.
      seconds: how long one call may take, the start of the process aside.
    """

    def __init__(self, function: Callable[[Any], Any], seconds: float):
        self._name = f"{function.__module__}:{function.__qualname__}"
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def call(self, argument: Any) -> Any:
        """The result. Raises CallTimeoutError and CallEndedError; the next call has a new process."""
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
        """Ends the process."""
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
        # The imports take as long as they take on a machine that does other things.
        _receive(self._process.stdout, time.monotonic() + 10 * self._seconds)
        return self._process


def _send(file: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value, protocol=5)
    file.write(_SIZE.pack(len(data)) + data)
    file.flush()


def _receive(file: IO[bytes], deadline: float) -> bytes:
    """The next pickled value."""
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
    """Answers calls until nobody is there to make one."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the function prints is no answer
    module, _, function = name.partition(":")
    call = getattr(importlib.import_module(module), function)
    _send(answers, None)
    while head := requests.read(_SIZE.size):
        argument = pickle.loads(requests.read(_SIZE.unpack(head)[0]))
        _send(answers, call(argument))


if __name__ == "__main__":
    _serve(sys.argv[1])
