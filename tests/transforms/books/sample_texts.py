"""Texts of our own writing in the manners that screening tells apart."""

import re

_TALE = """\
The miller had not slept since the frost came, and when he went down to the wheel in the morning
he saw that it had stopped. His daughter was there before him, and she said that the ice would
be gone by noon if they left it alone. He did not believe her, and he told her so. But she had
been right about the flood, and she had been right about the hens, and so he sat down upon a sack
and waited with her for the sun. It was a long time before either of them spoke again.
"""

_DIALOGUE = """\
"You might have asked me," said Martha. "I was in the kitchen all the while, and I could have told
you where it was."

"I did ask you," replied her brother, "but you were singing, and they say that nobody who sings
will ever hear what is asked of her."
"""

_STANZA = """\
  The river is wide and the ferry is slow,
    And the bell on the water is dumb,
  But the lamp in the window is burning below
    For the boat that will never come.
"""

_SCENE = """\
                    SCENE II. The same.

Enter MARIGOLD with a lamp.

MARIGOLD. Who calls so late? I thought the house was asleep.

TOBIAS. It is I. The bridge is down and I have walked along the river.

MARIGOLD (aside). He has not read the letter.

TOBIAS. What do you say? I could not hear you for the wind.

MARIGOLD. Nothing. Come in to the fire.

[Exit TOBIAS.
"""

_RECIPE = """\
PLUM BREAD. Take two pounds of flour, half a pound of butter, 4 ounces of sugar and a teaspoonful
of salt. Rub the butter into the flour, add one pint of warm milk, and work it well. It should stand
near the fire until it has risen. Bake in a moderate oven for an hour. Sufficient for 6 persons.
"""

_RULE = """\
{number}. The ladder should be set at one foot from the wall for every four feet of its height, and
must be held by a second man until the first is at the top. Loads may be carried in one hand alone.
Where the ground is soft, a board must be put under both feet of the ladder.
"""

_GERMAN = """\
Der alte Mann stand an der Tür und sah auf die Straße, aber es war niemand zu sehen. Er hatte den
ganzen Tag gewartet und wußte nicht, ob er noch eine Stunde warten sollte. Auf dem Tisch lag ein Brief,
den ihm seine Schwester aus der Stadt geschrieben hatte, und er las ihn zum dritten Mal.
"""

_FRENCH = """\
Le vieil homme était assis devant la porte et regardait la rue, mais il ne voyait personne. Il avait
attendu tout le jour et ne savait pas s'il fallait attendre encore une heure. Sur la table, une lettre
que sa sœur lui avait écrite de la ville, et qu'il lisait pour la troisième fois.
"""

_SYLLABLES = [first + vowel for first in "bdfgklmnprst" for vowel in "aeiou"]


def many(text: str, times: int) -> str:
    """The text so many times, a blank line after each. No two copies have a line in common: each has a made
    up word after the first one of each line, "The ba miller had not"."""
    return "\n".join(_copy(text, number) for number in range(times))


def _copy(text: str, number: int) -> str:
    made_up = _SYLLABLES[number % len(_SYLLABLES)] * (1 + number // len(_SYLLABLES))
    return re.sub(r"^([ \t]*\S+) ", rf"\1 {made_up} ", text, flags=re.MULTILINE).format(
        number=number + 1
    )


PROSE = many(f"{_TALE}\n{_DIALOGUE}", 20)
VERSE = many(_STANZA, 60)
PLAY = many(_SCENE, 20)
RECIPES = many(_RECIPE, 40)
MANUAL = many(_RULE, 60)
GERMAN = many(_GERMAN, 40)
FRENCH = many(_FRENCH, 40)
BILINGUAL = many(f"{_GERMAN}\n{_TALE}", 40)
