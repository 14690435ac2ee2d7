"""Lists the licences of texts, and maps them to the ids of licences on the Hugging Face hub."""

import re
from collections import Counter
from collections.abc import Sequence

from corpusmill.transforms.files.markdown import make_table
from corpusmill.transforms.files.translation_records import DOMAINS, SourceSentence

SITES = {site: "CC BY" if site == "wikinews" else "CC BY-SA 4.0" for site in DOMAINS}
"""Site → licence of its pages. Wikinews changed from CC BY 2.5 to 4.0; dumps do not show which applies."""

OTHER = "other"
_HUB = frozenset(
    f"cc-by{kind}"
    for kind in (
        *("-2.0", "-2.5", "-3.0", "-4.0", "-sa-3.0", "-sa-4.0", "-nd-4.0", "-nc-2.0", "-nc-3.0"),
        *("-nc-4.0", "-nc-nd-3.0", "-nc-nd-4.0", "-nc-sa-2.0", "-nc-sa-3.0", "-nc-sa-4.0"),
    )
)
_ADDRESS = re.compile(
    r"https?://creativecommons\.org/(licenses|publicdomain)/([a-z-]+)/([0-9.]+).*"
)
_CC0 = re.compile(r"cc-?(?:0|zero)(?:-1\.0)?")


def hub_license(licence: str) -> str:
    """Returns the id of a licence on the Hugging Face hub: "cc-by-sa-4.0" for "CC BY-SA 4.0".

    Returns "other" if the hub has no id for the licence.
    """
    name = licence.strip().casefold()
    if address := _ADDRESS.fullmatch(name):
        kind = "" if address[2] == "zero" else f"-{address[2]}"
        name = f"cc{kind}-{address[3]}" if kind else "cc0-1.0"
    name = re.sub(r"[\s_-]+", "-", name)
    if _CC0.fullmatch(name):
        return "cc0-1.0"
    if name == "cc-by":
        return "cc"  # the id of all Creative Commons licences, because the version is unknown
    return name if name in _HUB else OTHER


def hub_licenses(sentences: Sequence[SourceSentence]) -> str | list[str]:
    """Returns the ids of the sentences' licences on the Hugging Face hub.

    Returns a sorted list if there are several ids, a string if there is one, or "" if there is none.
    """
    found = sorted({hub_license(one.licence) for one in sentences if one.licence})
    return found[0] if len(found) == 1 else found or ""


def list_licences(sentences: Sequence[SourceSentence]) -> list[str]:
    """Returns the lines of a dataset card that list the licences of sentences; [] if none is known."""
    counts = Counter(one.licence for one in sentences)
    if not any(counts):
        return []
    rows = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [
        "## Licences",
        "",
        "The column `licence` has the licence of each sentence, as given by its document or site:",
        "",
        *make_table(["licence", "sentences"], ([_in_cell(name), count] for name, count in rows)),
        "",
    ]


def _in_cell(text: str) -> str:
    return re.sub(r"([\\|<>`*_\[\]])", r"\\\1", text)
