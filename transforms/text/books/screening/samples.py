"""Parts of a text that stand for the whole, where looking at every word would take too long."""

NUMBER = 40
CHARACTERS = 4000


def take_samples(text: str, number: int = NUMBER, characters: int = CHARACTERS) -> list[str]:
    """Parts of `characters` each, spread evenly over the text; all of a text that is no longer than they are.

    They are cut anywhere, also in the middle of a word.
    """
    if len(text) <= number * characters:
        return [text[start : start + characters] for start in range(0, len(text), characters)]
    last = len(text) - characters
    starts = [last * part // (number - 1) for part in range(number)] if number > 1 else [0]
    return [text[start : start + characters] for start in starts]
