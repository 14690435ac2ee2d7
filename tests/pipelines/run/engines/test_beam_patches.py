"""Each patch of Beam does what it should, and is needed: tests "…_needs_…" fail when Beam has its own way."""

import copy
import functools
import gc
import inspect
import os
import pickle
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apache_beam as beam
import grpc
import pytest
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions, TypeOptions
from apache_beam.portability.api import beam_fn_api_pb2 as fn_api
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.runners.portability.fn_api_runner.worker_handlers import (
    ControlConnection,
    StateServicer,
)
from apache_beam.runners.worker import data_plane
from apache_beam.runners.worker.channel_factory import GRPCChannelFactory
from apache_beam.runners.worker.statesampler import DEFAULT_SAMPLING_PERIOD_MS, StateSampler
from apache_beam.transforms import core, userstate
from apache_beam.transforms.core import CallableWrapperDoFn
from apache_beam.transforms.userstate import BagStateSpec
from apache_beam.utils.counters import CounterFactory

from corpusmill.pipelines.run.engines import beam_patches
from corpusmill.transforms.files.errors import BuildError
from tests.pipelines.run.engines.dataflow_service import (
    PROJECT,
    REGION,
    dataflow_service,
    write_credentials,
)
from tests.tools.strangers import LOOPBACK, open_ports

# Flags.

FLAGS = ["--direct_num_workers=3", "--runtime_type_check"]


def test_a_view_is_made_once_and_says_what_beams_says() -> None:
    options = beam_patches.Options(FLAGS)
    assert options.view_as(DirectOptions) is options.view_as(DirectOptions)
    for view in (DirectOptions, TypeOptions):
        assert str(options.view_as(view)) == str(PipelineOptions(FLAGS).view_as(view))
    assert options.get_all_options() == PipelineOptions(FLAGS).get_all_options()


def test_beam_needs_a_look_for_unknown_flags() -> None:
    assert "no_such_flag" not in PipelineOptions(["--no_such_flag=1"]).get_all_options()
    assert beam_patches.unknown_flags(["--no_such_flag=1", *FLAGS]) == ["--no_such_flag=1"]


def test_what_is_set_in_a_view_is_seen_in_all() -> None:
    options = beam_patches.Options(FLAGS)
    before = options.view_as(DirectOptions)
    options.view_as(DirectOptions).direct_num_workers = 5
    assert before.direct_num_workers == 5
    assert options.get_all_options()["direct_num_workers"] == 5


def test_copies_have_values_of_their_own() -> None:
    options = beam_patches.Options(FLAGS)
    options.view_as(DirectOptions).direct_num_workers = 5
    for copied in (copy.deepcopy(options), pickle.loads(pickle.dumps(options))):
        assert copied.view_as(DirectOptions).direct_num_workers == 5
        copied.view_as(DirectOptions).direct_num_workers = 7
        assert copied.get_all_options()["direct_num_workers"] == 7
    assert options.view_as(DirectOptions).direct_num_workers == 5


def test_a_copy_without_what_beam_keeps_to_itself_shares_its_values_with_its_views() -> None:
    options = beam_patches.Options([*FLAGS, "--impersonate_service_account=somebody"])
    options.view_as(DirectOptions)
    copied = copy.deepcopy(options)
    copied.view_as(DirectOptions).direct_num_workers = 7
    values = copied.get_all_options()
    assert (values["direct_num_workers"], values["impersonate_service_account"]) == (7, None)


def test_beam_needs_views_that_are_kept() -> None:
    options = PipelineOptions(FLAGS)
    assert options.view_as(DirectOptions) is not options.view_as(DirectOptions)


# Signatures.

STATE = BagStateSpec("seen", beam.coders.VarIntCoder())
SEEN = beam.DoFn.StateParam(STATE)


class _Stateful(beam.DoFn):
    def process(self, element: tuple[str, int], seen: Any = SEEN) -> Iterator[int]:
        seen.add(element[1])
        yield sum(seen.read())

    @staticmethod
    def alone(element: int, times: int = 3) -> int:
        return element * times

    @classmethod
    def of_class(cls, element: int) -> int:
        return element


def _function(element: int, /, other: int, *rest: int, last: int = 1, **more: int) -> None:
    del element, other, rest, last, more


@functools.wraps(_function)
def _wrapper(*_: Any) -> None:
    pass


@pytest.fixture
def looks() -> tuple[Callable[[Any], beam_patches.Signature], list[Any]]:
    """Beam's function, remembered, and what it was asked."""
    asked: list[Any] = []
    original = getattr(
        core.get_function_args_defaults, "__wrapped__", core.get_function_args_defaults
    )

    def look(function: Any) -> beam_patches.Signature:
        asked.append(function)
        found: beam_patches.Signature = original(function)
        return found

    return beam_patches.remembered(look), asked


