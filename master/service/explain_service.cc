#include "master/service/explain_service.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "master/forecast/dag/job_scenarios.h"
#include "master/service/gate.h"
#include "master/waits/cluster_contention.h"
#include "master/waits/explain_query.h"
#include "proto/wire/explain_codec.h"
#include "proto/wire/message_time.h"
#include "tidemark/field_error.h"

namespace tidemark::service {

namespace {

struct Hidden {
  std::set<std::string> job_ids;
  std::uint32_t forgotten = 0;
  double seconds = 0;
  // Unset if one of the queries has no lower bound.
  std::optional<double> lower = 0;
  std::optional<double> upper = 0;
};

void Add(const std::optional<double>& more, std::optional<double>& sum) {
  if (sum && more) {
    *sum += *more;
  } else {
    sum.reset();
  }
}

}  // namespace

void HideContendingQueries(const std::function<bool(const std::string& job_id)>& may_read,
                           std::size_t culprits_max, Explanation& explanation) {
  for (QueryWaits& query : explanation.queries) {
    std::vector<ContendingQuery> seen;
    std::map<std::pair<WaitReason, std::string>, Hidden> hidden;
    for (ContendingQuery& culprit : query.culprits) {
      const bool is_own = culprit.job_id == explanation.job_id;
      const bool is_nobody = culprit.job_id.empty() && culprit.jobs == 0;
      if (is_own || is_nobody || (!culprit.job_id.empty() && may_read(culprit.job_id))) {
        seen.push_back(std::move(culprit));
        continue;
      }
      Hidden& sum = hidden[{culprit.resource, culprit.host}];
      if (culprit.job_id.empty()) sum.forgotten = std::max(sum.forgotten, culprit.jobs);
      if (!culprit.job_id.empty()) sum.job_ids.insert(culprit.job_id);
      sum.seconds += culprit.seconds;
      Add(culprit.seconds_lower, sum.lower);
      Add(culprit.seconds_upper, sum.upper);
    }
    for (const auto& [where, sum] : hidden) {
      seen.push_back({.job_id = "",
                      .query = "",
                      .jobs = static_cast<std::uint32_t>(sum.job_ids.size()) + sum.forgotten,
                      .resource = where.first,
                      .host = where.second,
                      .seconds = sum.seconds,
                      .seconds_lower = sum.lower,
                      .seconds_upper = sum.upper});
    }
    std::stable_sort(
        seen.begin(), seen.end(),
        [](const ContendingQuery& a, const ContendingQuery& b) { return a.seconds > b.seconds; });
    if (seen.size() > culprits_max) seen.resize(culprits_max);
    query.culprits = std::move(seen);
  }
}

namespace {

double SecondsThatRemain(const Snapshot& job) {
  const std::optional<Range>& remaining = job.estimate.remaining;
  if (!remaining || !remaining->upper) return std::numeric_limits<double>::infinity();
  return std::max(absl::ToDoubleSeconds(*remaining->upper), 0.0);
}

}  // namespace

std::set<waits::QueryName> NamedContendingQueries(const Explanation& explanation) {
  std::set<waits::QueryName> named;
  for (const QueryWaits& query : explanation.queries) {
    for (const ContendingQuery& culprit : query.culprits) {
      if (culprit.job_id.empty() || culprit.job_id == explanation.job_id) continue;
      named.insert(waits::QueryName{culprit.job_id, culprit.query});
    }
  }
  return named;
}

dag::SecondsRange WithinTimeLeft(const dag::SecondsRange& sooner, const Snapshot& culprit) {
  const double most = SecondsThatRemain(culprit);
  return {.median = std::min(sooner.median, most),
          .lower = std::min(sooner.lower, most),
          .upper = std::min(sooner.upper, most)};
}

void SetSooner(const waits::QueryName& query, const dag::SecondsRange& sooner,
               Explanation& explanation) {
  for (QueryWaits& waits : explanation.queries) {
    for (ContendingQuery& named : waits.culprits) {
      if (named.job_id != query.job_id || named.query != query.query) continue;
      named.sooner_seconds = sooner.median;
      named.sooner_seconds_lower = sooner.lower;
      named.sooner_seconds_upper = sooner.upper;
    }
  }
}

namespace {

using Response = v1::WatchExplanationResponse;
using Writer = grpc::ServerWriteReactor<Response>;
using Refused = RefusedStream<Writer>;

// Shorter intervals would show no new waits.
constexpr absl::Duration kIntervalMin = absl::Seconds(1);
// Time after the end of a job until the sums include all reports about it (waits::ClusterWaits).
constexpr absl::Duration kSettled = absl::Seconds(5);
// Number of contending queries for which the end of the job without them is estimated. Each query
// takes three estimates.
constexpr std::size_t kSoonerMax = 3;

struct RunningCulprit {
  waits::QueryName query;
  std::shared_ptr<const Snapshot> job;
};

}  // namespace

ExplainService::PastOfJob ExplainService::ReadPast(const std::string& job_id) const {
  const std::optional<LogsOfRun> logs = jobs_.LogsOfEnded(job_id);
  if (!logs) return nullptr;
  absl::StatusOr<PastWaits> read = ReadPastWaits(*logs);
  return read.ok() ? std::make_shared<const PastWaits>(*std::move(read)) : nullptr;
}

std::optional<Explanation> ExplainService::AnswerFromLogs(const std::string& job_id,
                                                          const ExplainQuestion& question,
                                                          PastOfJob& past) const {
  if (past == nullptr) past = ReadPast(job_id);
  if (past == nullptr) return std::nullopt;
  std::optional<Explanation> explanation = past->waits.Ask(job_id, question);
  if (!explanation) return explanation;
  explanation->is_partial = explanation->is_partial || past->is_partial;
  explanation->at = std::min(explanation->at, publishing_.clock.Now());
  return explanation;
}

Explanation ExplainService::Answer(const std::string& job_id, const ExplainQuestion& question,
                                   const Caller& caller, PastOfJob& past) const {
  ExplainQuestion all = question;  // Hidden queries are merged before causes are selected.
  all.culprits_max = std::numeric_limits<std::size_t>::max();
  all.because_of.clear();
  std::optional<Explanation> explanation = waits_.Ask(job_id, all);
  if (!explanation) explanation = AnswerFromLogs(job_id, all, past);
  if (!explanation) {  // The job reported before the master started, or it is a workflow.
    const absl::Time now = publishing_.clock.Now();
    explanation =
        Explanation{.job_id = job_id, .at = now, .since = started_at_, .is_partial = true};
  }
  if (const auto job = publishing_.hub.Find(job_id); job.ok() && job->newest->is_final) {
    explanation->more_to_come = explanation->at < job->newest->ended_at.value_or(job->newest->at);
  }
  HideContendingQueries([&](const std::string& id) { return caller.MayRead(id); }, all.culprits_max,
                        *explanation);
  waits::SelectCauses(question, *explanation);
  return *std::move(explanation);
}

void ExplainService::AddSooner(const ExplainQuestion& question, const PastOfJob& past,
                               Explanation& explanation) const {
  const std::set<waits::QueryName> named = NamedContendingQueries(explanation);
  if (named.empty()) return;
  if (!explanation.has_ended) return AddSoonerFromNowOn(named, question, explanation);
  const std::vector<waits::CostOf> costs =
      past == nullptr ? waits_.Costs(explanation.job_id, named, kSoonerMax, question.last)
                      : past->waits.Costs(explanation.job_id, named, kSoonerMax, question.last);
  for (const waits::CostOf& cost : costs) {
    const dag::SecondsRange sooner = {
        .median = cost.seconds, .lower = cost.lower, .upper = cost.upper};
    SetSooner(cost.query, sooner, explanation);
  }
}

void ExplainService::AddSoonerFromNowOn(const std::set<waits::QueryName>& named,
                                        const ExplainQuestion& question,
                                        Explanation& explanation) const {
  const LiveEntry::Running job = jobs_.GetRunning(explanation.job_id);
  if (job.snapshot == nullptr || job.snapshot->is_final || job.left == nullptr) return;
  std::vector<RunningCulprit> culprits;
  std::vector<facts::LostTime> lost;
  for (waits::LossesTo& losses :
       waits_.Losses(explanation.job_id, named, kSoonerMax, question.last)) {
    const auto culprit = publishing_.hub.Find(losses.query.job_id);
    if (!culprit.ok() || culprit->newest->is_final) continue;
    culprits.push_back({std::move(losses.query), culprit->newest});
    lost.push_back(std::move(losses.lost));
  }
  if (lost.empty()) return;
  const auto sooner = dag::TimeSavedWithout(job.snapshot, job.left, lost, publishing_.clock.Now());
  if (!sooner.ok()) return;  // The job has no forecast.
  for (std::size_t c = 0; c < culprits.size(); ++c) {
    SetSooner(culprits[c].query, WithinTimeLeft((*sooner)[c], *culprits[c].job), explanation);
  }
}

grpc::ServerUnaryReactor* ExplainService::ExplainJob(grpc::CallbackServerContext* context,
                                                     const v1::ExplainJobRequest* request,
                                                     v1::ExplainJobResponse* response) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto finish = [reactor](const absl::Status& status) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  };
  absl::StatusOr<Gate::AdmittedCall> call = publishing_.gate.Ask(*context);
  if (!call.ok()) return finish(call.status());
  if (absl::Status allowed = call->caller.Check(Right::kRead, request->question().job_id());
      !allowed.ok()) {
    return finish(publishing_.gate.Refuse(std::move(allowed), PeerOfCall(*context)));
  }
  const auto asked = wire::ParseQuestion(request->question());
  if (!asked.ok()) return finish(FieldErrorWithin("question", asked.status()));
  if (const auto known = publishing_.hub.Find(asked->first); !known.ok()) {
    return finish(known.status());
  }
  const std::string& key = call->meter.key();
  const absl::Status added =
      AddEstimate(queue_, key, [=, this, question = *asked, reader = call->caller] {
        const absl::Duration began = ThreadCpuTime();
        PastOfJob past;
        Explanation explanation = Answer(question.first, question.second, reader, past);
        AddSooner(question.second, past, explanation);
        wire::EncodeExplanation(explanation, *response->mutable_explanation());
        publishing_.gate.Charge(key, ThreadCpuTime() - began);
        reactor->Finish(grpc::Status::OK);
      });
  return added.ok() ? reactor : finish(publishing_.gate.Refuse(added, PeerOfCall(*context)));
}

