"""The base class of the errors of the public functions, and checks of their arguments."""

import contextlib
import os
from collections.abc import Iterator

_OF_BAD_INPUT: tuple[type[Exception], ...] = (
    *(ValueError, TypeError, ArithmeticError, LookupError, ImportError, RecursionError, EOFError),
)


class CorpusmillError(ValueError):
    """Raised by the public functions of corpusmill for bad input.

    Examples of bad input are an unknown language, bytes instead of a text, a truncated file, and a folder
    that is not a finished build. The message describes the cause. If another error has led to this one, it is
    the attribute `__cause__`.

    Examples
    --------
    >>> import corpusmill
    >>> try:
    ...     corpusmill.clean("'''Pi''' is a number.", "xx")
    ... except corpusmill.CorpusmillError as error:
    ...     print(error)
    no such language: 'xx'; similar codes are xh
    """


@contextlib.contextmanager
def reported(path: str = "", also: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Converts the errors of bad input, which are raised inside the `with` block, to CorpusmillError.

    Args:
      path: the file that is read, for the message; "" if there is none.
      also: further types of errors that bad input has.
    """
    try:
        yield
    except CorpusmillError:
        raise
    except OSError as error:
        place = os.fsdecode(error.filename) if error.filename else path
        text = error.strerror or str(error)
        raise CorpusmillError(f"{place}: {text}" if place else text) from error
    except (*_OF_BAD_INPUT, *also) as error:
        raise CorpusmillError(f"{path}: {error}" if path else str(error)) from error


def check_text(value: object, name: str) -> None:
    """Raises CorpusmillError if a value is not a str, or has half of a surrogate pair, as no text has.

    `name` is the name of the argument, for the message.
    """
    if not isinstance(value, str):
        raise CorpusmillError(f"{name} must be a str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise CorpusmillError(f"{name} is not valid Unicode: {error}") from error


def path_of(value: object, name: str) -> str:
    """Returns a path as str. Raises CorpusmillError if the value is not a path.

    `name` is the name of the argument, for the message.
    """
    if not isinstance(value, str | os.PathLike):
        raise CorpusmillError(f"{name} must be a path, not {type(value).__name__}")
    path = os.fspath(value)
    if not isinstance(path, str) or not path or "\0" in path:
        raise CorpusmillError(f"{name} must be a path, not {path!r}")
    return path
