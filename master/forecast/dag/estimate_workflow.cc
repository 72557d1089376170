// The input of a workflow's estimate, and the use of its result.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "master/forecast/dag/check_workflow.h"
#include "master/forecast/dag/live_workflow.h"
#include "master/forecast/dag/scheduling_policy.h"
#include "master/forecast/durations/opinions.h"
#include "tidemark/field_error.h"
#include "tidemark/reconcile_forecasts.h"

namespace tidemark::workflow {
namespace {

// More is taken for a typing error; ParseScenario() has the same limit.
constexpr double kDataFactorMax = 1e6;

schedule::Resourcing ResourcingOf(const Plan& plan, const Cluster& cluster) {
  schedule::Resourcing on;
  on.cluster.capacity = {.cores = static_cast<double>(cluster.slots)};
  on.cluster.policy = PolicyOf(cluster.policy);
  for (const Queue& queue : cluster.queues) on.cluster.queue_shares.push_back(queue.share);
  if (cluster.policy != SchedulingPolicy::kCapacity) return on;
  for (const PlannedJob& job : plan.jobs) {
    std::size_t place = 0;
    while (place < cluster.queues.size() && cluster.queues[place].name != job.queue) ++place;
    on.queue_of_owner.push_back(place);
  }
  return on;
}

}  // namespace

double LiveWorkflow::Shift() const {
  double sum = 0;
  double count = 0;
  for (const FollowedJob& job : jobs_) {
    const JobFacts& facts = job.facts;
    if (facts.state != ChildState::kSucceeded || !facts.expected || !facts.started_at ||
        !facts.ended_at || *facts.expected < absl::Seconds(1)) {
      continue;
    }
    const double took = absl::ToDoubleSeconds(*facts.ended_at - *facts.started_at);
    sum += std::log(std::max(took, 0.1) / absl::ToDoubleSeconds(*facts.expected));
    count += 1;
  }
  if (count == 0) return 1;
  // A job may differ from its last run on its own.
  const double common = options_.estimate.common_deviation * options_.estimate.common_deviation;
  const double noise = cost::kAgainDeviation * cost::kAgainDeviation / count;
  return std::exp(common / (common + noise) * sum / count);
}

JobsNow LiveWorkflow::QuestionOn(absl::Time now, const Cluster& cluster, double data_factor) const {
  JobsNow question = {
      .parents = parents_, .on = ResourcingOf(plan_, cluster), .options = options_.estimate};
  question.options.shift = Shift();
  question.jobs.reserve(jobs_.size());
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    question.jobs.push_back(jobs_[i].At(now, plan_.jobs[i], cluster, data_factor));
  }
  return question;
}

JobsNow LiveWorkflow::QuestionAt(absl::Time now) {
  now = std::max(now, newest_->at);
  if (!is_final()) FindAwaited(now);
  informed_at_ = InformedAt(now);
  return QuestionOn(informed_at_, cluster_, 1);
}

WorkflowPrediction LiveWorkflow::PredictionAt(absl::Time now, const estimate::Estimate& estimate,
                                              const Cluster& cluster, double data_factor) const {
  const absl::Time informed_at = InformedAt(now);
  WorkflowPrediction prediction = PredictionOf(estimate);
  const std::vector<std::vector<std::size_t>> own = OwnStages(estimate);
  bool has_forecast = false;
  for (std::size_t i = 0; i < std::min(jobs_.size(), own.size()); ++i) {
    const LiveJob live = jobs_[i].At(informed_at, plan_.jobs[i], cluster, data_factor);
    has_forecast = has_forecast || live.forecast.has_value();
    prediction.jobs.push_back(PredictionOfJob(jobs_[i], live, estimate, i, own[i]));
  }
  // The forecast of a silent job has opened already, and with it the end of the whole.
  const absl::Duration silence = SilenceAt(now);
  if (silence > absl::ZeroDuration() && !has_forecast) {
    OpenBySilence(now - informed_at, silence, prediction);
  }
  return prediction;
}

absl::StatusOr<Outcome> LiveWorkflow::Estimate(absl::Time now, const Scenario& scenario) const {
  if (is_final()) return Outcome{.snapshot = *newest_};
  if (is_cancelled_) {
    return absl::FailedPreconditionError(
        absl::StrCat("workflow ", plan_.id, " was cancelled; nothing of it is left to estimate"));
  }
  const double data_factor = scenario.data_factor.value_or(1);
  if (!(data_factor > 0 && data_factor <= kDataFactorMax)) {
    return FieldError("data_factor", "must be above 0 and at most 1e6");
  }
  Plan changed = plan_;
  changed.cluster = cluster_;
  if (scenario.slots) changed.cluster.slots = *scenario.slots;
  if (scenario.policy) changed.cluster.policy = *scenario.policy;
  if (absl::Status ok = CheckWorkflow(changed, jobs_.size()); !ok.ok()) return ok;
  now = std::max(now, newest_->at);
  const auto estimate = EstimateJobs(QuestionOn(InformedAt(now), changed.cluster, data_factor));
  if (!estimate.ok()) return estimate.status();
  const WorkflowPrediction prediction = PredictionAt(now, *estimate, changed.cluster, data_factor);
  Outcome outcome = {.snapshot = Describe(now, &prediction),
                     .busy_share = BusyShare(prediction, changed.cluster.slots)};
  ReconcileForecasts(outcome.snapshot, /*ends_with_parts=*/true);
  return outcome;
}

}  // namespace tidemark::workflow
