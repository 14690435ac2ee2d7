"""How a run ends without a result."""

import re

# What a worker raises comes as the text of its traceback.
_WORKER_ERROR = re.compile(
    r"\b(?:InputError|StoreError): (.*?)(?: \[while running '|\n|$)", re.DOTALL
)


class BuildError(Exception):
    """A build ended without a result; the message is for the person who started it."""


def find_worker_error(text: str) -> str:
    """One line, out of the text of a worker's traceback, of what it says of a file; "" for other errors."""
    found = _WORKER_ERROR.findall(text)
    return str(found[-1]).strip() if found else ""
