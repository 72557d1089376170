#include "master/service/job_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "master/service/answer_when_durable.h"
#include "master/service/grpc_status.h"
#include "master/service/plan_snapshot.h"
#include "master/store/name_space.h"
#include "proto/wire/field_error.h"
#include "proto/wire/job_codec.h"
#include "proto/wire/job_request.h"
#include "proto/wire/plan_codec.h"

namespace tidemark::next::service {

namespace store = tidemark::store;

namespace {

using tidemark::service::AnswerWhenDurable;
using tidemark::service::HostOfPeer;
using tidemark::service::Right;
using tidemark::service::Sender;
using tidemark::service::ThreadCpuTime;
using tidemark::service::ToGrpc;

constexpr std::size_t kPageSize = 100;
constexpr std::size_t kPageSizeMax = 1000;
constexpr int kScenariosMax = 100;

// A page ends with a job and the next begins behind it, wherever that is by then: a token names the
// job, not a position.
std::string PageToken(const PublishedJob& last) {
  return fmt::format("{}/{}", last.run, last.newest->job_id);
}

absl::StatusOr<JobHub::Place> ParsePageToken(const std::string& token) {
  JobHub::Place place;
  if (token.empty()) return place;
  const char* const last = token.data() + token.size();
  const auto [end, error] = std::from_chars(token.data(), last, place.run);
  if (error != std::errc() || end == last || *end != '/') {
    return wire::FieldError("page_token", "not one of this service; start without one");
  }
  place.job_id.assign(end + 1, last);
  return place;
}

// Whoever may watch a plan sees its jobs, so whoever changes it must be allowed to report them.
template <typename Jobs>
std::vector<std::string> IdsOf(const std::string& plan, const Jobs& jobs) {
  std::vector<std::string> ids = {plan};
  for (const v1::PlannedJob& job : jobs) {
    if (!job.job_id().empty()) ids.push_back(job.job_id());
  }
  return ids;
}

grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext& context, const absl::Status& status) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  reactor->Finish(ToGrpc(status));
  return reactor;
}

}  // namespace

absl::StatusOr<JobService::AdmittedCall> JobService::Ask(const grpc::CallbackServerContext& context,
                                                         Right right,
                                                         const std::vector<std::string>& ids) {
  absl::StatusOr<AdmittedCall> call = publishing_.gate.Ask(context);
  if (!call.ok()) return call;
  for (const std::string& id : ids) {
    if (absl::Status allowed = call->caller.Check(right, id); !allowed.ok()) {
      return publishing_.gate.Refuse(std::move(allowed), context.peer());
    }
  }
  return call;
}

absl::Status JobService::Get(const grpc::CallbackServerContext& context,
                             const v1::GetJobRequest& untrusted, v1::GetJobResponse& response) {
  const absl::StatusOr<AdmittedCall> call = Ask(context, Right::kRead, {untrusted.job_id()});
  if (!call.ok()) return call.status();
  const absl::StatusOr<View> view = wire::ParseView(untrusted.view(), View::kFull);
  if (!view.ok()) return view.status();
  const absl::StatusOr<PublishedJob> job = publishing_.hub.Find(untrusted.job_id());
  if (!job.ok()) return job.status();
  const Snapshot& newest = *job->newest;
  if (!untrusted.run_uid().empty() && newest.run_uid != untrusted.run_uid()) {
    return absl::NotFoundError(
        fmt::format("no run {} of job {}", untrusted.run_uid(), newest.job_id));
  }
  wire::EncodeSnapshot(wire::WithView(newest, *view), *response.mutable_snapshot());
  return absl::OkStatus();
}

absl::Status JobService::List(const grpc::CallbackServerContext& context,
                              const v1::ListJobsRequest& untrusted,
                              v1::ListJobsResponse& response) {
  const absl::StatusOr<AdmittedCall> call = Ask(context, Right::kRead, {});
  if (!call.ok()) return call.status();
  const absl::StatusOr<JobHub::Place> before = ParsePageToken(untrusted.page_token());
  if (!before.ok()) return before.status();
  const absl::StatusOr<JobFilter> filter = wire::ParseJobFilter(untrusted.filter());
  if (!filter.ok()) return wire::FieldErrorWithin("filter", filter.status());
  const absl::StatusOr<View> view = wire::ParseView(untrusted.view(), View::kBasic);
  if (!view.ok()) return view.status();
  const std::size_t page_size = untrusted.page_size() == 0
                                    ? kPageSize
                                    : std::min<std::size_t>(untrusted.page_size(), kPageSizeMax);
  const auto shows = [&](const Snapshot& newest) {
    return call->caller.MayRead(newest.job_id) && wire::Matches(*filter, newest);
  };
  // One more, to know whether another page follows.
  const std::vector<PublishedJob> jobs = publishing_.hub.List(*before, shows, page_size + 1);
  std::size_t end = 0;
  for (std::size_t bytes = 0; end < std::min(page_size, jobs.size()) && bytes < kResponseBytes;) {
    v1::Snapshot& added = *response.add_snapshots();
    wire::EncodeSnapshot(wire::WithView(*jobs[end++].newest, *view), added);
    bytes += added.ByteSizeLong();
  }
  if (end < jobs.size()) response.set_next_page_token(PageToken(jobs[end - 1]));
  return absl::OkStatus();
}

