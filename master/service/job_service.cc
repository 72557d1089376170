#include "master/service/job_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <tuple>

#include "master/forecast/dag/job_scenarios.h"
#include "master/store/name_space.h"
#include "proto/wire/message_time.h"
#include "proto/wire/plan_codec.h"
#include "proto/wire/task_codec.h"
#include "proto/wire/valid_text.h"
#include "tidemark/field_error.h"

namespace tidemark::service {

void SelectRunning(std::size_t most, JobTasks& list) {
  std::vector<TaskProgress>& tasks = list.tasks;
  std::erase_if(tasks, [](const TaskProgress& task) {
    return task.state != AttemptState::kStarted && task.state != AttemptState::kShuffled;
  });
  const auto place = [](const TaskProgress& task) {
    return std::tuple(task.remaining ? -task.remaining->median : absl::InfiniteDuration(),
                      task.started_at.value_or(absl::InfiniteFuture()));
  };
  std::ranges::stable_sort(tasks, std::less<>(), place);
  list.tasks_left_out = 0;  // The omitted attempts of an ended job do not run.
  KeepFirstTasks(most, list);
}

namespace {

constexpr std::size_t kPageSize = 100;
constexpr std::size_t kPageSizeMax = 1000;
constexpr int kScenariosMax = 100;
constexpr std::size_t kTasksMax = 2000;

// Returns the token of the page after `last`. The token names a job and not a position, so it stays
// valid when jobs are added or removed.
std::string PageToken(const PublishedJob& last) {
  return fmt::format("{}/{}", last.run, last.newest->job_id);
}

absl::StatusOr<JobHub::Place> ParsePageToken(const std::string& token) {
  JobHub::Place place;
  if (token.empty()) return place;
  const char* const last = token.data() + token.size();
  const auto [end, error] = std::from_chars(token.data(), last, place.run);
  if (error != std::errc() || end == last || *end != '/') {
    return FieldError("page_token",
                      "was not issued by this service; leave it empty for the first page");
  }
  place.job_id.assign(end + 1, last);
  return place;
}

// A watcher of a plan sees the plan's jobs. A caller that changes the plan must therefore be
// allowed to report these jobs.
template <typename Jobs>
std::vector<std::string> IdsOf(const std::string& plan, const Jobs& jobs) {
  std::vector<std::string> ids = {plan};
  for (const v1::PlannedJob& job : jobs) {
    if (!job.job_id().empty()) ids.push_back(job.job_id());
  }
  return ids;
}

void Encode(Outcome would_be, v1::Outcome& message) {
  would_be.snapshot.sequence = 0;
  wire::EncodeSnapshot(would_be.snapshot, *message.mutable_snapshot());
  if (would_be.busy_share) message.set_busy_share(*would_be.busy_share);
  message.set_slots(would_be.slots);
  message.set_executors(would_be.executors);
  for (const PlanState& state : would_be.states) {
    wire::EncodePlanState(state, *message.add_states());
  }
  if (const auto& gain = would_be.skew_gain) {
    message.mutable_skew_gain()->set_stage(gain->stage);
    wire::EncodeDuration(gain->lower, *message.mutable_skew_gain()->mutable_lower());
    wire::EncodeDuration(gain->upper, *message.mutable_skew_gain()->mutable_upper());
  }
}

}  // namespace

absl::StatusOr<JobService::AdmittedCall> JobService::Ask(const grpc::CallbackServerContext& context,
                                                         Right right,
                                                         const std::vector<std::string>& ids) {
  absl::StatusOr<AdmittedCall> call = publishing_.gate.Ask(context);
  if (!call.ok()) return call;
  for (const std::string& id : ids) {
    if (absl::Status allowed = call->caller.Check(right, id); !allowed.ok()) {
      return publishing_.gate.Refuse(std::move(allowed), PeerOfCall(context));
    }
  }
  return call;
}

absl::Status JobService::Get(const v1::GetJobRequest& untrusted, v1::GetJobResponse& response) {
  const absl::StatusOr<View> view = wire::ParseView(untrusted.view(), View::kFull);
  if (!view.ok()) return view.status();
  const absl::StatusOr<PublishedJob> job = publishing_.hub.Find(untrusted.job_id());
  if (!job.ok()) return job.status();
  const Snapshot& newest = *job->newest;
  if (!untrusted.run_uid().empty() && newest.run_uid != untrusted.run_uid()) {
    return absl::NotFoundError(
        fmt::format("no run {} of job {}", untrusted.run_uid(), newest.job_id));
  }
  wire::EncodeSnapshot(newest, *view, *response.mutable_snapshot());
  return absl::OkStatus();
}

absl::Status JobService::List(const Caller& caller, const v1::ListJobsRequest& untrusted,
                              v1::ListJobsResponse& response) {
  const absl::StatusOr<JobHub::Place> before = ParsePageToken(untrusted.page_token());
  if (!before.ok()) return before.status();
  const absl::StatusOr<JobFilter> filter = wire::ParseJobFilter(untrusted.filter());
  if (!filter.ok()) return FieldErrorWithin("filter", filter.status());
  const absl::StatusOr<View> view = wire::ParseView(untrusted.view(), View::kBasic);
  if (!view.ok()) return view.status();
  const std::size_t page_size = untrusted.page_size() == 0
                                    ? kPageSize
                                    : std::min<std::size_t>(untrusted.page_size(), kPageSizeMax);
  const auto shows = [&](const Snapshot& newest) {
    return caller.MayRead(newest.job_id) && wire::Matches(*filter, newest);
  };
  // An additional job shows whether another page follows.
  const std::vector<PublishedJob> jobs = publishing_.hub.List(*before, shows, page_size + 1);
  std::size_t end = 0;
  for (std::size_t bytes = 0; end < std::min(page_size, jobs.size()) && bytes < kResponseBytes;) {
    v1::Snapshot& added = *response.add_snapshots();
    wire::EncodeSnapshot(*jobs[end++].newest, *view, added);
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
  if (!plan.ok()) return FieldErrorWithin("plan", plan.status());
  const Sender sender = {.name_space = call->caller.NameSpaceOf(Right::kReport),
                         .reporter = call->caller.ReporterAt(HostOfPeer(PeerOfCall(context)))};
  auto taken = workflows_.Submit(*plan, sender, publishing_.clock.Now());
  if (absl::IsResourceExhausted(taken.status())) {
    return publishing_.gate.Refuse(taken.status(), PeerOfCall(context));
  }
  if (!taken.ok()) return FieldErrorWithin("plan", taken.status());
  return taken;
}

absl::StatusOr<JobService::Mark> JobService::Attach(const grpc::CallbackServerContext& context,
                                                    const v1::AttachJobRequest& untrusted) {
  const absl::StatusOr<AdmittedCall> call =
      Ask(context, Right::kReport, {untrusted.job_id(), untrusted.child_job_id()});
  if (!call.ok()) return call.status();
  if (absl::Status id = wire::CheckId("job_id", untrusted.job_id()); !id.ok()) return id;
  if (absl::Status id = wire::CheckId("child_job_id", untrusted.child_job_id()); !id.ok())
    return id;
  if (wire::HasControls(untrusted.child_job_id()))
    return FieldError("child_job_id", "must not contain control characters");
  return workflows_.Attach(untrusted.job_id(), untrusted.child_name(), untrusted.child_job_id(),
                           publishing_.clock.Now());
}

absl::StatusOr<JobService::Mark> JobService::Update(const grpc::CallbackServerContext& context,
                                                    const v1::UpdateJobRequest& untrusted) {
  const absl::StatusOr<AdmittedCall> call =
      Ask(context, Right::kReport, IdsOf(untrusted.job_id(), untrusted.add_jobs()));
  if (!call.ok()) return call.status();
  if (absl::Status id = wire::CheckId("job_id", untrusted.job_id()); !id.ok()) return id;
  v1::Plan part;
  *part.mutable_jobs() = untrusted.add_jobs();
  absl::StatusOr<Plan> plan = wire::ParsePartOfPlan(part);
  if (!plan.ok()) {  // jobs[0] of the partial plan is add_jobs[0] of the request.
    const auto [path, description] = WrongFieldOf(plan.status());
    return path.empty() ? plan.status() : FieldError("add_" + path, description);
  }
  const PlanChange change = {
      .add_jobs = std::move(plan->jobs),
      .cancel_jobs = {untrusted.cancel_jobs().begin(), untrusted.cancel_jobs().end()},
      .cancel = untrusted.cancel(),
      .close = untrusted.close()};
  return workflows_.Update(untrusted.job_id(), change, publishing_.clock.Now());
}

absl::StatusOr<JobService::Mark> JobService::Forget(const grpc::CallbackServerContext& context,
                                                    const v1::ForgetJobRequest& untrusted) {
  const absl::StatusOr<AdmittedCall> call = Ask(context, Right::kReport, {untrusted.job_id()});
  if (!call.ok()) return call.status();
  if (absl::Status id = wire::CheckId("job_id", untrusted.job_id()); !id.ok()) return id;
  for (LiveTable* table : std::initializer_list<LiveTable*>{&workflows_, &jobs_}) {
    const absl::Status forgotten = table->Forget(untrusted.job_id(), untrusted.run_uid());
    if (!forgotten.ok()) return forgotten;
  }
  // The journal removes files before records that are appended now become durable.
  return Mark(jobs_.journal().Append(nullptr, ""));
}

std::optional<absl::StatusOr<JobService::Mark>> JobService::SetDeadlineOf(
    const v1::SetDeadlineRequest& untrusted, const std::function<void()>& when_free) {
  if (absl::Status id = wire::CheckId("job_id", untrusted.job_id()); !id.ok()) return id;
  if (!untrusted.has_deadline_at()) return FieldError("deadline_at", "is missing; send a time");
  const absl::StatusOr<absl::Time> parsed = wire::ParseTime(untrusted.deadline_at(), "deadline_at");
  if (!parsed.ok()) return FieldError("deadline_at", std::string(parsed.status().message()));
  // A log contains times in nanoseconds.
  const absl::Time deadline = absl::FromUnixNanos(absl::ToUnixNanos(*parsed));
  if (deadline != *parsed)
    return FieldError("deadline_at", "must be a time of the years 1678 to 2261");
  const absl::Time now = publishing_.clock.Now();
  if (workflows_.Newest(untrusted.job_id()) != nullptr) {
    return workflows_.Update(untrusted.job_id(), {.deadline = deadline}, now);
  }
  return jobs_.SetDeadline(untrusted.job_id(), deadline, now, when_free);
}

std::optional<absl::StatusOr<JobService::Mark>> JobService::Tasks(
    const v1::ListTasksRequest& untrusted, const std::function<void()>& when_free,
    v1::ListTasksResponse& response) const {
  if (absl::Status host = wire::CheckText("host", untrusted.host()); !host.ok()) return host;
  if (workflows_.Newest(untrusted.job_id()) != nullptr) {
    return absl::FailedPreconditionError(
        fmt::format("{} is a workflow; pass one of its jobs", untrusted.job_id()));
  }
  TaskQuery query;
  if (untrusted.has_host()) query.host = untrusted.host();
  if (untrusted.task_count_max() > 0) {
    query.tasks_max = std::min<std::size_t>(untrusted.task_count_max(), kTasksMax);
  }
  const std::size_t most = query.tasks_max;
  const bool selects = untrusted.running_only() || untrusted.longest_first();
  if (selects) query.tasks_max = std::numeric_limits<std::size_t>::max();
  auto found = jobs_.ListTasks(untrusted.job_id(), query, publishing_.clock.Now(), when_free);
  if (!found) return std::nullopt;
  auto& listed = *found;
  if (!listed.ok()) return listed.status();
  if (untrusted.running_only()) {
    SelectRunning(most, listed->tasks);
  } else if (untrusted.longest_first()) {
    SelectLongest(most, listed->tasks);
  }
  wire::EncodeTasks(listed->tasks, response);
  return listed->mark;
}

grpc::ServerUnaryReactor* JobService::ListTasks(grpc::CallbackServerContext* context,
                                                const v1::ListTasksRequest* request,
                                                v1::ListTasksResponse* response) {
  const absl::StatusOr<AdmittedCall> call = Ask(*context, Right::kRead, {request->job_id()});
  if (!call.ok()) return Answer(*context, call.status());
  if (!jobs_.MustLoadTasks(request->job_id())) {
    return AnswerDurably(*context, *call, [=, this](const std::function<void()>& again) {
      return Tasks(*request, again, *response);
    });
  }
  // The end of the job is durable. Reading its log here would block a gRPC thread.
  return Later(*context, call->meter.key(), [=, this] {
    jobs_.LoadTasks(request->job_id());
    return Tasks(*request, nullptr, *response)->status();
  });
}

std::optional<absl::StatusOr<JobService::Mark>> JobService::Forecasts(
    const v1::ListForecastsRequest& untrusted, const std::function<void()>& when_free,
    v1::ListForecastsResponse& response) {
  absl::Time after = absl::InfinitePast();
  if (untrusted.has_after()) {
    const absl::StatusOr<absl::Time> parsed = wire::ParseTime(untrusted.after(), "after");
    if (!parsed.ok()) return FieldError("after", std::string(parsed.status().message()));
    after = *parsed;
  }
  std::optional<absl::StatusOr<JobTable::ListedForecasts>> found;
  if (auto of_workflow = workflows_.ListForecasts(untrusted.job_id())) {
    found.emplace(*std::move(of_workflow));
  } else {
    found = jobs_.ListForecasts(untrusted.job_id(), when_free);
  }
  if (!found) return std::nullopt;
  auto& listed = *found;
  if (!listed.ok()) return listed.status();
  std::erase_if(listed->forecasts, [&](const PastForecast& said) { return said.at <= after; });
  wire::EncodeForecasts(listed->forecasts, *response.mutable_forecasts());
  const absl::StatusOr<PublishedJob> job = publishing_.hub.Find(untrusted.job_id());
  if (job.ok() && job->newest->ended_at) {
    wire::EncodeTime(*job->newest->ended_at, *response.mutable_ended_at());
  }
  return listed->mark;
}

absl::StatusOr<dag::LiveWorkflow> JobService::MakeHypothetical(const v1::Plan& untrusted,
                                                               const std::string& name_space,
                                                               absl::Time now) const {
  absl::StatusOr<Plan> plan = wire::ParsePlan(untrusted);
  if (!plan.ok()) return FieldErrorWithin("plan", plan.status());
  if (plan->id.empty()) plan->id = store::IdWithin(name_space);
  if (plan->id.empty()) plan->id = "plan";
  auto hypothetical = workflows_.MakeHypothetical(*plan, name_space, now);
  if (!hypothetical.ok()) return FieldErrorWithin("plan", hypothetical.status());
  return hypothetical;
}

absl::Status JobService::EstimateAlone(const Snapshot& newest,
                                       const std::vector<Scenario>& scenarios, absl::Time now,
                                       v1::EstimateJobResponse& response) const {
  const LiveEntry::Running running = jobs_.GetRunning(newest.job_id);
  const bool runs = running.snapshot != nullptr && !running.snapshot->is_final;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Scenario& scenario = scenarios[i];
    if (scenario != Scenario() && newest.is_final) {
      return absl::FailedPreconditionError(fmt::format(
          "{} has ended; omit slots, executors, data_factor and policy", newest.job_id));
    }
    if (scenario.data_factor || scenario.policy) {
      return FieldError(
          fmt::format("scenarios[{}].{}", i, scenario.data_factor ? "data_factor" : "policy"),
          "must be omitted: the data and the slots of a running job are fixed; pass its workflow "
          "instead");
    }
    Outcome would_be = {.snapshot = runs ? *running.snapshot : newest};
    if (scenario.slots || scenario.executors) {
      if (!runs) {
        return absl::FailedPreconditionError(fmt::format("{} has just ended", newest.job_id));
      }
      auto on_slots = dag::ForecastJobOnSlots(running.snapshot, running.left, scenario, now);
      if (!on_slots.ok()) {
        return FieldErrorWithin(fmt::format("scenarios[{}]", i), on_slots.status());
      }
      would_be = *std::move(on_slots);
    } else if (runs) {
      const auto held = dag::SlotsHeld(running.snapshot, running.left, now);
      would_be.slots = held.slots;
      would_be.executors = held.executors;
    }
    if (runs && running.left != nullptr) {
      would_be.skew_gain = dag::SkewGainOf(*running.left, would_be.slots);
    }
    Encode(std::move(would_be), *response.add_outcomes());
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
      return FieldErrorWithin(fmt::format("scenarios[{}]", i), scenario.status());
    }
    scenarios.push_back(*scenario);
  }
  // All scenarios have the same baseline.
  const absl::Time now = publishing_.clock.Now();
  absl::StatusOr<dag::LiveWorkflow> workflow = absl::UnknownError("not asked for");
  if (untrusted.has_plan()) {
    workflow = MakeHypothetical(untrusted.plan(), name_space, now);
  } else {
    const absl::StatusOr<PublishedJob> job = publishing_.hub.Find(untrusted.job_id());
    if (!job.ok()) return job.status();
    const Snapshot& newest = *job->newest;
    if (newest.is_final || !newest.info || newest.info->kind != JobKind::kWorkflow) {
      return EstimateAlone(newest, scenarios, now, response);
    }
    workflow = workflows_.Copy(untrusted.job_id());
  }
  if (!workflow.ok()) return workflow.status();
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (is_cancelled()) return absl::CancelledError();
    if (scenarios[i].executors) {
      return FieldError(
          fmt::format("scenarios[{}].executors", i),
          "must be omitted: a plan and a workflow have slots, not executors; pass one of its jobs");
    }
    auto would_be = workflow->Estimate(now, scenarios[i]);
    if (absl::IsInvalidArgument(would_be.status())) {
      // The message names the job that contradicts the scenario.
      return FieldError(fmt::format("scenarios[{}]{}", i, scenarios[i].policy ? ".policy" : ""),
                        std::string(would_be.status().message()));
    }
    if (!would_be.ok()) return would_be.status();
    if (untrusted.has_plan()) {
      would_be->snapshot.job_id = untrusted.plan().id();
      would_be->snapshot.state = JobState::kQueued;
    }
    Encode(*std::move(would_be), *response.add_outcomes());
  }
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* JobService::EstimateJob(grpc::CallbackServerContext* context,
                                                  const v1::EstimateJobRequest* request,
                                                  v1::EstimateJobResponse* response) {
  std::vector<std::string> ids;  // A plan may have no ID.
  if (request->has_plan() && !request->plan().id().empty()) ids = {request->plan().id()};
  if (request->has_job_id()) ids = {request->job_id()};
  absl::StatusOr<AdmittedCall> call = Ask(*context, Right::kRead, ids);
  if (!call.ok()) return Answer(*context, call.status());
  if (request->subject_case() == v1::EstimateJobRequest::SUBJECT_NOT_SET) {
    return Answer(*context, FieldError("subject", "is missing; send job_id or plan"));
  }
  if (request->scenarios_size() > kScenariosMax) {
    return Answer(*context,
                  FieldError("scenarios", fmt::format("must be at most {}, not {}", kScenariosMax,
                                                      request->scenarios_size())));
  }
  return Later(*context, call->meter.key(),
               [=, this, name_space = call->caller.NameSpaceOf(Right::kRead)] {
                 return Estimate(
                     *request, name_space, [context] { return context->IsCancelled(); }, *response);
               });
}

