// ExplainService over what the jobs of a master wait for. Answers are made on a thread of their
// own, a few of each caller at a time, so that neither ticks nor other calls wait for them.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "master/service/estimate_queue.h"
#include "master/service/job_stream.h"
#include "master/service/job_table.h"
#include "master/service/live_waits.h"
#include "master/service/past_waits.h"
#include "tidemark/v1/explain_service.grpc.pb.h"

namespace tidemark::service {

class ExplainService final : public v1::ExplainService::CallbackService {
 public:
  // All outlive the service.
  ExplainService(const Publishing& publishing, LiveWaits& waits, const JobTable& jobs)
      : publishing_(publishing), waits_(waits), jobs_(jobs), started_at_(publishing.clock.Now()) {}

  grpc::ServerUnaryReactor* ExplainJob(grpc::CallbackServerContext* context,
                                       const v1::ExplainJobRequest* request,
                                       v1::ExplainJobResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchExplanationResponse>* WatchExplanation(
      grpc::CallbackServerContext* context, const v1::WatchExplanationRequest* request) override;

 private:
  class Stream;
  // The waits of a job that ended before the master started, from the logs. Null if they are not
  // needed or not read yet.
  using PastOfJob = std::shared_ptr<const PastWaits>;

  // Returns what `caller` may see of the answer. Sets `past` if the answer needs it.
  Explanation Answer(const std::string& job_id, const ExplainQuestion& question,
                     const Caller& caller, PastOfJob& past) const;
  std::optional<Explanation> AnswerFromLogs(const std::string& job_id,
                                            const ExplainQuestion& question, PastOfJob& past) const;
  // Adds to the worst contending queries of other jobs, if their names are visible, how much sooner
  // the job would end, or would have ended, without them.
  void AddSooner(const ExplainQuestion& question, const PastOfJob& past,
                 Explanation& explanation) const;
  // While the job runs.
  void AddSoonerFromNowOn(const std::set<blame::QueryName>& named, const ExplainQuestion& question,
                          Explanation& explanation) const;

  const Publishing publishing_;
  LiveWaits& waits_;
  const JobTable& jobs_;
  const absl::Time started_at_;
  EstimateQueue queue_;
};

}  // namespace tidemark::service