absl::StatusOr<JobService::Mark> JobService::Submit(const grpc::CallbackServerContext& context,
                                                    const v1::Plan& untrusted) {
  const absl::StatusOr<AdmittedCall> call =
      Ask(context, Right::kReport, IdsOf(untrusted.id(), untrusted.jobs()));
  if (!call.ok()) return call.status();
  if (absl::Status id = wire::CheckId("plan.id", untrusted.id()); !id.ok()) return id;
  const absl::StatusOr<Plan> plan = wire::ParsePlan(untrusted);
  if (!plan.ok()) return wire::FieldErrorWithin("plan", plan.status());
  const absl::StatusOr<WorkflowSpec> workflow = AsWorkflow(*plan);
  if (!workflow.ok()) return wire::FieldErrorWithin("plan", workflow.status());
  const Sender sender = {.name_space = call->caller.NameSpaceOf(Right::kReport),
                         .reporter = call->caller.ReporterAt(HostOfPeer(context.peer()))};
  auto taken = plans_.Submit(*workflow, sender, publishing_.clock.Now());
  if (absl::IsResourceExhausted(taken.status())) {
    return publishing_.gate.Refuse(taken.status(), context.peer());
  }
  return taken;
}

absl::StatusOr<JobService::Mark> JobService::Attach(const grpc::CallbackServerContext& context,
                                                    const v1::AttachJobRequest& untrusted) {
  const absl::StatusOr<AdmittedCall> call =
      Ask(context, Right::kReport, {untrusted.job_id(), untrusted.child_job_id()});
  if (!call.ok()) return call.status();
  if (absl::Status id = wire::CheckId("child_job_id", untrusted.child_job_id()); !id.ok())
    return id;
  return plans_.Attach(untrusted.job_id(), untrusted.child_name(), untrusted.child_job_id(),
                       publishing_.clock.Now());
}

absl::StatusOr<JobService::Mark> JobService::Update(const grpc::CallbackServerContext& context,
                                                    const v1::UpdateJobRequest& untrusted) {
  const absl::StatusOr<AdmittedCall> call =
      Ask(context, Right::kReport, IdsOf(untrusted.job_id(), untrusted.add_jobs()));
  if (!call.ok()) return call.status();
  v1::Plan part;
  *part.mutable_jobs() = untrusted.add_jobs();
  const absl::StatusOr<Plan> plan = wire::ParsePartOfPlan(part);
  const auto in_request = [](const absl::Status& status) {  // jobs[0] is add_jobs[0] there
    const auto [path, description] = wire::WrongFieldOf(status);
    return path.empty() ? status : wire::FieldError("add_" + path, description);
  };
  if (!plan.ok()) return in_request(plan.status());
  const absl::StatusOr<WorkflowSpec> added = AsWorkflow(*plan);
  if (!added.ok()) return in_request(added.status());
  const workflow::Change change = {
      .add = added->jobs,
      .cancel = {untrusted.cancel_jobs().begin(), untrusted.cancel_jobs().end()},
      .cancel_all = untrusted.cancel()};
  auto changed = plans_.Update(untrusted.job_id(), change, publishing_.clock.Now());
  if (!absl::IsInvalidArgument(changed.status())) return changed;
  const std::string message(changed.status().message());
  const std::size_t colon = message.find(": ");
  return wire::FieldError(message.substr(0, colon), message.substr(colon + 2));
}

