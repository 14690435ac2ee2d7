"""Printed text of anybody cannot steer a terminal."""

import io
import json
import sys

import pytest
from rich.live import Live
from rich.table import Table

from corpusmill.transforms.files.terminal import escape, escape_line, escaped_output, new_console

HOSTILE = "\x1b[31m \x9b31m \x1b]0;t\x07 \r \x08 \x0b \x7f \u202e [red]x[/red] :smile:"
SHOWN = (
    r"\u001b[31m \u009b31m \u001b]0;t\u0007 \u000d \u0008 \u000b \u007f \u202e"
    " [red]x[/red] :smile:"
)


@pytest.mark.parametrize(
    ("text", "shown", "in_line"),
    [
        (HOSTILE, SHOWN, SHOWN),
        ("a\tb\nc", "a\tb\nc", r"a\u0009b\u000ac"),
        ("\udcff", r"\udcff", r"\udcff"),
        ("naïve \U0001f600 \u200f אב \u200d e\u0301", None, None),
        (r"\u001b", None, None),
    ],
)
def test_only_control_characters_are_escaped(
    text: str, shown: str | None, in_line: str | None
) -> None:
    assert escape(text) == (shown or text)
    assert escape_line(text) == (in_line or text)


def test_json_keeps_its_meaning() -> None:
    value = {HOSTILE: [HOSTILE, "\udcff"]}
    assert json.loads(escape(json.dumps(value, ensure_ascii=False))) == value


def test_printed_lines_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    with escaped_output():
        print(HOSTILE)
        print(HOSTILE, file=sys.stderr)
    print("\x1b")
    found = capsys.readouterr()
    assert (found.out, found.err) == (f"{SHOWN}\n\x1b\n", f"{SHOWN}\n")


def test_a_console_interprets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(HOSTILE)
    table.add_row(HOSTILE)
    with escaped_output():
        console = new_console(width=200)
        console.print(HOSTILE)
        console.print(table)
    found = capsys.readouterr().out
    assert found.count(SHOWN) == 3
    assert escape(found) == found


def test_a_console_on_a_terminal_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with escaped_output():
        console = new_console(stderr=True)
        with Live("one", console=console, auto_refresh=False) as live:
            live.update("[red]two\x1b[2J", refresh=True)
    assert r"[red]two\u001b[2J" in screen.getvalue()
    assert "\x1b[?25l" in screen.getvalue()
