"""Detects tables, JSON and markup in a text that should have one sentence per line."""

import re
from collections import Counter
from collections.abc import Iterable

_MIN_LINES = 10  # shorter texts are not judged
_MIN_SHARE = 0.9  # of lines that begin like JSON, or have the same number of separators
_MIN_MARKUP_SHARE = 0.2  # of lines that begin with a tag; the others are the text between tags
_JSON = re.compile(r'\s*(?:[{}\[\]]|"[^"]*"\s*:)')
_TAG = re.compile(r"\s*<[/!?a-zA-Z]")
_QUOTED = re.compile(r'"[^"]*"')
_SEPARATORS = {"\t": "a tab", ",": "a comma", ";": "a semicolon", "|": '"|"'}


def describe_format(lines: Iterable[str]) -> str:
    """Returns the format of a text that consists of records, such as "CSV", with the reason for this guess.

    Returns "" for a text of sentences, and for a text of fewer than 10 lines. Sentences with commas and
    quotation marks are not mistaken for a table: nearly all lines of a table have the same number of
    separators outside quotation marks.
    """
    written = [line for line in lines if line.strip()]
    if len(written) < _MIN_LINES:
        return ""
    for name, start, share in (("JSON", _JSON, _MIN_SHARE), ("markup", _TAG, _MIN_MARKUP_SHARE)):
        like = sum(1 for line in written if start.match(line))
        if like >= share * len(written):
            return f"{name}: {like:,} of {len(written):,} lines begin like it"
    text = "\n".join(written)
    for unquoted in (text, _QUOTED.sub("", text)):
        rows = unquoted.split("\n")
        for separator, name in _SEPARATORS.items():
            ((found, like),) = Counter(row.count(separator) for row in rows).most_common(1)
            if found and len(rows) >= _MIN_LINES and like >= _MIN_SHARE * len(rows):
                fields = f"{found + 1} fields, divided by {name}"
                return f"a table: {like:,} of {len(rows):,} rows have {fields}"
    return ""
