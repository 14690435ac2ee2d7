"""Gives requests to a Google store a token; here any token is accepted.

Without credentials Beam looks for some for 20 seconds, in every process.
"""

import json
from pathlib import Path


def write_credentials(path: Path) -> Path:
    """Writes what GOOGLE_APPLICATION_CREDENTIALS may name: a token that need not be renewed."""
    user = {
        "type": "authorized_user",
        "client_id": "nobody",
        "client_secret": "nothing",
        "refresh_token": "none",
        "token": "anyone",
        "expiry": "9999-01-01T00:00:00Z",
        "quota_project_id": "corpusmill",
    }
    path.write_text(json.dumps(user), "utf-8")
    return path