absl::StatusOr<ClusterContention> ExplainService::Contend(const ContentionQuestion& question,
                                                          const Caller& caller) const {
  const auto may_read = [&caller](const std::string& id) { return caller.MayRead(id); };
  const std::string& job_id = question.job_id;
  waits::ContentionSums sums(question, may_read);
  waits_.AddContention(sums);
  PastOfJob past;
  if (!job_id.empty() && sums.jobs() == 0) past = ReadPast(job_id);
  if (past != nullptr) past->waits.AddContention(job_id, sums);
  if (absl::Status ok = sums.Check(); !ok.ok()) return ok;
  ClusterContention contention = std::move(sums).Finish();
  const absl::Time now = publishing_.clock.Now();
  contention.at = std::min(contention.at, now);
  if (past != nullptr) contention.is_partial = contention.is_partial || past->is_partial;
  if (contention.jobs == 0) {  // A visible job reported before the master started.
    contention.at = now;
    contention.since = started_at_;
    const auto shows = [&](const Snapshot& job) {
      return may_read(job.job_id) && (job_id.empty() || job.job_id == job_id);
    };
    contention.is_partial = !publishing_.hub.List({}, shows, 1).empty();
  }
  return contention;
}

grpc::ServerUnaryReactor* ExplainService::ExplainCluster(grpc::CallbackServerContext* context,
                                                         const v1::ExplainClusterRequest* request,
                                                         v1::ExplainClusterResponse* response) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto finish = [reactor](const absl::Status& status) {
    reactor->Finish(ToGrpc(status));
    return reactor;
  };
  absl::StatusOr<Gate::AdmittedCall> call = publishing_.gate.Ask(*context);
  if (!call.ok()) return finish(call.status());
  const std::string& job_id = request->question().job_id();
  if (absl::Status allowed =
          job_id.empty() ? call->caller.CheckToken() : call->caller.Check(Right::kRead, job_id);
      !allowed.ok()) {
    return finish(publishing_.gate.Refuse(std::move(allowed), PeerOfCall(*context)));
  }
  const auto asked = wire::ParseContentionQuestion(request->question());
  if (!asked.ok()) return finish(FieldErrorWithin("question", asked.status()));
  if (!job_id.empty()) {
    const auto known = publishing_.hub.Find(job_id);
    if (!known.ok()) return finish(known.status());
    const std::optional<JobInfo>& info = known->newest->info;
    if (info && info->kind == JobKind::kWorkflow) {
      return finish(
          FieldError("question.job_id", "is a workflow and has no queries; pass one of its jobs"));
    }
  }
  const std::string& key = call->meter.key();
  const absl::Status added =
      AddEstimate(queue_, key, [=, this, question = *asked, reader = call->caller] {
        const absl::Duration began = ThreadCpuTime();
        const absl::StatusOr<ClusterContention> contention = Contend(question, reader);
        if (contention.ok()) wire::EncodeContention(*contention, *response->mutable_contention());
        publishing_.gate.Charge(key, ThreadCpuTime() - began);
        reactor->Finish(ToGrpc(contention.status()));
      });
  return added.ok() ? reactor : finish(publishing_.gate.Refuse(added, PeerOfCall(*context)));
}

