"""Prints text of unknown origin to a terminal.

Control characters could change what a terminal shows or does. They are shown as escapes such as `\\u001b`.
"""

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u202d\u202e\ud800-\udfff]")
_BREAK = re.compile(r"[\t\n\u2028\u2029]")


def escape(text: str) -> str:
    """Returns a text in which control characters are replaced by escapes.

    They are the controls of Unicode except tabs and line feeds, characters that override the direction of
    text, and unpaired surrogates, which cannot be printed. An escape is like that of JSON, so JSON stays
    valid and keeps its meaning.
    """
    return _CONTROL.sub(_escaped, text)


def escape_line(text: str) -> str:
    """Returns a text in one line: control characters, tabs and line breaks are replaced by escapes."""
    return _BREAK.sub(_escaped, escape(text))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


class EscapedStream:
    """A text stream that writes to another one, and replaces control characters.

    The other stream is the attribute `rich_proxied_file`: consoles of rich write their own control sequences
    there.
    """

    def __init__(self, stream: Any):
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Writes a text, and returns its length."""
        self.rich_proxied_file.write(escape(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextlib.contextmanager
def escaped_output() -> Iterator[None]:
    """Replaces control characters in all text that is written to stdout and stderr in the `with` block."""
    out: Any = EscapedStream(sys.stdout)
    err: Any = EscapedStream(sys.stderr)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield


def new_console(*, stderr: bool = False, **named: Any) -> "Console":
    """Returns a console of rich that prints strings as they are, and control characters as escapes.

    Words in brackets, such as `[red]`, and names of emoji are not interpreted.

    Args:
      stderr: whether to write to stderr instead of stdout.
      named: Further arguments of the console.
    """
    from rich.console import Console
    from rich.text import Text

    class _Console(Console):
        def render_str(self, text: str, *args: Any, **named: Any) -> Text:
            return super().render_str(escape(text), *args, **named)

    stream: Any = sys.stderr if stderr else sys.stdout
    while hasattr(stream, "rich_proxied_file"):
        stream = stream.rich_proxied_file
    settings = {"file": stream, "highlight": False, "markup": False, "emoji": False}
    return _Console(**(settings | named))
