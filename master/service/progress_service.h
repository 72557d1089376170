// ProgressService over a JobTable and a WatchHub.
#pragma once

#include "master/service/job_table.h"
#include "master/service/watch_hub.h"
#include "tidemark/v1/progress_service.grpc.pb.h"

namespace tidemark::service {

class ProgressService final : public v1::ProgressService::CallbackService {
 public:
  // Both outlive the service.
  ProgressService(JobTable& jobs, WatchHub& hub) : jobs_(jobs), hub_(hub) {}

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchJobResponse>* WatchJob(
      grpc::CallbackServerContext* context, const v1::WatchJobRequest* request) override;

 private:
  JobTable& jobs_;
  WatchHub& hub_;
};

}  // namespace tidemark::service
