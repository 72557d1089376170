// The tables of a master that serves workflows, for tests of the workflows.
#pragma once

#include "master/service/workflow_table.h"
#include "proto/wire/encode_event.h"
#include "tests/facts/events.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::test {

// The tables, and a directory that outlives them.
class WorkflowTables : public ::testing::Test {
 protected:
  // Starts as after `kill -9`, so only durable data exist.
  void StartTables(double seconds, service::JobTableOptions of_jobs,
                   const service::WorkflowTableOptions& of_workflows) {
    Stop();
    hub_ = std::make_unique<service::JobHub>("master", 10);
    of_jobs.data_dir = directory_.path();
    of_jobs.disk = store::MakeFileDisk(/*sync=*/false);
    of_jobs.hub = hub_.get();
    jobs_ = std::make_unique<service::JobTable>(std::move(of_jobs));
    ASSERT_TRUE(jobs_->Recover(At(seconds), 1).ok());
    workflows_ = std::make_unique<service::WorkflowTable>(of_workflows, *jobs_);
    recovery_ = workflows_->Recover(At(seconds)).value();
  }
  void Stop() {
    workflows_.reset();
    jobs_.reset();
  }

  void Report(Source& source, double seconds, EventBody body, const service::Sender& sender = {}) {
    const service::IngestResult taken =
        jobs_->Ingest(wire::EncodeEvent(source.At(seconds, std::move(body))), At(seconds), sender);
    ASSERT_TRUE(taken.status.ok()) << taken.status;
  }
  void TickJobs(double seconds) {
    for (const auto& job : jobs_->TickDue(At(seconds))) workflows_->Observe(job.newest);
  }
  bool IsKnown(const std::string& id) const { return hub_->Find(id).ok(); }
  Snapshot Newest(const std::string& id) const {
    const auto job = hub_->Find(id);
    EXPECT_TRUE(job.ok()) << job.status();
    return job.ok() ? *job->newest : Snapshot{};
  }

  const ScratchDirectory directory_;
  std::unique_ptr<service::JobHub> hub_;
  std::unique_ptr<service::JobTable> jobs_;
  std::unique_ptr<service::WorkflowTable> workflows_;
  service::Recovery recovery_;
};

}  // namespace tidemark::test
