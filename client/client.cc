#include "tidemark/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/time/clock.h"
#include "client/follower.h"
#include "proto/wire/explain_codec.h"
#include "proto/wire/job_codec.h"
#include "proto/wire/message_time.h"
#include "proto/wire/plan_codec.h"
#include "proto/wire/snapshot_delta.h"
#include "proto/wire/task_codec.h"
#include "tidemark/v1/explain_service.grpc.pb.h"
#include "tidemark/v1/job_service.grpc.pb.h"
#include "transport/channel.h"

namespace tidemark {
namespace {

using Stub = v1::JobService::Stub;
using ExplainStub = v1::ExplainService::Stub;

// Longer timeouts might overflow a time_point.
constexpr absl::Duration kLongest = absl::Hours(24 * 365);
constexpr std::uint32_t kPageSize = 1000;  // the largest page size of ListJobsRequest

v1::View ToMessage(View view) { return static_cast<v1::View>(view); }

template <typename Request>
void SetInterval(absl::Duration interval, Request& request) {
  if (interval <= absl::ZeroDuration()) return;
  tidemark::wire::EncodeDuration(interval, *request.mutable_interval_min());
}

// Returns the ID of the job or workflow that the request names, or an empty string if the request
// names no job.
template <typename Request>
std::string JobOf(const Request& request) {
  std::string id;
  if constexpr (requires { request.question().job_id(); }) id = request.question().job_id();
  if constexpr (requires { request.job_id(); }) id = request.job_id();
  if constexpr (requires { request.plan().id(); }) {
    if (id.empty()) id = request.plan().id();
  }
  return id;
}

}  // namespace

class Client::Impl {
 public:
  Impl(ClientOptions options, const std::shared_ptr<grpc::Channel>& channel)
      : options_(std::move(options)),
        stub_(v1::JobService::NewStub(channel)),
        explain_stub_(v1::ExplainService::NewStub(channel)) {}

  const std::string& address() const { return options_.address; }
  // Returns the deadline of a call that begins now.
  absl::Time Deadline() const { return absl::Now() + options_.answer_within; }

  template <typename OfService, typename Request, typename Response>
  absl::StatusOr<Response> Ask(grpc::Status (OfService::*call)(grpc::ClientContext*, const Request&,
                                                               Response*),
                               const Request& request, const std::stop_token& stop = {},
                               absl::Time deadline = absl::InfiniteFuture()) const {
    grpc::ClientContext context;
    if (absl::Status known = Introduce(request, context); !known.ok()) return known;
    const absl::Duration within =
        std::min({options_.answer_within, deadline - absl::Now(), kLongest});
    context.set_deadline(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(within));
    const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
    Response response;
    absl::Status status =
        client::FromGrpc((StubOf<OfService>().*call)(&context, request, &response));
    if (status.ok()) return response;
    if (!absl::IsCancelled(status) || stop.stop_requested()) return status;
    // A proxy or the master cancelled the call.
    return absl::UnavailableError("the call was cancelled");
  }

  // Reads a stream until the stream ends or `take` returns an error. Returns the error of `take`,
  // or the status of the stream.
  template <typename OfService, typename Request, typename Response, typename Take>
  absl::Status Read(std::unique_ptr<grpc::ClientReader<Response>> (OfService::*call)(
                        grpc::ClientContext*, const Request&),
                    const Request& request, const std::stop_token& stop, Take take) const {
    grpc::ClientContext context;
    if (absl::Status known = Introduce(request, context); !known.ok()) return known;
    const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
    const auto stream = (StubOf<OfService>().*call)(&context, request);
    absl::Status broken;
    Response response;
    while (broken.ok() && stream->Read(&response)) broken = take(response);
    if (!broken.ok()) context.TryCancel();
    const grpc::Status status = stream->Finish();
    return broken.ok() ? client::FromGrpc(status) : broken;
  }

