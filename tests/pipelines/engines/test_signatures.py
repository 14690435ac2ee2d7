"""Signatures that are looked at once are those that Beam sees."""

import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.transforms import core, userstate
from apache_beam.transforms.userstate import BagStateSpec

from pipelines.engines.signatures import Signature, remember_signatures, remembered

STATE = BagStateSpec("seen", beam.coders.VarIntCoder())
SEEN = beam.DoFn.StateParam(STATE)


class _Stateful(beam.DoFn):
    def process(self, element: tuple[str, int], seen: Any = SEEN) -> Iterator[int]:
        seen.add(element[1])
        yield sum(seen.read())

    @staticmethod
    def alone(element: int, times: int = 3) -> int:
        return element * times

    @classmethod
    def of_class(cls, element: int) -> int:
        return element


def _function(element: int, /, other: int, *rest: int, last: int = 1, **more: int) -> None:
    del element, other, rest, last, more


@functools.wraps(_function)
def _wrapper(*_: Any) -> None:
    pass


@pytest.fixture
def looks() -> tuple[Callable[[Any], Signature], list[Any]]:
    """Beam's function, remembered, and what it was asked."""
    asked: list[Any] = []
    original = getattr(
        core.get_function_args_defaults, "__wrapped__", core.get_function_args_defaults
    )

    def look(function: Any) -> Signature:
        asked.append(function)
        found: Signature = original(function)
        return found

    return remembered(look), asked


@pytest.mark.parametrize(
    "asked",
    [
        _function,
        _wrapper,
        lambda element, times=2: element * times,
        _Stateful.process,
        _Stateful().process,
        _Stateful.alone,
        _Stateful().alone,
        _Stateful.of_class,
        _Stateful().default_label,
        functools.partial(_function, 1),
        _Stateful,
        str.strip,
        len,
        dict,
    ],
)
def test_the_same_is_found_at_each_look(
    asked: Any, looks: tuple[Callable[[Any], Signature], list[Any]]
) -> None:
    look, _ = looks
    expected = look.__wrapped__(asked)  # type: ignore[attr-defined]
    assert look(asked) == look(asked) == expected


def test_a_function_is_looked_at_once_bound_and_once_unbound(
    looks: tuple[Callable[[Any], Signature], list[Any]],
) -> None:
    look, asked = looks
    for _ in range(3):
        assert look(_Stateful.process)[0] == ["self", "element", "seen"]
        assert look(_Stateful().process)[0] == ["element", "seen"]
    assert len(asked) == 2


def test_what_is_given_may_be_changed(
    looks: tuple[Callable[[Any], Signature], list[Any]],
) -> None:
    look, _ = looks
    for part in look(_Stateful.alone):
        part.clear()
    assert look(_Stateful.alone) == (["element", "times"], [3])


def test_a_function_that_is_gone_is_forgotten(
    looks: tuple[Callable[[Any], Signature], list[Any]],
) -> None:
    look, asked = looks

    def look_at_one_of_its_own() -> weakref.ref[Any]:
        def passing(element: int) -> int:
            return element

        assert look(passing) == (["element"], [])
        asked.clear()
        return weakref.ref(passing)

    assert look_at_one_of_its_own()() is None


def test_state_is_found_as_before() -> None:
    remember_signatures()
    remember_signatures()  # once is enough
    assert not hasattr(core.get_function_args_defaults.__wrapped__, "__wrapped__")
    for _ in range(2):
        assert userstate.is_stateful_dofn(_Stateful())
        assert userstate.get_dofn_specs(_Stateful()) == ({STATE}, set())
        assert not userstate.is_stateful_dofn(beam.Map(str).fn)
