"""Answers of the program, with a real master and files of tests/data."""

import asyncio
import concurrent.futures
import os
import shutil
import time
from datetime import datetime, timedelta, timezone

import pytest

import tidemark
from conftest import APPLICATION, ROOT
from tidemark import _program
from tidemark.answers import Answer

LOG = ROOT / "tests" / "data" / "spark" / "local-1795466322781.zst"
PLAN = {
    "id": "nightly",
    "name": "nightly",
    "cluster": {"slots": 4},
    "jobs": [
        {
            "name": "count",
            "profile": {
                "maps": 4,
                "reduces": 2,
                "map_task_seconds": 10,
                "reduce_task_seconds": 20,
                "slots": 4,
            },
        }
    ],
}


def test_explain_returns_sentences_for_each_query_of_a_log():
    first, *_ = tidemark.explain(LOG)
    assert first["query"] == "sql/0"
    assert repr(first).startswith("<sql/0 waited ")
    (only,) = tidemark.explain(LOG, query="job/5")
    assert only["query"] == "job/5"


def test_explain_names_an_unknown_job(master):
    with pytest.raises(tidemark.NotFoundError, match="no job absent"):
        tidemark.explain("absent", master=master.address)


def test_what_if_returns_a_snapshot_for_each_scenario():
    plan = {
        "cluster": {"slots": 2, "nodes": 1},
        "stages": [{"name": "scan", "tasks": 40, "task_seconds": 3}],
    }
    *_, two, four = tidemark.what_if(plan, slots=[2, 4])
    assert isinstance(two["snapshot"], tidemark.Snapshot)
    # 20 and 10 waves of 3 s. The medians are medians of draws.
    assert abs(two["snapshot"].remaining.median - timedelta(seconds=60)) < timedelta(seconds=2)
    assert abs(four["snapshot"].remaining.median - timedelta(seconds=30)) < timedelta(seconds=2)
    assert repr(four).startswith("<4 slots: ≈ ") and len(repr(four)) < 100


def test_what_if_passes_options_of_the_command():
    *_, double = tidemark.what_if(LOG, executors=[2], data=[2])
    *_, same = tidemark.what_if(LOG, executors=[2])
    assert double["snapshot"].remaining.median > same["snapshot"].remaining.median


def test_submit_accepts_a_mapping_and_returns_its_id(new_master):
    master = new_master().start()
    assert tidemark.submit(PLAN, master=master.address) == "nightly"
    with tidemark.Client(master.address) as client:
        assert client.get("nightly").info.kind == tidemark.JobKind.WORKFLOW


def test_an_invalid_plan_is_refused_with_its_fault(master):
    with pytest.raises(tidemark.RefusedError, match="jbos"):
        tidemark.submit({"id": "x", "jbos": []}, master=master.address)


def test_a_deadline_has_a_probability(new_master):
    master = new_master().start()
    tidemark.submit({**PLAN, "deadline": "2099-01-01T00:00:00Z"}, master=master.address)
    due = tidemark.deadline("nightly", master=master.address)
    assert due.at.year == 2099
    assert repr(due).startswith("<due ")


def test_a_deadline_can_be_set(new_master):
    master = new_master().start()
    tidemark.submit(PLAN, master=master.address)
    at = datetime(2099, 1, 1, 12, 30, 0, 250000, tzinfo=timezone.utc)
    assert tidemark.deadline("nightly", at, master=master.address).at == at
    with pytest.raises(tidemark.NotFoundError):
        tidemark.deadline("absent", at, master=master.address)


def test_a_job_without_a_deadline_has_none(master):
    assert tidemark.deadline(APPLICATION, master=master.address) is None


def test_a_snapshot_has_a_short_repr(client):
    assert repr(client.get("words")).startswith("<words: 100 %, ")
    assert len(repr(client.get(APPLICATION))) < 300


def test_asyncio_calls_return_the_same_answers(master):
    async def ask():
        (only,) = await tidemark.aio.explain(LOG, query="job/5")
        last = None
        async for snapshot in tidemark.aio.watch("words", master=master.address, disable=True):
            last = snapshot
        return only, last

    only, last = asyncio.run(ask())
    assert only["query"] == "job/5" and last.final


def test_a_cancelled_watch_ends_at_once(master):
    async def look():
        async for _ in tidemark.aio.watch(APPLICATION, master=master.address, disable=True):
            await asyncio.sleep(3600)

    async def cancel():
        watch = asyncio.ensure_future(look())
        await asyncio.sleep(1)
        began = time.monotonic()
        watch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watch
        assert time.monotonic() - began < 10  # The application itself never ends.

    asyncio.run(asyncio.wait_for(cancel(), 30))


def test_watches_leave_the_threads_of_the_loop_to_other_calls(new_master):
    master = new_master().start()

    async def look():
        async for _ in tidemark.aio.watch("later", master=master.address, disable=True, wait_for_job=True):
            pass

    async def ask():
        asyncio.get_running_loop().set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
        watch = asyncio.ensure_future(look())
        await asyncio.sleep(0.1)
        (only,) = await asyncio.wait_for(tidemark.aio.explain(LOG, query="job/5"), 60)
        watch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watch
        return only

    assert asyncio.run(ask())["query"] == "job/5"


def test_a_token_stays_off_the_command_line():
    for call in (tidemark.explain, tidemark.what_if, tidemark.submit):
        with pytest.raises(ValueError, match="pass token_file"):
            call("app-1", token="secret")


def test_a_name_that_resembles_an_option_is_a_name(master):
    with pytest.raises(tidemark.NotFoundError, match="--help"):
        tidemark.explain("--help", master=master.address)


def test_options_become_words():
    given = {"tls_ca": "ca.crt", "token_file": None, "cores": [2, 4], "conf": {"a": 1, "b": 2}, "slots": []}
    assert _program.options(given) == "--tls-ca ca.crt --cores 2,4 --conf a=1 b=2".split()


def test_an_answer_without_waits_names_its_job():
    assert Answer({"job": "count", "sentences": []}).text == "count has no known waits"
    assert Answer({"query": "sql/3", "sentences": []}).text == "sql/3 has no known waits"
    assert Answer({"sentences": []}).text == "the job has no known waits"


def test_a_cache_without_hard_links_keeps_the_token(monkeypatch, tmp_path):
    def fail(*_):
        raise PermissionError("no hard links")

    monkeypatch.setattr(os, "link", fail)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert _program._cache() == tmp_path / "tidemark"
    token = (tmp_path / "tidemark" / "token").read_text("utf-8")
    assert _program._cache() == tmp_path / "tidemark"
    assert (tmp_path / "tidemark" / "token").read_text("utf-8") == token
    assert sorted(os.listdir(tmp_path / "tidemark")) == ["token", "tokens"]


def test_a_cache_of_another_user_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    folder = _program._cache()
    assert folder != tmp_path / "tidemark"
    assert os.listdir(tmp_path / "tidemark") == []
    shutil.rmtree(folder)


def test_a_missing_program_is_an_error_with_a_remedy(monkeypatch):
    monkeypatch.delenv("TIDEMARK_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    _program.program.cache_clear()
    try:
        with pytest.raises(FileNotFoundError, match="TIDEMARK_PROGRAM"):
            _program.program()
    finally:
        _program.program.cache_clear()