  // Lists tasks. `selects` is the field of the request that selects them.
  absl::StatusOr<JobTasks> ListTasks(void (v1::ListTasksRequest::*selects)(bool),
                                     const std::string& job_id, std::uint32_t most,
                                     const std::stop_token& stop) const {
    v1::ListTasksRequest request;
    request.set_job_id(job_id);
    request.set_task_count_max(most);
    (request.*selects)(true);
    const auto response = Ask(&Stub::ListTasks, request, stop);
    if (!response.ok()) return response.status();
    return wire::ParseTasks(*response);
  }

  absl::StatusOr<std::vector<Outcome>> Estimate(v1::EstimateJobRequest& request,
                                                const std::vector<Scenario>& scenarios) const {
    for (const Scenario& scenario : scenarios) {
      wire::EncodeScenario(scenario, *request.add_scenarios());
    }
    const auto response = Ask(&Stub::EstimateJob, request);
    if (!response.ok()) return response.status();
    std::vector<Outcome> outcomes;
    for (const v1::Outcome& message : response->outcomes()) {
      absl::StatusOr<Snapshot> snapshot = wire::ParseSnapshot(message.snapshot());
      if (!snapshot.ok()) return snapshot.status();
      outcomes.push_back({.snapshot = *std::move(snapshot),
                          .slots = message.slots(),
                          .executors = message.executors()});
      const double busy = message.busy_share();
      if (message.has_busy_share() && busy >= 0) outcomes.back().busy_share = std::min(busy, 1.0);
      for (const v1::PlanState& sent : message.states()) {
        absl::StatusOr<PlanState> state = wire::ParsePlanState(sent);
        if (!state.ok()) return state.status();
        outcomes.back().states.push_back(*std::move(state));
      }
      if (message.has_skew_gain()) {
        const v1::SkewGain& gain = message.skew_gain();
        const auto lower = wire::ParseDuration(gain.lower(), "skew_gain.lower");
        const auto upper = wire::ParseDuration(gain.upper(), "skew_gain.upper");
        if (!lower.ok()) return lower.status();
        if (!upper.ok()) return upper.status();
        outcomes.back().skew_gain = SkewGain{gain.stage(), *lower, *upper};
      }
    }
    return outcomes;
  }

 private:
  // Adds the request's job ID and the caller's token to the call's metadata.
  template <typename Request>
  absl::Status Introduce(const Request& request, grpc::ClientContext& context) const {
    transport::AddJob(JobOf(request), context);
    return transport::AddToken(options_.address, options_.security, context);
  }

  template <typename OfService>
  OfService& StubOf() const {
    if constexpr (std::is_same_v<OfService, ExplainStub>) {
      return *explain_stub_;
    } else {
      return *stub_;
    }
  }

  const ClientOptions options_;
  const std::unique_ptr<Stub> stub_;
  const std::unique_ptr<ExplainStub> explain_stub_;
};

absl::StatusOr<std::unique_ptr<Client>> Client::Create(ClientOptions options) {
  const auto channel = client::MasterChannel(options.address, options.security);
  if (!channel.ok()) return channel.status();
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(std::move(options), *channel)));
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

const std::string& Client::address() const { return impl_->address(); }

absl::StatusOr<Snapshot> Client::GetJob(const std::string& job_id, View view,
                                        std::stop_token stop) const {
  v1::GetJobRequest request;
  request.set_job_id(job_id);
  request.set_view(ToMessage(view));
  const auto response = impl_->Ask(&Stub::GetJob, request, stop);
  if (!response.ok()) return response.status();
  return wire::ParseSnapshot(response->snapshot());
}

absl::StatusOr<std::vector<Snapshot>> Client::ListJobs(const JobFilter& filter, View view,
                                                       std::stop_token stop) const {
  std::vector<Snapshot> jobs;
  v1::ListJobsRequest request;
  wire::EncodeJobFilter(filter, *request.mutable_filter());
  request.set_view(ToMessage(view));
  request.set_page_size(kPageSize);
  const absl::Time deadline = impl_->Deadline();
  do {
    const auto response = impl_->Ask(&Stub::ListJobs, request, stop, deadline);
    if (!response.ok()) return response.status();
    for (const v1::Snapshot& message : response->snapshots()) {
      absl::StatusOr<Snapshot> snapshot = wire::ParseSnapshot(message);
      if (!snapshot.ok()) return snapshot.status();
      jobs.push_back(*std::move(snapshot));
    }
    if (!request.page_token().empty() && response->next_page_token() == request.page_token()) {
      return absl::InternalError("the master returned the same page token twice");
    }
    request.set_page_token(response->next_page_token());
  } while (!request.page_token().empty());
  return jobs;
}

