from datetime import timedelta, timezone

import pytest
from google.protobuf import json_format

import tidemark
from conftest import APPLICATION, run
from tidemark import _wire
from tidemark._reading import read_snapshot
from tidemark.job import EPOCH


def test_get_agrees_with_the_command_line(client):
    message = _wire.message("tidemark.v1.Snapshot")()
    said = run("get", "jobs", "words", "-o", "json", "--master", client.address)
    json_format.Parse(said, message)
    assert client.get("words") == read_snapshot(message)


def test_unset_times_are_none(client):
    running = client.get(APPLICATION)
    assert running.ended_at is None and not running.final
    ended = client.get("words")
    assert ended.remaining is None and ended.silent_since is None
    assert all(stage.starts_in is None and stage.ends_in is None for stage in ended.stages)
    assert ended.coverage is not None


def test_instants_are_aware_and_durations_are_durations(client):
    ended = client.get("words")
    assert ended.started_at.tzinfo is timezone.utc and ended.ended_at.tzinfo is timezone.utc
    assert ended.elapsed == ended.ended_at - ended.started_at
    assert timedelta() < ended.elapsed < timedelta(minutes=1)


def test_a_duration_of_zero_is_zero_and_not_none():
    message = _wire.message("tidemark.v1.Snapshot")()
    json_format.ParseDict(
        {
            "at": "2026-01-01T00:00:00Z",
            "estimate": {"remaining": {"median": "0s"}},
            "stages": [{"startsIn": {"median": "1.5s", "upper": "2s"}}],
        },
        message,
    )
    snapshot = read_snapshot(message)
    assert snapshot.remaining == tidemark.Range(timedelta())
    assert snapshot.stages[0].starts_in == tidemark.Range(
        timedelta(seconds=1.5), upper=timedelta(seconds=2)
    )
    assert snapshot.started_at is None and snapshot.elapsed is None and snapshot.coverage is None


def test_values_of_a_newer_master_are_no_error():
    message = _wire.message("tidemark.v1.Snapshot")(state=77)
    message.estimate.fraction_done = float("nan")
    snapshot = read_snapshot(message)
    assert snapshot.state is tidemark.JobState.UNKNOWN
    assert snapshot.fraction_done == 0
    assert snapshot.at == EPOCH


def test_an_invalid_snapshot_is_an_error_that_names_the_job():
    message = _wire.message("tidemark.v1.Snapshot")(job_id="mad")
    message.at.seconds = 1 << 60
    with pytest.raises(ValueError, match="'mad'"):
        read_snapshot(message)


def test_snapshots_cannot_be_changed(client):
    with pytest.raises(AttributeError):
        client.get("words").final = False


def test_states_are_equal_to_their_names(client):
    assert client.get("words").state == "succeeded"
    assert str(client.get("words").state) == "succeeded"


def test_list_returns_the_jobs_that_match_the_filter(client):
    def ids(**wanted):
        return [job.job_id for job in client.list(**wanted)]

    assert set(ids()) == {"words", APPLICATION}
    assert ids(states=[tidemark.JobState.SUCCEEDED]) == ["words"]
    assert ids(states=["running"]) == [APPLICATION]
    assert ids(kinds=[tidemark.JobKind.MAPREDUCE]) == ["words"]
    assert ids(user="nobody in particular") == []


def test_lists_of_many_pages_are_complete(client, monkeypatch):
    request = _wire.request
    monkeypatch.setattr(
        _wire, "request", lambda method, **fields: request(method, page_size=1, **fields)
    )
    assert {job.job_id for job in client.list()} == {"words", APPLICATION}


def test_an_unknown_job_is_not_found(client):
    for ask in (client.get, client.wait):
        with pytest.raises(tidemark.NotFoundError, match="no job wrods .*; did you mean words?"):
            ask("wrods")
    with pytest.raises(LookupError, match=f"its jobs: .*{APPLICATION}"):
        client.get("something else")


def test_an_absent_master_is_unreachable_and_the_error_has_a_remedy(tmp_path):
    with tidemark.Client(f"unix:{tmp_path}/nobody") as client:
        for ask in (client.list, lambda: client.wait("words")):
            with pytest.raises(tidemark.UnreachableError, match="tidemark serve.*TIDEMARK_MASTER"):
                ask()
    with pytest.raises(ConnectionError):
        tidemark.Client("127.0.0.1:1").get("words")


def test_the_environment_configures_the_master(master, monkeypatch):
    monkeypatch.setenv("TIDEMARK_MASTER", master.address)
    assert tidemark.Client().get("words").final
    monkeypatch.delenv("TIDEMARK_MASTER")
    assert tidemark.Client().address == "127.0.0.1:7411"


def test_an_address_without_a_port_is_rejected():
    with pytest.raises(ValueError, match="did you mean master.example:7411"):
        tidemark.Client("master.example")


def test_forget_removes_a_job_that_has_ended(new_master):
    master = new_master().start()
    master.run_job("one")
    with tidemark.Client(master.address) as client:
        client.forget("one")
        client.forget("one")
        assert client.list() == []


def test_forget_rejects_a_running_job(client):
    with pytest.raises(tidemark.RefusedError):
        client.forget(APPLICATION)


def test_watch_all_reports_new_and_removed_jobs(new_master):
    master = new_master().start()
    with tidemark.Client(master.address) as client, client.watch_all(timeout=60) as all_jobs:
        assert next(all_jobs) == {}
        master.run_job("one")
        assert any("one" in jobs and jobs["one"].final for jobs in all_jobs)
        client.forget("one")
        assert any(jobs == {} for jobs in all_jobs)


def test_closing_a_client_ends_its_calls(master):
    client = tidemark.Client(master.address)
    client.close()
    with pytest.raises(ValueError):
        client.list()
