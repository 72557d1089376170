"""Runs a small MapReduce job and reports it to a Tidemark master: report_job.py MASTER JOB_ID

Needs grpcio, protobuf and the modules that docs/tours/python-sender.md generates. A real engine also reconnects, and
resends the events that the master has not accepted.
"""

import hashlib
import math
import queue
import sys
import time
import uuid

import grpc
from tidemark.v1 import event_pb2 as v1
from tidemark.v1 import ingest_service_pb2 as ingest
from tidemark.v1.ingest_service_pb2_grpc import IngestServiceStub


class Source:
    """One process that reports a job."""

    def __init__(self, master, job_id):
        self._requests, self._sequence = queue.SimpleQueue(), 0
        source = ingest.Source(handle=1, source_id="engine", job_id=job_id, run_uid=uuid.uuid4().hex)
        self._requests.put(ingest.StreamEventsRequest(sources=[source]))
        channel = grpc.insecure_channel(master)
        self._responses = IngestServiceStub(channel).StreamEvents(iter(self._requests.get, None))

    def send(self, **event):
        """Sends one event, such as job_closed=JobClosed(...)."""
        self._sequence += 1
        batch = ingest.StreamEventsRequest(handle=1, first_sequence=self._sequence, sent_at=time.time_ns())
        batch.events.append(v1.Event(**event))
        self._requests.put(batch)

    def wait(self):
        """Waits until the master has accepted every event."""
        for response in self._responses:
            if response.rejections:
                sys.exit(f"rejected: {response.rejections[0].reason}")
            if response.accepted_sequence >= self._sequence:
                return


def key_hash(key):
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little")


def main(master, job_id):
    group_bytes = {f"key {n}": 1000 + 400 * n for n in range(40)} | {"large key": 60_000}
    map_task, reduce_task = v1.TaskAttemptId(stage=0), v1.TaskAttemptId(stage=1)
    source = Source(master, job_id)
    stages = [v1.StageOpened(stage=0, kind=v1.STAGE_KIND_MAP, task_count=1),
              v1.StageOpened(stage=1, kind=v1.STAGE_KIND_REDUCE, task_count=1, parents=[0])]
    source.send(job_opened=v1.JobOpened(name="report_job", engine="python", stages=stages))
    source.wait()

    source.send(attempt_changed=v1.AttemptChanged(attempt=map_task, state=v1.ATTEMPT_STATE_STARTED))
    output = v1.PartitionProfile(total_bytes=sum(group_bytes.values()))
    output.explicit_key_hashes.extend(map(key_hash, group_bytes))
    output.explicit_key_bytes.extend(group_bytes.values())
    source.send(map_profile=v1.MapProfile(attempt=map_task, partitions=[output]))
    source.send(attempt_changed=v1.AttemptChanged(attempt=map_task, state=v1.ATTEMPT_STATE_FINISHED))

    for state in (v1.ATTEMPT_STATE_STARTED, v1.ATTEMPT_STATE_SHUFFLED):
        source.send(attempt_changed=v1.AttemptChanged(attempt=reduce_task, state=state))
    totals = {"groups_done": 0, "bytes_done": 0, "reduce_nanos": 0}
    for key, size in group_bytes.items():
        began, spent = time.monotonic(), 0.0
        while spent < size**2 / 1e9:  # the reduce function
            group = v1.RunningGroup(key_hash=key_hash(key), elapsed_nanos=int(1e9 * spent))
            source.send(reduce_profile=v1.ReduceProfile(attempt=reduce_task, running_group=group, **totals))
            time.sleep(min(size**2 / 1e9 - spent, 0.5))
            spent = time.monotonic() - began
        new = {"groups_done": 1, "bytes_done": size, "reduce_nanos": int(1e9 * spent)}
        totals = {name: total + new[name] for name, total in totals.items()}
        source.send(reduce_profile=v1.ReduceProfile(
            attempt=reduce_task, last_group_finished_at=time.time_ns(), **totals,
            bin_indexes=[int(6 * math.log2(size))], bin_counts=[1], bin_bytes=[size],
            bin_seconds=[spent], bin_seconds_squared=[spent**2]))
    source.send(attempt_changed=v1.AttemptChanged(attempt=reduce_task, state=v1.ATTEMPT_STATE_FINISHED))
    source.send(job_closed=v1.JobClosed(outcome=v1.JOB_OUTCOME_SUCCEEDED))
    source.wait()


main(*sys.argv[1:])
