"""Growth of processor time with the size of the input, on machines of any speed."""

import time
from collections.abc import Callable
from typing import TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")

PARTS = 8
MOST = (
    3 * PARTS
)  # time in proportion gives PARTS, and time that grows with the square PARTS * PARTS
NOISE = 0.01  # in seconds; less counts as this


def call_linear(
    function: Callable[[Given], Result], make: Callable[[int], Given], size: int
) -> Result:
    """Returns the result of a function for an input of a size. Asserts that an eighth of the input does not
    take much less than an eighth of the time.

    Args:
      function: is called several times, or once if that takes no time to speak of.
      make: returns an input of about the given size.
    """
    small = 0.0
    for _ in range(3):  # other processes may disturb one measurement
        large, result = _timed(function, make(size))
        if large > MOST * NOISE:
            small = _timed(function, make(size // PARTS))[0]
        if large <= MOST * max(small, NOISE):
            return result
    raise AssertionError(f"{PARTS} times the input takes {large / small:.0f} times as long")


def call_linear_in(function: Callable[[str], Result], text: str) -> Result:
    """Does the same with the two ends of a text as the small input."""
    half = len(text) // PARTS // 2
    inputs = {len(text): text, len(text) // PARTS: text[:half] + text[len(text) - half :]}
    return call_linear(function, inputs.__getitem__, len(text))


def _timed(function: Callable[[Given], Result], given: Given) -> tuple[float, Result]:
    start = time.process_time()
    result = function(given)
    return time.process_time() - start, result