@pytest.mark.parametrize(
    "asked",
    [
        _function,
        _wrapper,
        lambda element, times=2: element * times,
        _Stateful.process,
        _Stateful().process,
        _Stateful.alone,
        _Stateful().alone,
        _Stateful.of_class,
        _Stateful().default_label,
        functools.partial(_function, 1),
        _Stateful,
        str.strip,
        len,
        dict,
    ],
)
def test_the_same_is_found_at_each_look(
    asked: Any, looks: tuple[Callable[[Any], beam_patches.Signature], list[Any]]
) -> None:
    look, _ = looks
    expected = look.__wrapped__(asked)  # type: ignore[attr-defined]
    assert look(asked) == look(asked) == expected


def test_a_function_is_looked_at_once_bound_and_once_unbound(
    looks: tuple[Callable[[Any], beam_patches.Signature], list[Any]],
) -> None:
    look, asked = looks
    for _ in range(3):
        assert look(_Stateful.process)[0] == ["self", "element", "seen"]
        assert look(_Stateful().process)[0] == ["element", "seen"]
    assert len(asked) == 2


def test_what_is_given_may_be_changed(
    looks: tuple[Callable[[Any], beam_patches.Signature], list[Any]],
) -> None:
    look, _ = looks
    for part in look(_Stateful.alone):
        part.clear()
    assert look(_Stateful.alone) == (["element", "times"], [3])


def test_a_function_that_is_gone_is_forgotten(
    looks: tuple[Callable[[Any], beam_patches.Signature], list[Any]],
) -> None:
    look, asked = looks

    def look_at_one_of_its_own() -> weakref.ref[Any]:
        def passing(element: int) -> int:
            return element

        assert look(passing) == (["element"], [])
        asked.clear()
        return weakref.ref(passing)

    assert look_at_one_of_its_own()() is None


def test_state_is_found_as_before() -> None:
    beam_patches.remember_signatures()
    beam_patches.remember_signatures()  # once is enough
    for patched in (core.get_function_args_defaults, userstate.get_dofn_specs):
        assert not hasattr(patched.__wrapped__, "__wrapped__")
    for _ in range(2):
        for stateful in (_Stateful(), beam.FlatMap(_Stateful().process).fn):
            assert userstate.is_stateful_dofn(stateful)
            states, timers = userstate.get_dofn_specs(stateful)
            assert (states, timers) == ({STATE}, set())
            states.clear()  # what is given may be changed
        assert not userstate.is_stateful_dofn(beam.Map(str).fn)


def test_a_class_is_looked_at_once_and_forgotten_with_its_module() -> None:
    asked: list[type] = []

    def look(dofn: Any) -> beam_patches.Specs:
        asked.append(type(dofn))
        return set(), set()

    look_once = beam_patches.remembered_specs(look)

    def look_at_one_of_its_own() -> weakref.ref[Any]:
        class Passing(beam.DoFn):
            pass

        assert [look_once(Passing()), look_once(Passing())] == [(set(), set())] * 2
        assert asked == [Passing]
        asked.clear()
        return weakref.ref(Passing)

    found = look_at_one_of_its_own()
    gc.collect()  # a class refers to itself
    assert found() is None


