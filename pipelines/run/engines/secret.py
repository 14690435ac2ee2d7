"""Protects the servers of a build, which listen on the loopback interface, with a secret.

Beam's own servers listen on all interfaces and serve every caller. A caller receives or submits work as
pickled elements and functions. So anyone who can reach such a server could run code in the build.

Each build makes a new secret. Each gRPC call sends the secret in its metadata, under `HEADER`. Servers that
are started by hand, and builds that use these servers, read the secret from the environment variable
`VARIABLE`.
"""

import hmac
import os
import secrets
from collections.abc import Callable, Sequence
from concurrent import futures
from types import SimpleNamespace
from typing import Any

import grpc

HEADER = "corpusmill-secret"
VARIABLE = "CORPUSMILL_SECRET"
LOOPBACK = "127.0.0.1"
REFUSAL = f"the caller did not send the secret of this server ({VARIABLE})"

_NO_PROXY = (
    "grpc.enable_http_proxy",
    0,
)  # a proxy set in the environment cannot reach these servers


def make_secret() -> str:
    """Returns a new secret: 256 random bits in hexadecimal digits."""
    return secrets.token_hex(32)


def named_secret() -> str:
    """Returns the secret in the environment variable `VARIABLE`. Raises ValueError if it is not set."""
    secret = os.environ.get(VARIABLE, "")
    if not secret:
        raise ValueError(
            f"{VARIABLE} is not set; builds must send this secret to the server:"
            f" export {VARIABLE}=$(openssl rand -hex 32) here, and the same value where builds are started"
        )
    return secret


def is_shown(shown: object, secret: str) -> bool:
    """Returns True if `shown`, the value that a caller has sent, is the secret.

    The time of the comparison does not depend on the number of correct characters.
    """
    text = shown if isinstance(shown, str) else ""
    return hmac.compare_digest(text.encode(), secret.encode())


def guarded_server(
    executor: futures.Executor, secret: str, options: Sequence[tuple[str, Any]] = ()
) -> grpc.Server:
    """Returns a gRPC server without services. It rejects calls without the secret with the status
    UNAUTHENTICATED.
    """
    return grpc.server(executor, interceptors=[_Guard(secret)], options=options)


def open_channel(target: str, secret: str, options: Sequence[tuple[str, Any]] = ()) -> grpc.Channel:
    """Returns a gRPC channel whose calls send the secret.

    Args:
      target: The address of the server, host:port.
      secret: The secret of the server; "" if it requires none.
    """
    channel = grpc.insecure_channel(target, options=[*options, _NO_PROXY])
    return grpc.intercept_channel(channel, _Show(secret)) if secret else channel


class _Guard(grpc.ServerInterceptor):
    """Checks the secret in the metadata of each call."""

    def __init__(self, secret: str):
        self._secret = secret
        self._refuse = grpc.stream_stream_rpc_method_handler(_refuse)  # rejects before any message

    def intercept_service(self, continuation: Callable[[Any], Any], call: Any) -> Any:
        """Passes on calls that have the secret (see grpc.ServerInterceptor)."""
        shown = [value for key, value in call.invocation_metadata if key == HEADER]
        if len(shown) == 1 and is_shown(shown[0], self._secret):
            return continuation(call)
        return self._refuse


def _refuse(_: Any, context: grpc.ServicerContext) -> None:
    context.abort(grpc.StatusCode.UNAUTHENTICATED, REFUSAL)


class _Show(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    """Adds the secret to the metadata of each call."""

    def __init__(self, secret: str):
        self._shown = (HEADER, secret)

    def _intercept(self, continuation: Callable[[Any, Any], Any], call: Any, request: Any) -> Any:
        # The details of the call that are not given here keep their values.
        return continuation(
            SimpleNamespace(metadata=[*(call.metadata or ()), self._shown]), request
        )

    intercept_unary_unary = intercept_unary_stream = _intercept
    intercept_stream_unary = intercept_stream_stream = _intercept
