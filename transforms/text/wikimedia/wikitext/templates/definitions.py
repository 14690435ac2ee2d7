"""Put arguments into the definition of a template.

`{{{name}}}` is the argument of that name, `{{{name|default}}}` what stands there without one. An
argument that is missing and has no default shows its own braces in MediaWiki; here it is a hole.
"""

import re

from transforms.text.wikimedia.wikitext.marks import HOLE, protect_braces
from transforms.text.wikimedia.wikitext.templates.patterns import Arguments

_MAX_NESTING = 20
# The innermost braces: a parameter, or a template that waits until all parameters are filled in.
_INNERMOST = re.compile(r"\{\{\{([^{}|]*)(?:(\|)([^{}]*))?\}\}\}|\{\{[^{}]*\}\}")
_WAITING = "\ufdea"
_WAITING_TEMPLATE = re.compile(f"{_WAITING}([0-9]+){_WAITING}")


def fill_in(definition: str, arguments: Arguments) -> str:
    """Return the definition with all of its parameters replaced."""
    waiting: list[str] = []

    def replace(match: re.Match[str]) -> str:
        name, bar, default = match.groups()
        if name is None:
            waiting.append(match[0])
            return f"{_WAITING}{len(waiting) - 1}{_WAITING}"
        value = arguments.get(name.strip())
        if value is not None:
            return protect_braces(value)
        return default if bar else HOLE

    text = definition
    for _ in range(_MAX_NESTING):
        filled = _INNERMOST.sub(replace, text)
        if filled == text:
            break
        text = filled
    for _ in range(_MAX_NESTING):
        if _WAITING not in text:
            break
        text = _WAITING_TEMPLATE.sub(lambda match: waiting[int(match[1])], text)
    return text
