"""Describes failures of Dataflow and its jobs in one line."""

import contextlib
from collections.abc import Iterator

from apache_beam.runners.dataflow.dataflow_runner import DataflowRuntimeException

from corpusmill.transforms.files.errors import BuildError, find_worker_error

_UPLOAD_ERROR = "Could not upload to GCS path"  # the beginning of Beam's error message


def explain(text: str) -> str:
    """Returns one line about a failed job: the error of a worker, or else the last line of `text`.

    Args:
      text: The error message of Dataflow, which may contain the traceback of a worker.
    """
    found = find_worker_error(text)
    if found:
        return found
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    says_why = (
        lines and lines[-1] != "None"
    )  # Beam's message if a job failed before Beam first queried its state
    return lines[-1] if says_why else "the job has failed without a message; see its log"


@contextlib.contextmanager
def readable_errors() -> Iterator[None]:
    """Replaces errors of Dataflow and its jobs in the `with` block by a BuildError of one line."""
    from apache_beam.runners.dataflow.internal import apiclient
    from google.api_core.exceptions import GoogleAPIError  # type: ignore[import-untyped]
    from google.auth.exceptions import GoogleAuthError  # type: ignore[import-untyped]

    try:
        yield
    except DataflowRuntimeException as error:
        raise BuildError(explain(str(error))) from None
    except apiclient.DataflowJobAlreadyExistsError as error:
        raise BuildError(str(error)) from None
    except (GoogleAPIError, GoogleAuthError) as error:
        raise BuildError(f"Google Cloud refused the request: {_in_one_line(error)}") from None
    except OSError as error:
        if not str(error).startswith(_UPLOAD_ERROR):
            raise
        raise BuildError(_in_one_line(error)) from None


def _in_one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
