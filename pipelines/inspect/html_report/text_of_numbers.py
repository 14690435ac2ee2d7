"""Numbers as a reader sees them."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def share(part: float, whole: float) -> str:
    """ "27.6 %"; "–" of nothing."""
    if not whole:
        return "–"
    value = 100 * part / whole
    return f"{value:.0f} %" if value >= 100 else f"{value:.2g} %" if value < 1 else f"{value:.1f} %"


def readable_bytes(size: float) -> str:
    """ "2.3 MB"."""
    place = 0
    while size >= 1000 and place < len(_UNITS) - 1:
        size, place = size / 1000, place + 1
    return f"{size:,.1f} {_UNITS[place]}" if place else f"{size:,} bytes"