// Streams answers to one watcher. After every round of ticks, requests an answer if one is due.
// Writes the answer if it has changed.
class ExplainService::Stream final : public Writer, public JobWatcher {
 public:
  static Stream* Start(ExplainService& service, AdmittedStream admitted, std::string key,
                       std::pair<std::string, ExplainQuestion> asked, absl::Duration interval) {
    auto stream = std::shared_ptr<Stream>(
        new Stream(service, std::move(admitted), std::move(key), std::move(asked), interval));
    stream->self_ = stream;  // Lives until OnDone, and while an answer is computed.
    Stream* const begun = stream.get();
    const absl::Status taken = service.publishing_.hub.Subscribe(begun->asked_.first, stream,
                                                                 /*wants_round_end=*/true);
    if (taken.ok()) {
      begun->OnRoundEnd();
    } else {
      begun->End(taken);
    }
    return begun;
  }

  void OnRoundEnd() override {
    const std::lock_guard lock(mutex_);
    if (busy_ || ended_) return;
    const absl::Time now = service_.publishing_.clock.Now();
    if (now < next_at_) return;
    // The token may have been revoked in the meantime.
    if (absl::Status allowed = admitted_.caller.Check(Right::kRead, asked_.first); !allowed.ok()) {
      return EndLocked(allowed);
    }
    const auto job = service_.publishing_.hub.Find(asked_.first);
    if (!job.ok()) return EndLocked(job.status());
    if (job->newest->is_final) ended_at_ = std::min(ended_at_, now);
    const bool is_last = now >= ended_at_ + kSettled;
    // If the queue is full, the next round retries.
    busy_ = service_.queue_.Add(
        key_, [self = self_, caller = admitted_.caller, is_last] { self->Make(caller, is_last); });
    if (busy_) next_at_ = now + interval_;
  }
  void Close() override {
    End(absl::UnavailableError("the master is shutting down; resume later, or at another master"));
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    busy_ = false;
    if (!ok) return EndLocked(absl::CancelledError());
    if (is_last_) EndLocked(absl::OkStatus());
  }
  void OnCancel() override { End(absl::CancelledError()); }
  void OnDone() override {
    service_.publishing_.hub.Unsubscribe(asked_.first, this);
    std::shared_ptr<Stream> self;
    const std::lock_guard lock(mutex_);
    self.swap(self_);
  }

