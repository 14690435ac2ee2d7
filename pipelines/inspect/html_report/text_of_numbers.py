"""Formats numbers, shares and sizes for people."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def share(part: float, whole: float) -> str:
    """Returns `part` as a percentage of `whole`, such as "27.6 %", with a no-break space.

    Returns "–" if `whole` is 0.
    """
    if not whole:
        return "–"
    value = 100 * part / whole
    if 99.95 <= value < 100:
        return ">\u00a099.9\u00a0%"
    digits = ".0f" if value >= 100 else ".2g" if value < 1 else ".1f"
    return f"{value:{digits}}\u00a0%"


def count(number: int, what: str) -> str:
    """Returns a number and a noun, such as "1 page" or "1,234 pages". `what` is the singular noun."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def readable_bytes(size: float) -> str:
    """Returns a size such as "2.3 MB"."""
    place = 0
    while size >= 1000 and place < len(_UNITS) - 1:
        size, place = size / 1000, place + 1
    return f"{size:,.1f} {_UNITS[place]}" if place else f"{size:,} bytes"
