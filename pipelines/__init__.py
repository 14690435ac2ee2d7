"""The corpora, and the command `corpusmill` that builds them.

In: settings and paths of inputs, from the command line or a template of Dataflow. Out: finished builds. A
method file (`wiki40b.py`, `lm1b.py`, …) reads like the method section of its paper; `<corpus>_settings.py`
has the settings and flags of the corpus. Knows every other room.
"""