def test_beam_needs_signatures_that_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks at the same function, and for state at the same class, many times."""
    looks: Counter[Any] = Counter()

    def count_in(module: Any, name: str, key: Callable[[Any], Any]) -> None:
        original = getattr(getattr(module, name), "__wrapped__", getattr(module, name))

        def count(asked: Any) -> Any:
            looks[key(asked)] += 1
            return original(asked)

        monkeypatch.setattr(module, name, count)

    count_in(core, "get_function_args_defaults", lambda asked: getattr(asked, "__func__", asked))
    count_in(userstate, "get_dofn_specs", type)
    with beam.Pipeline(runner=FnApiRunner()) as root:
        _ = root | beam.Create([1]) | beam.Map(str) | beam.Map(len)
    assert looks.pop(CallableWrapperDoFn) > 5
    assert max(looks.values()) > 20


# Servers.


def test_beam_needs_a_server_on_the_loopback_interface() -> None:
    before = open_ports([os.getpid()])
    server = beam_patches.GrpcServer(StateServicer(), None, None)
    try:
        opened = {port: at for port, at in open_ports([os.getpid()]).items() if port not in before}
        assert len(opened) == 4
        assert not set(opened.values()) & LOOPBACK
    finally:
        server.close()


def test_beam_needs_channels_that_show_a_secret() -> None:
    """There is no setting for metadata of calls."""
    parameters = inspect.signature(GRPCChannelFactory.insecure_channel).parameters
    assert list(parameters) == ["target", "options"]


def test_workers_of_beam_itself_are_served_as_ever() -> None:
    """They know no secret."""
    flags = ["--direct_num_workers=2", "--direct_running_mode=multi_threading"]
    with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions(flags)) as root:
        _ = root | beam.Create([1, 2]) | beam.Map(str)


# A lost worker.


def lost_worker() -> Iterator[Any]:
    raise grpc.RpcError
    yield


@pytest.mark.parametrize("read", [lost_worker, lambda: iter(())])
def test_a_channel_of_a_lost_worker_takes_what_is_sent_and_waits_for_the_error(
    read: Callable[[], Iterator[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_plane, "_DEFAULT_SEND_QUEUE_MAX_BYTES", 10)
    channel = beam_patches._Data()
    channel.set_inputs(read())
    assert sends(channel, 10)
    channel._receiving_queue("1")
    time.sleep(0.1)
    assert list(channel.input_elements("1", ["x"], abort_callback=lambda: True)) == []
    channel.close()


def test_beam_needs_a_channel_that_knows_of_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_plane, "_DEFAULT_SEND_QUEUE_MAX_BYTES", 10)
    channel = data_plane._GrpcDataChannel()
    channel.set_inputs(iter(()))
    assert not sends(channel, 0.5)
    with pytest.raises(RuntimeError, match="Channel closed prematurely"):
        next(channel.input_elements("1", ["x"], abort_callback=lambda: True))


def sends(channel: data_plane._GrpcDataChannel, seconds: float) -> bool:
    """Sends more than may wait; False where that takes longer."""
    piece = fn_api.Elements.Data(data=bytes(10))
    send = threading.Thread(
        target=lambda: [channel._enqueue_to_send(piece) for _ in range(5)], daemon=True
    )
    send.start()
    send.join(seconds)
    return not send.is_alive()


def test_a_worker_that_was_killed_before_is_not_waited_for() -> None:
    connection = ControlConnection()
    waiting = connection.push(fn_api.InstructionRequest())
    beam_patches.fail_requests(connection, BuildError("killed by SIGKILL"))
    for future in (waiting, connection.push(fn_api.InstructionRequest())):
        with pytest.raises(BuildError, match="killed by SIGKILL"):
            future.get(10)
    connection.close()


def test_beam_needs_requests_that_end_after_a_loss() -> None:
    """An error ends those that wait. Those that are sent after it wait for ever."""
    connection = ControlConnection()
    connection.abort(BuildError("lost"))
    later = connection.push(fn_api.InstructionRequest())
    with pytest.raises(AssertionError):  # neither an answer nor the error is there
        later.get(0.1)
    connection.close()


# Samples of the current step.


def test_beam_needs_samples_that_are_taken_often() -> None:
    """The end of a bundle waits for the thread that takes them."""
    beam_patches.sample_often()
    assert StateSampler("a bundle", CounterFactory()).sampling_period_ms == beam_patches.SAMPLING_MS
    assert DEFAULT_SAMPLING_PERIOD_MS > 10 * beam_patches.SAMPLING_MS
    threads = threading.active_count()
    sampler = StateSampler("a bundle", CounterFactory(), DEFAULT_SAMPLING_PERIOD_MS)
    sampler.start()
    assert threading.active_count() == threads + 1
    time.sleep(0.2)
    sampler.stop()
    assert threading.active_count() == threads


# Jobs of Dataflow.


def test_beam_needs_a_look_for_jobs_that_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own passes over them, and asks again until a job runs."""
    pytest.importorskip("google.cloud.dataflow", reason='it comes with the extra "gcp"')
    from apache_beam.runners.dataflow.internal.apiclient import DataflowApplicationClient

    waiting = {"id": "job-1", "name": "x", "currentState": "JOB_STATE_QUEUED"}
    running = {"id": "job-2", "name": "x", "currentState": "JOB_STATE_RUNNING"}
    with dataflow_service() as service:
        write_credentials(tmp_path / "account.json", service)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
        flags = [f"--project={PROJECT}", f"--region={REGION}"]
        options = PipelineOptions([*flags, f"--dataflow_endpoint={service.address}"])
        service.active = [waiting]
        assert beam_patches.active_job(options, "x") == "job-1"
        assert beam_patches.active_job(options, "y") == ""
        answers = iter([[waiting], [waiting], [running]])
        monkeypatch.setattr(service, "answer", lambda *_: {"jobs": next(answers)})
        assert DataflowApplicationClient(options).job_id_for_name("x") == "job-2"
