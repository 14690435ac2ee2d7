"""Tables in TOML that are beside the modules which use them."""

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
    """The table in a file of a package. All who read it have the same one: nobody may change it."""
    return tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))


def read_rules(table: Mapping[str, Any], kind: type[Rules]) -> Rules:
    """A table as rules: fields are its keys, patterns are compiled, keys that are not fields are skipped."""
    return msgspec.convert(table, kind, dec_hook=_compile)


def _compile(_: type, pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