absl::StatusOr<Snapshot> Client::WatchJob(const std::string& job_id, const WatchOptions& options,
                                          const WatchCalls& calls, std::stop_token stop) const {
  v1::WatchJobRequest request;
  request.set_job_id(job_id);
  request.set_run_uid(options.run_uid);
  request.set_view(ToMessage(options.view));
  SetInterval(options.interval_min, request);
  request.set_deltas(true);
  request.set_wait_for_job(options.is_to_come);
  wire::JobReader reader;
  std::optional<Snapshot> final;
  client::Follower follower(address(), options, calls.on_trouble);
  const auto take = [&](const v1::WatchJobResponse& response) -> absl::Status {
    absl::StatusOr<Snapshot> snapshot = reader.Take(response);
    if (!snapshot.ok()) return snapshot.status();
    // The job existed, so a master without the job has lost it.
    request.set_wait_for_job(false);
    const bool is_wanted = follower.OnResponse([&] { return calls.on_snapshot(*snapshot); });
    if (snapshot->is_final) final = *std::move(snapshot);
    // The stream may stay open long after the final snapshot.
    return is_wanted && !final ? absl::OkStatus() : absl::CancelledError("cancelled by the caller");
  };
  const auto read_stream = [&]() -> absl::Status {
    request.set_resume_token(reader.resume_token());
    const absl::Status status = impl_->Read(&Stub::WatchJob, request, stop, take);
    if (final) return absl::OkStatus();
    return status.ok() ? absl::UnavailableError("the master ended the stream") : status;
  };
  if (absl::Status status = follower.Follow(read_stream, stop); !status.ok()) return status;
  return *std::move(final);
}

absl::Status Client::WatchJobs(const JobFilter& filter, const WatchOptions& options,
                               const WatchListCalls& calls, std::stop_token stop) const {
  v1::WatchJobsRequest request;
  wire::EncodeJobFilter(filter, *request.mutable_filter());
  request.set_view(ToMessage(options.view));
  SetInterval(options.interval_min, request);
  wire::JobListReader reader;
  client::Follower follower(address(), options, calls.on_trouble);
  const auto take = [&](const v1::WatchJobsResponse& response) -> absl::Status {
    const bool was_synced = reader.is_synced();
    if (absl::Status taken = reader.Take(response); !taken.ok()) return taken;
    const bool is_news = !was_synced || response.restarted() || !response.snapshots().empty() ||
                         !response.removed_job_ids().empty();
    const bool is_wanted = follower.OnResponse(
        [&] { return !is_news || !reader.is_synced() || calls.on_jobs(reader.jobs()); });
    return is_wanted ? absl::OkStatus() : absl::CancelledError("cancelled by the caller");
  };
  return follower.Follow(
      [&] {
        request.set_resume_token(reader.resume_token());
        const absl::Status status = impl_->Read(&Stub::WatchJobs, request, stop, take);
        return status.ok() ? absl::UnavailableError("the master ended the stream") : status;
      },
      stop);
}

absl::Status Client::SubmitJob(const Plan& plan) const {
  v1::SubmitJobRequest request;
  wire::EncodePlan(plan, *request.mutable_plan());
  return impl_->Ask(&Stub::SubmitJob, request).status();
}

absl::Status Client::AttachJob(const std::string& job_id, const std::string& child_name,
                               const std::string& child_job_id) const {
  v1::AttachJobRequest request;
  request.set_job_id(job_id);
  request.set_child_name(child_name);
  request.set_child_job_id(child_job_id);
  return impl_->Ask(&Stub::AttachJob, request).status();
}