absl::StatusOr<JobService::Mark> JobService::Forget(const grpc::CallbackServerContext& context,
                                                    const v1::ForgetJobRequest& untrusted) {
  const absl::StatusOr<AdmittedCall> call = Ask(context, Right::kReport, {untrusted.job_id()});
  if (!call.ok()) return call.status();
  if (absl::Status id = wire::CheckId("job_id", untrusted.job_id()); !id.ok()) return id;
  if (const absl::Status forgotten = plans_.Forget(untrusted.job_id(), untrusted.run_uid());
      !forgotten.ok()) {
    return forgotten;
  }
  if (const absl::Status forgotten = jobs_.Forget(untrusted.job_id(), untrusted.run_uid());
      !forgotten.ok()) {
    return forgotten;
  }
  // Files are removed before what is appended now is durable.
  return Mark(jobs_.journal().Append(nullptr, ""));
}

absl::StatusOr<workflow::LiveWorkflow> JobService::Imagine(const v1::Plan& untrusted,
                                                           const std::string& name_space,
                                                           absl::Time now) const {
  absl::StatusOr<Plan> plan = wire::ParsePlan(untrusted);
  if (!plan.ok()) return wire::FieldErrorWithin("plan", plan.status());
  if (plan->id.empty()) plan->id = store::AnIdWithin(name_space);
  if (plan->id.empty()) plan->id = "plan";
  const absl::StatusOr<WorkflowSpec> workflow = AsWorkflow(*plan);
  if (!workflow.ok()) return wire::FieldErrorWithin("plan", workflow.status());
  return plans_.Imagine(*workflow, name_space, now);
}

// The same for each scenario, none of which may change anything.
absl::Status JobService::EstimateAsItIs(Snapshot newest, const std::vector<Scenario>& scenarios,
                                        v1::EstimateJobResponse& response) {
  const bool is_plan = newest.info && newest.info->kind == JobKind::kWorkflow;
  newest.sequence = 0;
  for (const Scenario& scenario : scenarios) {
    if (scenario != Scenario() && is_plan) {
      return absl::FailedPreconditionError(
          fmt::format("plan {} has ended: nothing of it can be otherwise; ask without scenarios",
                      newest.job_id));
    }
    if (scenario != Scenario()) {
      return wire::FieldError("scenarios",
                              "must be empty: a job that is no plan has no slots of its own; ask "
                              "about the plan that it is part of");
    }
    wire::EncodeSnapshot(newest, *response.add_outcomes()->mutable_snapshot());
  }
  return absl::OkStatus();
}

absl::Status JobService::Estimate(const v1::EstimateJobRequest& untrusted,
                                  const std::string& name_space,
                                  const std::function<bool()>& is_cancelled,
                                  v1::EstimateJobResponse& response) const {
  std::vector<Scenario> scenarios(untrusted.scenarios().empty() ? 1 : 0);
  for (int i = 0; i < untrusted.scenarios_size(); ++i) {
    const absl::StatusOr<Scenario> scenario = wire::ParseScenario(untrusted.scenarios(i));
    if (!scenario.ok()) {
      return wire::FieldErrorWithin(fmt::format("scenarios[{}]", i), scenario.status());
    }
    scenarios.push_back(*scenario);
  }
  // One baseline for all scenarios.
  const absl::Time now = publishing_.clock.Now();
  std::shared_ptr<const Snapshot> before;
  absl::StatusOr<workflow::LiveWorkflow> plan = absl::UnknownError("not asked for");
  if (untrusted.has_plan()) {
    plan = Imagine(untrusted.plan(), name_space, now);
  } else {
    const absl::StatusOr<PublishedJob> job = publishing_.hub.Find(untrusted.job_id());
    if (!job.ok()) return job.status();
    before = job->newest;
    if (before->is_final || !before->info || before->info->kind != JobKind::kWorkflow) {
      return EstimateAsItIs(*before, scenarios, response);
    }
    plan = plans_.Copy(untrusted.job_id());
  }
  if (!plan.ok()) return plan.status();
  const JobOf job_of = [this](const std::string& id) { return jobs_.Newest(id); };
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (is_cancelled()) return absl::CancelledError();
    const auto would_be = plan->Estimate(now, AsWhatIf(scenarios[i]));
    if (absl::IsInvalidArgument(would_be.status())) {
      return wire::FieldError(
          fmt::format("scenarios[{}]{}", i, scenarios[i].policy ? ".policy" : ""),
          std::string(would_be.status().message()));
    }
    if (!would_be.ok()) return would_be.status();
    // A plan that is only described has none of its jobs yet, whatever they are doing elsewhere.
    Snapshot snapshot = PlanSnapshot(*would_be, before ? job_of : JobOf(), before.get());
    snapshot.sequence = 0;
    if (untrusted.has_plan()) snapshot.job_id = untrusted.plan().id();
    v1::Outcome& outcome = *response.add_outcomes();
    wire::EncodeSnapshot(snapshot, *outcome.mutable_snapshot());
    outcome.set_busy_share(would_be->busy_share);
  }
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* JobService::GetJob(grpc::CallbackServerContext* context,
                                             const v1::GetJobRequest* request,
                                             v1::GetJobResponse* response) {
  return Answer(*context, Get(*context, *request, *response));
}