 private:
  Stream(ExplainService& service, AdmittedStream admitted, std::string key,
         std::pair<std::string, ExplainQuestion> asked, absl::Duration interval)
      : service_(service),
        key_(std::move(key)),
        asked_(std::move(asked)),
        interval_(interval),
        admitted_(std::move(admitted)) {}

  void Make(const Caller& caller, bool is_last) {
    const absl::Duration began = ThreadCpuTime();
    Explanation explanation = service_.Answer(asked_.first, asked_.second, caller, past_);
    const std::lock_guard lock(mutex_);
    is_last_ = is_last;
    const bool is_news = !sent_ || sent_->queries != explanation.queries;
    if (ended_) return;
    if (is_news || is_last) {
      wire::EncodeExplanation(explanation, *response_.mutable_explanation());
      sent_ = std::move(explanation);
      StartWrite(&response_);
    } else {
      busy_ = false;
    }
    service_.publishing_.gate.Charge(key_, ThreadCpuTime() - began);
  }
  void EndLocked(const absl::Status& status) {
    if (!std::exchange(ended_, true)) Finish(ToGrpc(status));
  }
  void End(const absl::Status& status) {
    const std::lock_guard lock(mutex_);
    EndLocked(status);
  }

  ExplainService& service_;
  const std::string key_;
  const std::pair<std::string, ExplainQuestion> asked_;
  const absl::Duration interval_;
  std::mutex mutex_;  // Guards all members below.
  AdmittedStream admitted_;
  std::shared_ptr<Stream> self_;
  bool busy_ = false;  // true while an answer is computed or written
  bool is_last_ = false;
  bool ended_ = false;
  absl::Time next_at_ = absl::InfinitePast();
  absl::Time ended_at_ = absl::InfiniteFuture();  // when the end of the job was observed
  std::optional<Explanation> sent_;
  PastOfJob past_;  // used by the thread that computes answers
  Response response_;
};

