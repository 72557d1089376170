"""Tests broken streams with a fake master."""

import json
import pathlib
import threading
import time
from concurrent import futures
from http.server import BaseHTTPRequestHandler, HTTPServer

import grpc
import pytest

import tidemark
from tidemark import _wire, errors

VECTORS = pathlib.Path(__file__).resolve().parents[1] / "vectors"


class Script:
    """A fake server. Each stream plays the next list, which consists of responses and then a status
    code or None."""

    def __init__(self, folder, method, *streams):
        self.requests = []
        self._streams = iter(streams)
        self.address = f"unix:{folder}/socket"
        self._server = grpc.server(futures.ThreadPoolExecutor(1))
        handler = grpc.unary_stream_rpc_method_handler(
            self._play,
            _wire.message(f"tidemark.v1.{method}Request").FromString,
            lambda response: response.SerializeToString(),
        )
        self._server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler("tidemark.v1.JobService", {method: handler})]
        )
        self._server.add_insecure_port(self.address)
        self._server.start()

    def _play(self, request, context):
        self.requests.append(request)
        *responses, end = next(self._streams)
        yield from responses
        if end is not None:
            code, details = end if isinstance(end, tuple) else (end, b"")
            if details:
                context.set_trailing_metadata([("grpc-status-details-bin", details)])
            context.abort(code, "as the script says")

    def stop(self):
        self._server.stop(0)


@pytest.fixture
def play(tmp_path):
    played = []

    def make(method, *streams):
        played.append(Script(tmp_path, method, *streams))
        return played[-1]

    yield make
    for script in played:
        script.stop()


def of_job(sequence, final=False):
    response = _wire.message("tidemark.v1.WatchJobResponse")(resume_token=f"after {sequence}")
    response.snapshot.job_id = "one"
    response.snapshot.sequence = sequence
    response.snapshot.final = final
    return response


def of_jobs(*ids, removed=(), token="", synced=True, restarted=False):
    response = _wire.message("tidemark.v1.WatchJobsResponse")(
        removed_job_ids=removed, resume_token=token, synced=synced, restarted=restarted
    )
    for job_id in ids:
        response.snapshots.add().job_id = job_id
    return response


def watched(script, **options):
    with tidemark.Client(script.address) as client:
        return [one.sequence for one in client.watch("one", timeout=60, **options)]


def test_a_broken_stream_is_resumed_after_the_last_snapshot(play):
    away = grpc.StatusCode.UNAVAILABLE
    script = play(
        "WatchJob", [of_job(1), of_job(2), away], [away], [of_job(5), None], [of_job(6, True), None]
    )
    assert watched(script, wait_for_job=True) == [1, 2, 5, 6]
    tokens = [request.resume_token for request in script.requests]
    assert tokens == ["", "after 2", "after 2", "after 5"]
    assert [request.wait_for_job for request in script.requests] == [True, False, False, False]
    assert not any(request.deltas for request in script.requests)


def test_an_error_that_no_retry_can_resolve_ends_the_watch(play):
    script = play("WatchJob", [of_job(1), grpc.StatusCode.PERMISSION_DENIED])
    with pytest.raises(tidemark.DeniedError, match="as the script says"):
        watched(script)
    assert len(script.requests) == 1


def test_a_cancelled_stream_counts_as_an_unavailable_master(play):
    script = play("WatchJob", [of_job(1), grpc.StatusCode.CANCELLED], [of_job(2, True), None])
    assert watched(script) == [1, 2]


def test_a_retry_respects_the_delay_requested_by_the_master(play):
    info = _wire.message("tidemark.rpc.v1.RetryInfo")()
    info.retry_delay.nanos = 700_000_000
    status = _wire.message("tidemark.rpc.v1.Status")(code=8)
    status.details.add(
        type_url="type.googleapis.com/google.rpc.RetryInfo", value=info.SerializeToString()
    )
    busy = (grpc.StatusCode.RESOURCE_EXHAUSTED, status.SerializeToString())
    script = play("WatchJob", [of_job(1), busy], [of_job(2, True), None])
    began = time.monotonic()
    assert watched(script) == [1, 2]
    assert time.monotonic() - began >= 0.7


def test_an_invalid_snapshot_is_an_error(play):
    response = of_job(1)
    response.snapshot.at.seconds = 1 << 60
    script = play("WatchJob", [response, None])
    with pytest.raises(tidemark.TidemarkError, match="snapshot of job 'one' is invalid"):
        watched(script)


def test_a_list_is_reported_when_it_is_complete_and_after_each_change(play):
    script = play(
        "WatchJobs",
        [
            of_jobs("a", synced=False),
            of_jobs("b", token="1"),
            of_jobs(token="2"),  # This is a response.
            of_jobs("c", removed=["a"], token="3"),
            grpc.StatusCode.UNAVAILABLE,
        ],
        [of_jobs(token="4"), of_jobs("d", token="5"), grpc.StatusCode.UNAVAILABLE],
        [of_jobs("e", restarted=True), grpc.StatusCode.UNAUTHENTICATED],
    )
    lists = []
    with tidemark.Client(script.address) as client:
        with pytest.raises(tidemark.DeniedError):
            for jobs in client.watch_all(timeout=60):
                lists.append("".join(sorted(jobs)))
    assert lists == ["ab", "bc", "bcd", "e"]
    assert [request.resume_token for request in script.requests] == ["", "3", "5"]


def test_another_server_is_reported_as_no_master(play):
    script = play("WatchJobs")
    with pytest.raises(tidemark.TidemarkError, match="or runs a different version"):
        watched(script)


def test_reasons_contain_no_phrases_of_libraries():
    # tests/transport/reason_test.cc uses the same file.
    golden = json.loads((VECTORS / "plain_reasons.json").read_text())
    for vector in golden:
        assert errors.plain_reason(vector["raw"]) == vector["plain"]
        assert errors.plain_reason(vector["plain"]) == vector["plain"]


def test_a_web_server_is_reported_as_one():
    class Page(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

    page = HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=page.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{page.server_port}"
    try:
        with pytest.raises(tidemark.UnreachableError) as raised:
            tidemark.Client(address).list()
    finally:
        page.shutdown()
    assert str(raised.value).startswith(f"the server at {address} is not a master: it speaks")


def test_an_unresolvable_host_is_reported_by_name():
    with pytest.raises(tidemark.UnreachableError) as raised:
        tidemark.Client("nosuch.invalid:7411").list()
    assert str(raised.value).startswith(
        "cannot reach the master at nosuch.invalid:7411: its host name cannot be resolved ("
    )
