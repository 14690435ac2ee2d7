"""Calls in a process of their own: what they give, and what ends them."""

import time
from collections.abc import Iterator

import pytest

from corpusmill.transforms.wikipedia import clean_wikitext

SECONDS = 20.0  # a busy machine may take a while


def double(number: int) -> int:
    """Prints, too: what is printed is no part of an answer."""
    print("doubling")
    return 2 * number


def fail_or_repeat(text: str) -> str:
    if not text:
        raise ValueError("nothing")
    return text * 100_000


@pytest.fixture
def doubling() -> Iterator[clean_wikitext.TimedCalls]:
    calls = clean_wikitext.TimedCalls(double, SECONDS)
    yield calls
    calls.close()


def test_calls_one_after_the_other(doubling: clean_wikitext.TimedCalls) -> None:
    assert [doubling.call(number) for number in range(3)] == [0, 2, 4]


def test_after_its_end_there_is_another_process() -> None:
    calls = clean_wikitext.TimedCalls(fail_or_repeat, SECONDS)
    with pytest.raises(clean_wikitext.CallEndedError):
        calls.call("")
    assert len(calls.call("long")) == 400_000
    calls.close()


def test_what_takes_too_long_is_ended() -> None:
    calls = clean_wikitext.TimedCalls(time.sleep, SECONDS)
    assert calls.call(0) is None
    calls._seconds = 0.1  # the start of the process, which a busy machine delays, is over
    with pytest.raises(clean_wikitext.CallTimeoutError):
        calls.call(60)
    calls._seconds = SECONDS
    assert calls.call(0) is None
    calls.close()