grpc::ServerUnaryReactor* JobService::Later(grpc::CallbackServerContext& context,
                                            const std::string& key,
                                            std::function<absl::Status()> work) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  const absl::Status added = AddEstimate(estimates_, key, [=, this, work = std::move(work)] {
    const absl::Duration began = ThreadCpuTime();
    const absl::Status done = work();
    publishing_.gate.Charge(key, ThreadCpuTime() - began);
    reactor->Finish(ToGrpc(done));
  });
  if (!added.ok()) reactor->Finish(ToGrpc(publishing_.gate.Refuse(added, PeerOfCall(context))));
  return reactor;
}

grpc::ServerUnaryReactor* JobService::GetServerInfo(grpc::CallbackServerContext* context,
                                                    const v1::GetServerInfoRequest*,
                                                    v1::GetServerInfoResponse* response) {
  const absl::StatusOr<AdmittedCall> call = Ask(*context, Right::kRead, {});
  if (!call.ok()) return Answer(*context, call.status());
  response->set_version(info_.version);
  response->set_instance(info_.instance);
  {
    const std::lock_guard lock(features_mutex_);
    for (const std::string& feature : features_) response->add_features(feature);
  }
  response->mutable_limits()->insert(info_.limits.begin(), info_.limits.end());
  return Answer(*context, absl::OkStatus());
}

}  // namespace tidemark::service
