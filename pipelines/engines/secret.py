"""Servers of a build, which listen on the loopback interface and ask callers for a secret.

Beam's own servers listen on all interfaces and serve every caller. A caller is handed work, or hands out work
of its own, which is code: elements and functions travel pickled.

Each build makes a new secret. A call shows it in its metadata, under `HEADER`. Servers that are started by
hand, and builds that use them, take it from the environment variable `VARIABLE`.
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
REFUSAL = f"the caller does not show the secret of this server ({VARIABLE})"

_NO_PROXY = ("grpc.enable_http_proxy", 0)  # a proxy of the environment cannot reach these servers


def make_secret() -> str:
    """A new secret: 256 bits of the system's random numbers, in hexadecimal digits."""
    return secrets.token_hex(32)


def named_secret() -> str:
    """The secret of the environment variable. Raises ValueError if it is not set."""
    secret = os.environ.get(VARIABLE, "")
    if not secret:
        raise ValueError(
            f"{VARIABLE} is not set, and builds that use this server must show it:"
            f" export {VARIABLE}=$(openssl rand -hex 32) here, and the same value where builds start"
        )
    return secret


def is_shown(shown: object, secret: str) -> bool:
    """True for the right secret. Takes the same time for every wrong one of a length."""
    text = shown if isinstance(shown, str) else ""
    return hmac.compare_digest(text.encode(), secret.encode())


def guarded_server(
    executor: futures.Executor, secret: str, options: Sequence[tuple[str, Any]] = ()
) -> grpc.Server:
    """A gRPC server without a service, which ends calls that do not show the secret with UNAUTHENTICATED."""
    return grpc.server(executor, interceptors=[_Guard(secret)], options=options)


def open_channel(target: str, secret: str, options: Sequence[tuple[str, Any]] = ()) -> grpc.Channel:
    """A channel whose calls show the secret; "" for a server that asks for none."""
    channel = grpc.insecure_channel(target, options=[*options, _NO_PROXY])
    return grpc.intercept_channel(channel, _Show(secret)) if secret else channel


class _Guard(grpc.ServerInterceptor):
    """Compares the metadata of each call."""

    def __init__(self, secret: str):
        self._secret = secret
        self._refuse = grpc.stream_stream_rpc_method_handler(_refuse)  # does not wait for a message

    def intercept_service(self, continuation: Callable[[Any], Any], call: Any) -> Any:
        """As grpc.ServerInterceptor has it."""
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
        # What is not told of a call stays as it was.
        return continuation(
            SimpleNamespace(metadata=[*(call.metadata or ()), self._shown]), request
        )

    intercept_unary_unary = intercept_unary_stream = _intercept
    intercept_stream_unary = intercept_stream_stream = _intercept
