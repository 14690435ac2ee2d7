"""Evaluates the arithmetic expressions of `{{#expr:…}}`: https://www.mediawiki.org/wiki/Help:Calculation.

An expression has no value if it is too long or too deeply nested, or if its result is not a finite number.
"""

import math
import operator
import re
from collections.abc import Callable

_MAX_LENGTH = 500  # characters
_MAX_DEPTH = 40
_MAX_POWER = 300  # decimal digits of the result of a power
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?|\.\d+)|(<=|>=|<>|!=|[-+*/^()<>=−×÷]|[a-z]+))")
_SIGNS = {"−": "-", "×": "*", "÷": "/", "div": "/", "<>": "!="}

Binary = Callable[[float, float], float]


class _ExpressionError(ValueError):
    """Raised if an expression has no value."""


def _power(base: float, exponent: float) -> float:
    if base and abs(exponent) * math.log10(abs(base) + 1) > _MAX_POWER:
        raise _ExpressionError
    if base < 0 and exponent != int(exponent):
        raise _ExpressionError
    return float(base**exponent)


def _round(number: float, decimals: float) -> float:
    places = max(min(int(decimals), 15), -300)
    scale = 10.0 ** abs(places)
    scaled = number * scale if places >= 0 else number / scale
    rounded = math.floor(abs(scaled) + 0.5) * (1 if scaled >= 0 else -1)
    return rounded / scale if places >= 0 else rounded * scale


# Sorted by precedence, the lowest first.
_LEVELS: tuple[dict[str, Binary], ...] = (
    {"or": lambda a, b: float(bool(a) or bool(b))},
    {"and": lambda a, b: float(bool(a) and bool(b))},
    {
        "=": lambda a, b: float(a == b),
        "!=": lambda a, b: float(a != b),
        "<": lambda a, b: float(a < b),
        ">": lambda a, b: float(a > b),
        "<=": lambda a, b: float(a <= b),
        ">=": lambda a, b: float(a >= b),
    },
    {"round": _round},
    {"+": operator.add, "-": operator.sub},
    {
        "*": operator.mul,
        "/": operator.truediv,
        "mod": lambda a, b: math.fmod(int(a), int(b)),
        "fmod": math.fmod,
    },
    {"^": _power},
)
_UNARY: dict[str, Callable[[float], float]] = {
    "-": operator.neg,
    "+": operator.pos,
    "not": lambda a: float(not a),
    "abs": abs,
    "floor": lambda a: float(math.floor(a)),
    "ceil": lambda a: float(math.ceil(a)),
    "trunc": lambda a: float(math.trunc(a)),
    "sqrt": math.sqrt,
    "exp": math.exp,
    "ln": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
}
_CONSTANTS = {"pi": math.pi, "e": math.e}


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    text = text.lower().strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match:
            raise _ExpressionError
        token = match[1] or match[2]
        tokens.append(_SIGNS.get(token, token))
        position = match.end()
    return tokens


class _Parser:
    """Parses and evaluates the tokens of an expression, by levels of operator precedence."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = ["", *reversed(tokens)]  # the next token is last; "" marks the end
        self._depth = 0

    def value(self) -> float:
        result = self._level(0)
        if self._tokens[-1]:
            raise _ExpressionError
        return result

    def _level(self, number: int) -> float:
        if number == len(_LEVELS):
            return self._operand()
        result = self._level(number + 1)
        while self._tokens[-1] in _LEVELS[number]:
            operation = _LEVELS[number][self._tokens.pop()]
            result = operation(result, self._level(number + 1))
        return result

    def _operand(self) -> float:
        token = self._tokens.pop()
        self._depth += 1
        if self._depth > _MAX_DEPTH or not token:
            raise _ExpressionError
        if token == "(":
            result = self._level(0)
            if self._tokens.pop() != ")":
                raise _ExpressionError
        elif token in _UNARY:
            result = _UNARY[token](self._operand())
        elif token in _CONSTANTS:
            result = _CONSTANTS[token]
        elif token[0].isdecimal() or token[0] == ".":
            result = float(token)
        else:
            raise _ExpressionError
        self._depth -= 1
        return result


def evaluate(text: str) -> float | None:
    """Returns the value of an expression, or None if it has no value."""
    if not text.strip() or len(text) > _MAX_LENGTH:
        return None
    try:
        result = _Parser(_tokens(text)).value()
    except (ValueError, ArithmeticError):
        return None
    return result if math.isfinite(result) else None


def written(number: float) -> str:
    """Formats a number like MediaWiki: with 14 significant digits, without zeros at the end."""
    return "0" if number == 0 else f"{number:.14g}"