Writer* ExplainService::WatchExplanation(grpc::CallbackServerContext* context,
                                         const v1::WatchExplanationRequest* request) {
  absl::StatusOr<Gate::AdmittedWatcher> admitted = publishing_.gate.AdmitWatcher(*context);
  if (!admitted.ok()) return new Refused(admitted.status());
  if (absl::Status allowed =
          admitted->stream.caller.Check(Right::kRead, request->question().job_id());
      !allowed.ok()) {
    return new Refused(publishing_.gate.Refuse(std::move(allowed), PeerOfCall(*context)));
  }
  auto asked = wire::ParseQuestion(request->question());
  if (!asked.ok()) return new Refused(FieldErrorWithin("question", asked.status()));
  absl::Duration interval = kIntervalMin;
  if (request->has_interval_min()) {
    const auto wanted = wire::ParseElapsed(request->interval_min(), "interval_min");
    if (!wanted.ok()) {
      return new Refused(FieldError("interval_min", "must be from 0 to 315576000000 s"));
    }
    interval = std::max(interval, *wanted);
  }
  if (const auto known = publishing_.hub.Find(asked->first); !known.ok()) {
    return new Refused(known.status());
  }
  std::string key = admitted->meter.key();
  return Stream::Start(*this, std::move(admitted->stream), std::move(key), *std::move(asked),
                       interval);
}

}  // namespace tidemark::service
