"""Work beside a block ends with it."""

import threading

import pytest

from corpusmill.transforms.files.write_files import beside


def test_it_works_while_the_block_runs_and_has_ended_after_it() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(is_over: threading.Event) -> None:
        begun.set()
        assert is_over.wait(60)
        ended.set()

    with beside(work):
        assert begun.wait(60)
        assert not ended.is_set()
    assert ended.is_set()


def test_it_ends_with_a_block_that_fails() -> None:
    ended = threading.Event()
    with (
        pytest.raises(ValueError, match="of the block"),
        beside(lambda is_over: over(is_over, ended)),
    ):
        raise ValueError("of the block")
    assert ended.is_set()


def over(is_over: threading.Event, ended: threading.Event) -> None:
    if is_over.wait(60):
        ended.set()