absl::Status Client::UpdateJob(const std::string& job_id, const PlanChange& change) const {
  v1::UpdateJobRequest request;
  request.set_job_id(job_id);
  v1::Plan added;
  wire::EncodePlan({.jobs = change.add_jobs}, added);
  request.mutable_add_jobs()->Swap(added.mutable_jobs());
  request.mutable_cancel_jobs()->Assign(change.cancel_jobs.begin(), change.cancel_jobs.end());
  request.set_cancel(change.cancel);
  request.set_close(change.close);
  return impl_->Ask(&Stub::UpdateJob, request).status();
}

absl::Status Client::SetDeadline(const std::string& job_id, absl::Time at) const {
  v1::SetDeadlineRequest request;
  request.set_job_id(job_id);
  wire::EncodeTime(at, *request.mutable_deadline_at());
  return impl_->Ask(&Stub::SetDeadline, request).status();
}

absl::Status Client::ForgetJob(const std::string& job_id) const {
  v1::ForgetJobRequest request;
  request.set_job_id(job_id);
  return impl_->Ask(&Stub::ForgetJob, request).status();
}

absl::StatusOr<std::vector<Outcome>> Client::EstimateJob(
    const std::string& job_id, const std::vector<Scenario>& scenarios) const {
  v1::EstimateJobRequest request;
  request.set_job_id(job_id);
  return impl_->Estimate(request, scenarios);
}

absl::StatusOr<std::vector<Outcome>> Client::EstimatePlan(
    const Plan& plan, const std::vector<Scenario>& scenarios) const {
  v1::EstimateJobRequest request;
  wire::EncodePlan(plan, *request.mutable_plan());
  return impl_->Estimate(request, scenarios);
}

absl::StatusOr<JobTasks> Client::ListRunningTasks(const std::string& job_id, std::uint32_t most,
                                                  std::stop_token stop) const {
  return impl_->ListTasks(&v1::ListTasksRequest::set_running_only, job_id, most, stop);
}

absl::StatusOr<JobTasks> Client::ListLongestTasks(const std::string& job_id, std::uint32_t most,
                                                  std::stop_token stop) const {
  return impl_->ListTasks(&v1::ListTasksRequest::set_longest_first, job_id, most, stop);
}

absl::StatusOr<Explanation> Client::ExplainJob(const std::string& job_id,
                                               const ExplainQuestion& question,
                                               std::stop_token stop) const {
  v1::ExplainJobRequest request;
  wire::EncodeQuestion(job_id, question, *request.mutable_question());
  const auto response = impl_->Ask(&ExplainStub::ExplainJob, request, stop);
  if (!response.ok()) return response.status();
  return wire::ParseExplanation(response->explanation());
}

absl::StatusOr<ClusterContention> Client::ExplainCluster(const ContentionQuestion& question,
                                                         std::stop_token stop) const {
  v1::ExplainClusterRequest request;
  wire::EncodeContentionQuestion(question, *request.mutable_question());
  const auto response = impl_->Ask(&ExplainStub::ExplainCluster, request, stop);
  if (!response.ok()) return response.status();
  return wire::ParseContention(response->contention());
}

absl::Status Client::WatchExplanation(const std::string& job_id, const ExplainQuestion& question,
                                      absl::Duration interval_min,
                                      const std::function<bool(const Explanation&)>& on_explanation,
                                      std::stop_token stop) const {
  v1::WatchExplanationRequest request;
  wire::EncodeQuestion(job_id, question, *request.mutable_question());
  SetInterval(interval_min, request);
  return impl_->Read(&ExplainStub::WatchExplanation, request, stop,
                     [&](const v1::WatchExplanationResponse& response) -> absl::Status {
                       const auto explanation = wire::ParseExplanation(response.explanation());
                       if (!explanation.ok()) return explanation.status();
                       if (on_explanation(*explanation)) return absl::OkStatus();
                       return absl::CancelledError("cancelled by the caller");
                     });
}

absl::StatusOr<ServerInfo> Client::GetServerInfo() const {
  const auto response = impl_->Ask(&Stub::GetServerInfo, v1::GetServerInfoRequest());
  if (!response.ok()) return response.status();
  return ServerInfo{response->version(),
                    response->instance(),
                    {response->features().begin(), response->features().end()}};
}

}  // namespace tidemark
