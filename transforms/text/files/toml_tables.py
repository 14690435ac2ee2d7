"""Reads the TOML tables in the packages that use them."""

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
    """Returns the table in the file `name` of a package.

    The table is cached, so callers must not change it.
    """
    return tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))


def read_rules(table: Mapping[str, Any], kind: type[Rules]) -> Rules:
    """Converts a table to a struct.

    Keys become fields, patterns are compiled, and unknown keys are ignored.
    """
    return msgspec.convert(table, kind, dec_hook=_compile)


def _compile(_: type, pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
