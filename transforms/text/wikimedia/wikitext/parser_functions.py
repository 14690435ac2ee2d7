"""The parser functions and variables of MediaWiki that can be shown without a wiki.

Arguments are positional: "1" follows the colon, the others follow bars.
"""

from collections.abc import Callable, Mapping

from transforms.text.wikimedia.wikitext.patterns import Arguments
from transforms.text.wikimedia.wikitext.rendering import Page, format_number

_Show = Callable[[Arguments, Page], str]


def _written(arguments: Arguments, index: int) -> str:
    """Return one argument; a `name=value` was split by mistake and is put together again."""
    value = arguments.get(str(index))
    if value is not None:
        return value
    named = [f"{name}={text}" for name, text in arguments.items() if not name.isdecimal()]
    return named[0] if named and index > 1 else ""


def _if(arguments: Arguments, page: Page) -> str:
    return _written(arguments, 2 if arguments.get("1") else 3)


def _ifeq(arguments: Arguments, page: Page) -> str:
    return _written(arguments, 3 if arguments.get("1") == arguments.get("2") else 4)


def _else(arguments: Arguments, page: Page) -> str:
    return _written(arguments, 3)


def _first_upper(arguments: Arguments, page: Page) -> str:
    text = arguments.get("1", "")
    return text[:1].upper() + text[1:]


def _first_lower(arguments: Arguments, page: Page) -> str:
    text = arguments.get("1", "")
    return text[:1].lower() + text[1:]


def _formatnum(arguments: Arguments, page: Page) -> str:
    number = arguments.get("1", "")
    if arguments.get("2", "").upper() in ("R", "NOSEP"):
        return number
    return format_number(number, page.language.numbers)


PARSER_FUNCTIONS: Mapping[str, _Show] = {
    "#if": _if,
    "#ifeq": _ifeq,
    "#ifexist": _else,  # without the wiki nothing exists
    "formatnum": _formatnum,
    "lc": lambda arguments, page: arguments.get("1", "").lower(),
    "uc": lambda arguments, page: arguments.get("1", "").upper(),
    "lcfirst": _first_lower,
    "ucfirst": _first_upper,
    "#lst": lambda arguments, page: "",
    "#tag": lambda arguments, page: "" if arguments.get("1") == "ref" else arguments.get("2", ""),
    "plural": lambda arguments, page: arguments.get("3", arguments.get("2", "")),
}

VARIABLES: Mapping[str, _Show] = {
    "pagename": lambda arguments, page: page.title,
    "fullpagename": lambda arguments, page: page.title,
    "basepagename": lambda arguments, page: page.title,
    "subpagename": lambda arguments, page: page.title,
    "!": lambda arguments, page: "|",
    "=": lambda arguments, page: "=",
    "(": lambda arguments, page: "{",
    ")": lambda arguments, page: "}",
}