grpc::ServerUnaryReactor* JobService::ListJobs(grpc::CallbackServerContext* context,
                                               const v1::ListJobsRequest* request,
                                               v1::ListJobsResponse* response) {
  return Answer(*context, List(*context, *request, *response));
}

grpc::ServerWriteReactor<v1::WatchJobResponse>* JobService::WatchJob(
    grpc::CallbackServerContext* context, const v1::WatchJobRequest* request) {
  return service::WatchJob(publishing_, *context, *request);
}

grpc::ServerWriteReactor<v1::WatchJobsResponse>* JobService::WatchJobs(
    grpc::CallbackServerContext* context, const v1::WatchJobsRequest* request) {
  return service::WatchJobs(publishing_, *context, *request);
}

grpc::ServerUnaryReactor* JobService::SubmitJob(grpc::CallbackServerContext* context,
                                                const v1::SubmitJobRequest* request,
                                                v1::SubmitJobResponse*) {
  return AnswerWhenDurable::Start(plans_.journal(), Submit(*context, request->plan()));
}

grpc::ServerUnaryReactor* JobService::AttachJob(grpc::CallbackServerContext* context,
                                                const v1::AttachJobRequest* request,
                                                v1::AttachJobResponse*) {
  return AnswerWhenDurable::Start(plans_.journal(), Attach(*context, *request));
}

grpc::ServerUnaryReactor* JobService::UpdateJob(grpc::CallbackServerContext* context,
                                                const v1::UpdateJobRequest* request,
                                                v1::UpdateJobResponse*) {
  return AnswerWhenDurable::Start(plans_.journal(), Update(*context, *request));
}

grpc::ServerUnaryReactor* JobService::ForgetJob(grpc::CallbackServerContext* context,
                                                const v1::ForgetJobRequest* request,
                                                v1::ForgetJobResponse*) {
  return AnswerWhenDurable::Start(plans_.journal(), Forget(*context, *request));
}

grpc::ServerUnaryReactor* JobService::EstimateJob(grpc::CallbackServerContext* context,
                                                  const v1::EstimateJobRequest* request,
                                                  v1::EstimateJobResponse* response) {
  std::vector<std::string> ids;  // a plan need not have one
  if (request->has_plan() && !request->plan().id().empty()) ids = {request->plan().id()};
  if (request->has_job_id()) ids = {request->job_id()};
  absl::StatusOr<AdmittedCall> call = Ask(*context, Right::kRead, ids);
  if (!call.ok()) return Answer(*context, call.status());
  if (request->subject_case() == v1::EstimateJobRequest::SUBJECT_NOT_SET) {
    return Answer(*context, wire::FieldError("subject", "is missing; send job_id or plan"));
  }
  if (request->scenarios_size() > kScenariosMax) {
    return Answer(*context, wire::FieldError("scenarios", fmt::format("must be at most {}, not {}",
                                                                      kScenariosMax,
                                                                      request->scenarios_size())));
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const std::string& key = call->meter.key();
  const absl::Status added =
      estimates_.Add(key, [=, this, name_space = call->caller.NameSpaceOf(Right::kRead)] {
        const absl::Duration began = ThreadCpuTime();
        const absl::Status made = Estimate(
            *request, name_space, [context] { return context->IsCancelled(); }, *response);
        publishing_.gate.Charge(key, ThreadCpuTime() - began);
        reactor->Finish(ToGrpc(made));
      });
  if (!added.ok()) reactor->Finish(ToGrpc(publishing_.gate.Refuse(added, context->peer())));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::GetServerInfo(grpc::CallbackServerContext* context,
                                                    const v1::GetServerInfoRequest*,
                                                    v1::GetServerInfoResponse* response) {
  const absl::StatusOr<AdmittedCall> call = Ask(*context, Right::kRead, {});
  if (!call.ok()) return Answer(*context, call.status());
  response->set_version(info_.version);
  response->set_instance(info_.instance);
  response->mutable_limits()->insert(info_.limits.begin(), info_.limits.end());
  return Answer(*context, absl::OkStatus());
}

}  // namespace tidemark::next::service
