"""Reads TOML files that are stored in Python packages, beside the modules that use them."""

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any, TypeVar

import msgspec

Rules = TypeVar("Rules", bound=msgspec.Struct)


@functools.cache
def read_table(package: str, name: str) -> Mapping[str, Any]:
    """Returns the content of the TOML file `name` in the Python package `package`.

    The table is cached, so callers must not change it.
    """
    return tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))


def read_rules(table: Mapping[str, Any], kind: type[Rules]) -> Rules:
    """Converts a TOML table to a struct of the type `kind`.

    Each field gets the value of the key with its name. Regular expressions are compiled. Keys without a field
    are ignored.
    """
    return msgspec.convert(table, kind, dec_hook=_compile)


def _compile(_: type, pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
