"""`python -m pipelines` is the command `corpusmill`, for a checkout that is not installed."""

import sys

from pipelines.cli import main

sys.exit(main())
