"""The message of an error that a call raises."""

from collections.abc import Callable
from typing import Any

import pytest


def error_of(kind: type[Exception], call: Callable[..., Any], *args: Any, **named: Any) -> str:
    with pytest.raises(kind) as raised:
        call(*args, **named)
    return str(raised.value)
