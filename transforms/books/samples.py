"""Takes samples of a text, for measurements that would take too long on the whole text."""

NUMBER = 40
CHARACTERS = 4000


def take_samples(text: str, number: int = NUMBER, characters: int = CHARACTERS) -> list[str]:
    """Returns `number` parts of a text with `characters` characters each, evenly spaced.

    If the text is not longer than these parts together, consecutive parts of the whole text are returned.
    Parts may begin and end in the middle of a word.
    """
    if len(text) <= number * characters:
        return [text[start : start + characters] for start in range(0, len(text), characters)]
    last = len(text) - characters
    starts = [last * part // (number - 1) for part in range(number)] if number > 1 else [0]
    return [text[start : start + characters] for start in starts]
