"""Puts data into HTML pages. All pages that corpusmill writes use these functions, and no others.

Data is escaped when it is written. It is never put into a page by replacing a part of the page, because the
data could contain that part.
"""

import base64
import hashlib
import html
import json
from collections.abc import Sequence

_NONE = "'none'"
_IN_SCRIPTS = {ord(one): f"\\u{ord(one):04x}" for one in "<>&\u2028\u2029"}


def escape(value: object) -> str:
    """Returns a value as HTML, for the content of an element or for an attribute in quotes.

    Lone surrogates, which UTF-8 cannot represent, become question marks.
    """
    return html.escape(str(value).encode("utf-8", "replace").decode("utf-8"))


def to_json(value: object) -> str:
    """Returns a value as JSON that cannot end the script element that contains it.

    The same value always gives the same text.
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode("utf-8").translate(_IN_SCRIPTS)


def make_head(title: object, style: str, scripts: Sequence[str] = ()) -> str:
    """Returns the beginning of a page, up to the start of its body.

    A browser runs only the given scripts in the page, and loads nothing from elsewhere.

    Args:
      title: The title of the page.
      style: CSS that the page uses.
      scripts: The content of all script elements of the page that are programs.
    """
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes or _NONE}"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}; img-src data:">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style></head>\n<body>\n"
    )


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
