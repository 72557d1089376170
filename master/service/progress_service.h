// ProgressService over a JobTable and a WatchHub.
#pragma once

#include "master/service/gate.h"
#include "master/service/job_table.h"
#include "master/service/metrics.h"
#include "master/service/watch_hub.h"
#include "tidemark/v1/progress_service.grpc.pb.h"

namespace tidemark::service {

class ProgressService final : public v1::ProgressService::CallbackService {
 public:
  // All outlive the service.
  ProgressService(JobTable& jobs, WatchHub& hub, Gate& gate, Metrics& metrics)
      : jobs_(jobs), hub_(hub), gate_(gate), metrics_(metrics) {}

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchJobResponse>* WatchJob(
      grpc::CallbackServerContext* context, const v1::WatchJobRequest* request) override;

 private:
  absl::Status MayRead(absl::StatusOr<Gate::AdmittedCall>& call, const std::string& job_id,
                       const std::string& peer);

  JobTable& jobs_;
  WatchHub& hub_;
  Gate& gate_;
  Metrics& metrics_;
};

}  // namespace tidemark::service
