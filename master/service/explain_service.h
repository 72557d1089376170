// ExplainService, which reports the waits of a master's jobs. A separate thread computes answers, a
// few per caller at a time, so that neither ticks nor other calls wait for them.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "master/forecast/dag/application_forecast.h"
#include "master/service/job_stream.h"
#include "master/service/job_table.h"
#include "master/service/live_waits.h"
#include "master/waits/cluster_waits.h"
#include "tidemark/contention.h"
#include "tidemark/explanation.h"
#include "tidemark/job.h"
#include "tidemark/v1/explain_service.grpc.pb.h"

namespace tidemark::service {

// Merges hidden contending queries into one entry per resource and host, with their number. A query
// is hidden if `may_read` rejects its job or if its job is no longer tracked. Then keeps the
// `culprits_max` worst contending queries of each query. The job itself is always visible. Pure.
void HideContendingQueries(const std::function<bool(const std::string& job_id)>& may_read,
                           std::size_t culprits_max, Explanation& explanation);

// Returns the visible contending queries of other jobs. Pure.
std::set<waits::QueryName> NamedContendingQueries(const Explanation& explanation);

// Limits the time saved to the upper bound of the contending job's remaining time. Pure.
dag::SecondsRange WithinTimeLeft(const dag::SecondsRange& sooner, const Snapshot& culprit);

// Sets the time saved in each entry of `query`. Pure.
void SetSooner(const waits::QueryName& query, const dag::SecondsRange& sooner,
               Explanation& explanation);

class ExplainService final : public v1::ExplainService::CallbackService {
 public:
  // All arguments must outlive the service.
  ExplainService(const Publishing& publishing, LiveWaits& waits, const JobTable& jobs)
      : publishing_(publishing), waits_(waits), jobs_(jobs), started_at_(publishing.clock.Now()) {}

  grpc::ServerUnaryReactor* ExplainJob(grpc::CallbackServerContext* context,
                                       const v1::ExplainJobRequest* request,
                                       v1::ExplainJobResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchExplanationResponse>* WatchExplanation(
      grpc::CallbackServerContext* context, const v1::WatchExplanationRequest* request) override;
  grpc::ServerUnaryReactor* ExplainCluster(grpc::CallbackServerContext* context,
                                           const v1::ExplainClusterRequest* request,
                                           v1::ExplainClusterResponse* response) override;

 private:
  class Stream;
  // Waits of a job that ended before the master started, read from the logs. Null if they are not
  // needed or have not been read.
  using PastOfJob = std::shared_ptr<const PastWaits>;

  // Returns the part of the answer that `caller` may read. Sets `past` if the answer needs it.
  Explanation Answer(const std::string& job_id, const ExplainQuestion& question,
                     const Caller& caller, PastOfJob& past) const;
  // Returns null if there are no logs of the ended job.
  PastOfJob ReadPast(const std::string& job_id) const;
  // Fails with NotFound if the question names a query or a host that has no tasks.
  absl::StatusOr<ClusterContention> Contend(const ContentionQuestion& question,
                                            const Caller& caller) const;
  std::optional<Explanation> AnswerFromLogs(const std::string& job_id,
                                            const ExplainQuestion& question, PastOfJob& past) const;
  // For each of the worst visible contending queries of other jobs, adds the time by which the job
  // would end, or would have ended, sooner without that query.
  void AddSooner(const ExplainQuestion& question, const PastOfJob& past,
                 Explanation& explanation) const;
  // Implements AddSooner() for a running job.
  void AddSoonerFromNowOn(const std::set<waits::QueryName>& named, const ExplainQuestion& question,
                          Explanation& explanation) const;

  const Publishing publishing_;
  LiveWaits& waits_;
  const JobTable& jobs_;
  const absl::Time started_at_;
  transport::TurnQueue queue_{1, 0, kEstimateLimits};
};

}  // namespace tidemark::service
