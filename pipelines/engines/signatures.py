"""What arguments a function takes, as Beam asks, found out once."""

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any

from apache_beam.transforms import core

Signature = tuple[list[str], list[Any]]  # names of the arguments, values of the defaults


def remember_signatures() -> None:
    """Lets Beam look into each function once in this process.

    With every step that it adds or runs, Beam looks for state and timers in the signatures of all methods of
    the step's DoFn, those that each DoFn inherits too: forty thousand times in a small build, of which they
    are more than a third of the time.
    """
    if not hasattr(core.get_function_args_defaults, "__wrapped__"):
        core.get_function_args_defaults = remembered(core.get_function_args_defaults)


def remembered(look: Callable[[Any], Signature]) -> Callable[[Any], Signature]:
    """Takes and gives what `look` does, and remembers it while the function that was looked at is there."""
    known: tuple[weakref.WeakKeyDictionary[Any, Signature], ...] = (
        weakref.WeakKeyDictionary(),  # of functions
        weakref.WeakKeyDictionary(),  # of functions that are bound to an object, which is no argument
    )

    @functools.wraps(look)
    def look_once(asked: Any) -> Signature:
        is_method = inspect.ismethod(asked)
        function = asked.__func__ if is_method else asked
        if not inspect.isfunction(function):  # what is callable otherwise may change
            return look(asked)
        if function not in known[is_method]:
            known[is_method][function] = look(asked)
        arguments, defaults = known[is_method][function]
        return [*arguments], [*defaults]

    return look_once
