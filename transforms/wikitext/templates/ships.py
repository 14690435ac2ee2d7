"""Expands templates for the names of ships and of ship classes."""

from corpusmill.transforms.wikitext.templates.patterns import Arguments, Show, positional
from corpusmill.transforms.wikitext.templates.rendering import Page

# Prefixes that are names of templates: {{HMS|Ajax|22}}. ARM is the flag of Armenia, so not here.
_PREFIXES = (
    "USS", "HMS", "HMAS", "HMCS", "HMNZS", "HNLMS", "HNoMS", "HSwMS", "HDMS", "HMSAS", "HMT",
    "HMHS", "HMIS", "HMY", "SMS", "SMU", "SS", "RMS", "MV", "MS", "MT", "MY", "GTS", "TSS", "PS",
    "RV", "SV", "SY", "HSC", "RFA", "RFAux", "INS", "USNS", "USCGC", "USAT", "USRC", "USAV", "CSS",
    "JDS", "JS", "ROKS", "ROCS", "ORP", "KRI", "BRP", "RPS", "TCG", "HTMS", "PNS", "BNS", "SLNS",
    "NRP", "BAP", "ARA", "ARC", "BAE", "LÉ", "FGS", "RSS", "SAS", "NMS", "CCGS", "NOAAS",
)  # fmt: skip
# Bits of the argument for the format.
_NUMBER, _NAME, _PREFIX = 1, 2, 4


def _shown_name(prefix: str, name: str, number: str, form: str) -> str:
    bits = int(form) if len(form) == 1 and form in "1234567" else _PREFIX | _NAME | _NUMBER
    shown = [prefix] if bits & _PREFIX else []
    shown += [name] if bits & _NAME else []
    if bits & _NUMBER and number:
        shown.append(number if bits == _NUMBER else f"({number})")
    return " ".join(filter(None, shown))


def ship(arguments: Arguments, page: Page) -> str:
    """Expands `{{ship|HMS|Ajax|22|6}}` to "HMS Ajax", and `{{ship|HMS|Ajax|22}}` to "HMS Ajax (22)".

    The arguments are prefix, name, number and format. The format is the sum of the parts that are shown: 4
    for the prefix, 2 for the name, 1 for the number.
    """
    prefix, name, number, form = (*positional(arguments)[:4], "", "", "", "")[:4]
    return _shown_name(prefix, name, number, form)


def _ship_of(prefix: str) -> Show:
    def show(arguments: Arguments, page: Page) -> str:
        name, number, form = (*positional(arguments)[:3], "", "", "")[:3]
        return _shown_name(prefix, name, number, form) if name else ""

    return show


def ship_class(arguments: Arguments, page: Page) -> str:
    """Expands `{{sclass|Iowa|battleship}}` to "Iowa-class battleship".

    The third argument is the format: "0" gives "Iowa-class", "4" gives "Iowa class", and "5" gives "Iowa".
    """
    name, kind, form = (*positional(arguments)[:3], "", "", "")[:3]
    if not name or form == "5":
        return name
    if form in ("0", "4"):
        return f"{name}-class" if form == "0" else f"{name} class"
    return f"{name}-class {kind}".strip()


BY_PREFIX = {f"ship_{prefix.lower()}": _ship_of(prefix) for prefix in _PREFIXES}
"""The functions that show templates such as {{HMS|Ajax|22}}, by their names in the tables."""
