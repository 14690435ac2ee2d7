"""Defines the error numbers and messages by which a full disk is recognised."""

import errno

NUMBERS = (errno.ENOSPC, errno.EDQUOT)
TEXTS = r"No space left on device|Disk quota exceeded"  # errors of workers arrive as tracebacks
