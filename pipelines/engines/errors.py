"""How a run ends without a result."""


class BuildError(Exception):
    """A build ended without a result; the message is for the person who started it."""
