#include "tidemark/job_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "master/facts/accuracy.h"
#include "master/facts/checkpoint.h"
#include "master/facts/evidence_loss.h"
#include "master/facts/fold.h"
#include "master/facts/job_record.h"
#include "master/facts/job_summary.h"
#include "master/facts/phases.h"
#include "master/forecast/dag/adjusted_runs.h"
#include "master/forecast/dag/application_forecast.h"
#include "master/forecast/dag/shown_progress.h"
#include "master/forecast/dag/stages_now.h"
#include "master/forecast/durations/early_forecast.h"
#include "master/forecast/durations/finished_groups.h"
#include "master/forecast/durations/intervals.h"
#include "master/forecast/papers/papers.h"
#include "master/forecast/placement/placing.h"
#include "master/forecast/progress_indicator.h"
#include "master/forecast/tidemark_indicator.h"
#include "master/monitor/held_forecasts.h"
#include "master/monitor/job_snapshot.h"
#include "master/monitor/stages_estimate.h"
#include "master/monitor/stragglers.h"
#include "master/monitor/task_list.h"
#include "text/counted.h"
#include "text/duration_text.h"

namespace tidemark {
namespace {

using facts::EndPrediction;
using forecast::ReducePhaseForecast;

constexpr std::size_t kNotesMax = 16;
// The only indicator that needs points; all others use bins.
constexpr std::string_view kWantsPoints = "nearestfit";
constexpr const char* kTidemark = "tidemark";
constexpr const char* kTidemarkWithoutSignals = "tidemark-without-signals";

// Returns the indicator of that name, or null if the name is unknown.
std::unique_ptr<forecast::ProgressIndicator> MakeIndicator(const std::string& name) {
  using Signals = forecast::TidemarkIndicator::Signals;
  if (name == kTidemark) {
    return std::make_unique<forecast::TidemarkIndicator>(name, Signals::kUsed);
  }
  if (name == kTidemarkWithoutSignals) {
    return std::make_unique<forecast::TidemarkIndicator>(name, Signals::kIgnored);
  }
  return papers::MakeJobMethod(name);
}

// Counts the stages, attempts and key groups that have ended, with any outcome. O(stages + reduce
// tasks).
std::uint64_t EndedIn(const Snapshot& snapshot, const facts::JobRecord& state) {
  std::uint64_t ended = 0;
  for (const StageProgress& stage : snapshot.stages) {
    const bool is_over = stage.ended_at || stage.state == StageState::kSkipped;
    ended += stage.finished_tasks + stage.failed_attempts + (is_over ? 1 : 0);
  }
  for (const facts::Task& task : state.reduce_tasks()) {
    for (const auto& [number, attempt] : task.attempts) {
      ended = facts::SaturatingAdd(ended, attempt.reduce->groups_done);
    }
  }
  return ended;
}

// Returns why no end of a MapReduce job can be predicted, or an empty string if the reason is
// unknown.
std::string WhyNoEnd(const Snapshot& job) {
  const StageProgress* const maps = facts::PhaseOf(job, StageKind::kMap);
  const bool has_pending_maps =
      maps != nullptr && maps->state == StageState::kPending && maps->tasks > 0;
  if (!has_pending_maps || job.estimate.remaining || job.is_final) return "";
  if (job.elapsed() < facts::kStartsWithin) return "";
  return fmt::format("cannot predict the end: {} {} not started",
                     text::Counted(maps->tasks, "map task"), maps->tasks == 1 ? "has" : "have");
}

std::size_t BytesOf(const PastRun& run) {
  std::size_t bytes = facts::BytesOf(run.parameters);
  bytes += sizeof(GroupBin) * run.groups.size();
  for (const auto& groups : run.timed_groups) bytes += sizeof(TimedGroups) * groups.size();
  for (const PastStage& stage : run.stages) {
    bytes += sizeof(stage) + stage.name.size() + stage.title.size() +
             sizeof(std::size_t) * stage.parents.size();
    for (const auto& seconds : stage.seconds) bytes += sizeof(double) * seconds.size();
    bytes += sizeof(LongTask) * stage.long_tasks.size();
  }
  return bytes;
}

std::size_t BytesOf(const std::vector<PastRun>& runs) {
  std::size_t bytes = 0;
  for (const PastRun& run : runs) {
    // A run with parameters is kept twice: as reported, and scaled to the parameters of this job.
    bytes += BytesOf(run) * (run.parameters.empty() ? 1 : 2);
  }
  return bytes;
}

}  // namespace

// The state of a monitor, and the parts of Tick(). JobMonitor uses the members directly.
class JobMonitor::Impl {
 public:
  struct Tracked {
    std::unique_ptr<forecast::ProgressIndicator> indicator;
    durations::IntervalRecord record;
    facts::PredictionHistory history;
    dag::ShownProgress shown;
    durations::Overdue overdue;
    // The first forecast that was not a guess. Unset before it.
    std::optional<EndPrediction> first;
  };

  Impl(std::string job_id, const JobMonitorOptions& options)
      : job_id_(std::move(job_id)), options_(options), state_(options.lambda) {
    for (const std::string& name : options.indicators) {
      if (auto indicator = MakeIndicator(name)) {
        tracked_.push_back({.indicator = std::move(indicator)});
      }
    }
  }

  const Snapshot& Tick(absl::Time now);
  JobTasks ListTasks(const TaskQuery& query, absl::Time now) const;
  JobSummary Summary() const;
  std::string Checkpoint() const;
  absl::Status Resume(const std::string& checkpoint);
  void NoteDamage(const LogDamage& damage);
  // These functions return the forecast and set left_. PredictMaps() also sets `method`, and sets
  // `basis` if only past runs provide the forecast.
  EndPrediction PredictMaps(absl::Time now, Basis& basis, EstimateMethod& method);
  EndPrediction PredictStages(absl::Time now);
  ReducePhaseForecast ForecastReduceStage(absl::Time now);
  // Returns the indicator's current estimate. Adds to its history and, for the first indicator,
  // sets left_ and names a task in `snapshot`.
  // Sets `snapshot.estimate_raised` if the first indicator's fraction moves back.
  Indicator Predict(Tracked& tracked, absl::Duration silence, Snapshot& snapshot);
  // Returns true if the stages of the snapshot have not all ended, or if further stages are
  // expected.
  bool HasStagesLeft(const Snapshot& snapshot) const;
  // Returns why a job's estimate in `state` has risen, if no stage has appeared.
  RaiseCause RaiseCauseOf(const Snapshot& snapshot, EstimateState state) const;
  // Sets the published fractions of `shown`. Returns why the first one moves back.
  std::optional<EstimateRaised> Show(absl::Time now, const Snapshot& snapshot, Tracked& tracked,
                                     Indicator& shown) const;
  absl::Time AbandonedAt() const;
  // Updates listened_. Changes nothing if the job is not silent.
  void CountListening(absl::Time now);
  JobState StateAt(absl::Time now) const;
  // Returns the past runs, scaled to the job's parameters. Recomputes them if the parameters
  // change.
  const dag::AdjustedRuns& AdjustedPastRuns();
  void AddEstimates(Snapshot& snapshot);
  void Finish(Snapshot& snapshot) const;
  std::vector<IndicatorError> Errors(absl::Time job_end) const;

  std::string job_id_;
  JobMonitorOptions options_;
  facts::JobRecord state_;
  std::vector<Tracked> tracked_;
  std::vector<std::string> notes_;
  std::uint64_t sequence_ = 0;
  bool has_news_ = false;
  std::size_t tick_steps_ = 0;
  double missing_share_ = 0;  // share of missing evidence at the last Tick()
  absl::Time listening_since_ = absl::InfinitePast();  // time of the last NoteRestart()
  absl::Time informed_at_ = absl::InfinitePast();  // time until which reports cover the forecast
  // The part of the last silence in which a master ran, and the last tick of that silence.
  absl::Duration listened_;
  absl::Time listened_until_ = absl::InfinitePast();
  std::optional<dag::AdjustedRuns> adjusted_runs_;  // past runs, adjusted to adjusted_for_
  std::map<std::string, std::string> adjusted_for_;
  monitor::StageCounts counts_;
  dag::StagesTracker tracker_;
  monitor::StagesEstimate stages_;            // at the last Tick()
  ReducePhaseForecast reduce_;                // forecast of the first indicator at the last Tick()
  durations::IntervalRecord reduce_record_;   // errors of earlier `reduce_` forecasts
  facts::PredictionHistory of_reduce_stage_;  // forecasts of `reduce_` at all ticks
  monitor::GroupForecasts groups_;
  monitor::HeldForecasts held_;
  Estimate last_running_;                                   // of the last snapshot before the end
  std::shared_ptr<const durations::RemainingStages> left_;  // from the first indicator
  Snapshot job_;                                            // result of the last Tick()
};

// Time during which no master listens does not count towards abandoning a job.
absl::Time JobMonitor::Impl::AbandonedAt() const {
  return std::max(state_.last_arrival_at, listening_since_) + options_.abandon_after;
}

void JobMonitor::Impl::CountListening(absl::Time now) {
  if (facts::SilentFor(state_, now) == absl::ZeroDuration()) return;
  if (state_.last_arrival_at >= listened_until_) listened_ = absl::ZeroDuration();
  const absl::Time since = std::max({state_.last_arrival_at, listening_since_, listened_until_});
  listened_ += std::max(now - since, absl::ZeroDuration());
  listened_until_ = now;
}

JobState JobMonitor::Impl::StateAt(absl::Time now) const {
  if (state_.closed) return monitor::StateAfter(state_.closed->outcome);
  return now > AbandonedAt() ? JobState::kAbandoned : JobState::kRunning;
}

// Predicts the end of a job without a reduce phase from its map tasks and its past runs.
EndPrediction JobMonitor::Impl::PredictMaps(absl::Time now, Basis& basis, EstimateMethod& method) {
  EndPrediction prediction{.at = now};
  // If the task count is unknown, more tasks may follow.
  const facts::Stage* const stage = state_.map_stage();
  if (stage == nullptr || !stage->opened.task_count) return prediction;
  const StageProgress maps = facts::MapProgress(state_);
  if (maps.state == StageState::kDone) {
    prediction.end = prediction.lower = prediction.upper = maps.ended_at;
    return prediction;
  }
  const durations::FixedDraws& draws = durations::FixedDraws::For(state_.map_tasks().size());
  std::optional<forecast::MapsLeft> own = forecast::EstimateMaps(state_, now, draws);
  std::optional<dag::SecondsRange> end;
  if (own) end = own->forecast.end;
  const auto own_ends = own ? std::optional(own->forecast.ends) : std::nullopt;
  if (auto seconds = durations::SecondsByPastRuns(state_, now, state_.past_runs, draws, own_ends)) {
    end = dag::RangeOf(*std::move(seconds));
  }
  method = own ? EstimateMethod::kTaskSizes : EstimateMethod::kPastRuns;
  if (!own) basis = Basis::kEarlierRuns;
  if (!end) {
    auto seconds = durations::SecondsByMapSide(state_, now, draws);
    if (!seconds) return prediction;
    end = dag::RangeOf(*std::move(seconds));
    basis = Basis::kGuess;
    method = EstimateMethod::kMapPhase;
  }
  if (own) {
    // In a shared cluster, a stage gets only the slots that other jobs leave free.
    own->application.stages[0].work.at_once_max = placement::kNoLimit;
    left_ = std::make_shared<const durations::RemainingStages>(durations::RemainingStages{
        .stages = std::move(own->application.stages), .ends = std::move(own->forecast.ends)});
  }
  prediction.end = now + absl::Seconds(end->median);
  prediction.lower = now + absl::Seconds(end->lower);
  prediction.upper =
      now + absl::Seconds(std::min(end->upper, durations::kRemainingUpperMax * end->median));
  return prediction;
}

// Returns the forecast for a job of stages of any kind.
EndPrediction JobMonitor::Impl::PredictStages(absl::Time now) {
  EndPrediction prediction{.at = now};
  left_ = stages_.left;
  if (!stages_.end) return prediction;
  const auto& [median, lower, upper] = *stages_.end;
  prediction.end = now + absl::Seconds(median);
  prediction.lower = now + absl::Seconds(lower);
  prediction.upper = now + absl::Seconds(upper);
  return prediction;
}

// During a silence, repeats the estimate from before the silence with a wider interval and, if the
// silence has lasted longer than the remaining time, with a later end.
Indicator JobMonitor::Impl::Predict(Tracked& tracked, absl::Duration silence, Snapshot& snapshot) {
  const absl::Time now = informed_at_;
  EndPrediction prediction{.at = now};
  Basis basis = Basis::kThisRun;
  EstimateMethod method = EstimateMethod::kUnknown;
  ReducePhaseForecast reduce;
  if (monitor::IsOfStages(state_)) {
    prediction = PredictStages(now);
    basis = stages_.basis;
    // After the last stage, the remaining time rests on no stage.
    method = !HasStagesLeft(snapshot)       ? EstimateMethod::kUnknown
             : basis == Basis::kGuess       ? EstimateMethod::kAssumptions
             : basis == Basis::kEarlierRuns ? EstimateMethod::kPastRuns
                                            : EstimateMethod::kTaskTimes;
  } else if (!state_.has_reduce_stage()) {
    prediction = PredictMaps(now, basis, method);
  } else {
    reduce = tracked.indicator->Estimate(state_, now);
    if (&tracked == &tracked_.front()) left_ = reduce.left;
    prediction.end = reduce.ends_at;
    prediction.lower = reduce.ends_at_lower;
    prediction.upper = reduce.ends_at_upper;
    basis = reduce.basis;
    method = reduce.method;
  }
  prediction = facts::WidenForLoss(missing_share_, prediction);
  // Sums of sizes and times from untrusted peers may overflow to an infinite time.
  if (prediction.end == absl::InfiniteFuture()) {
    prediction = {.at = now};
    reduce.evidence.reset();
  }
  if (prediction.upper == absl::InfiniteFuture()) {
    prediction.lower.reset();
    prediction.upper.reset();
  }
  using Moves = durations::IntervalRecord::Moves;
  // The guess before the first progress rests on no report, so its error indicates nothing about
  // later forecasts.
  const bool is_prior = basis == Basis::kGuess && !monitor::IsOfStages(state_) &&
                        !facts::ReducePhaseStart(state_) &&
                        facts::MapProgress(state_).fraction_done < facts::kPaceFrom;
  durations::IntervalRecord of_prior;
  durations::IntervalRecord& record = is_prior ? of_prior : tracked.record;
  prediction = record.Widen(prediction, stages_.may_grow ? 1 : durations::kWiden,
                            monitor::IsOfStages(state_) ? Moves::kLater : Moves::kAll);
  if (&tracked == &tracked_.front()) {
    prediction = durations::ScaledByPastRuns(prediction, durations::WidthFactor(state_.past_runs));
  }
  if (basis == Basis::kGuess) monitor::RaiseGuess(prediction);
  const absl::Duration grace = monitor::GraceAt(now, state_.started_at);
  // A wrong guess does not make a job late.
  const EndPrediction due = basis == Basis::kGuess ? EndPrediction{.at = now} : prediction;
  const absl::Duration late = tracked.overdue.LateBy(due, EndedIn(snapshot, state_), grace);
  // After the last stage, the interval opens only if the job is overdue.
  const bool is_ending = !stages_.may_grow && !HasStagesLeft(snapshot);
  if (!snapshot.idle_since) {
    if (!is_ending || late > grace) {
      prediction = durations::OpenedByLateness(prediction, late, grace);
    }
  } else if (late > grace) {
    // An idle application that has outlasted its forecast may submit further jobs at any time.
    prediction = {.at = now};
  }
  Indicator shown = {.estimate = monitor::EstimateOf(prediction, late, grace),
                     .evidence = reduce.evidence};
  shown.estimate.indicator = tracked.indicator->name();
  if (&tracked == &tracked_.front() && shown.estimate.remaining) {
    shown.estimate.basis = basis;
    shown.estimate.method = method;
  }
  const auto raised = Show(prediction.at, snapshot, tracked, shown);
  const bool is_silent = silence > absl::ZeroDuration();
  if (&tracked == &tracked_.front() && !is_silent) snapshot.estimate_raised = raised;
  const double& fraction = shown.estimate.fraction_done;
  if (auto& remaining = shown.estimate.remaining; remaining && is_silent) {
    const bool has_interval = remaining->upper || &tracked == &tracked_.front();
    remaining = facts::WidenForSilence(*remaining, snapshot.at - now, silence, listened_);
    tracked.shown.ShowSilent(snapshot.at - state_.started_at, shown.estimate);
    // The record of errors contains the published forecast.
    prediction.end = snapshot.at + remaining->median;
    if (has_interval) {
      prediction.lower = snapshot.at + *remaining->lower;
      prediction.upper = snapshot.at + *remaining->upper;
    } else {  // Only Tidemark's own forecast has an interval.
      remaining = Range{.median = remaining->median};
    }
  }
  if (fraction > 0) {
    prediction.shown_end = state_.started_at + (snapshot.at - state_.started_at) / fraction;
  }
  prediction.at = snapshot.at;
  const bool is_forecast =
      shown.estimate.state == EstimateState::kValid && shown.estimate.basis != Basis::kGuess;
  if (is_forecast && !snapshot.is_final && !tracked.first) tracked.first = prediction;
  tracked.history.Add(prediction);
  if (&tracked == &tracked_.front()) {
    if (auto last = monitor::LastReduceTask(state_, reduce, now)) {
      snapshot.named_tasks.push_back(*std::move(last));
    }
    if (!monitor::IsOfStages(state_)) reduce_ = std::move(reduce);
  }
  return shown;
}

bool JobMonitor::Impl::HasStagesLeft(const Snapshot& snapshot) const {
  return !stages_.expected.empty() || !std::ranges::all_of(snapshot.stages, monitor::HasEnded);
}

RaiseCause JobMonitor::Impl::RaiseCauseOf(const Snapshot& snapshot, EstimateState state) const {
  if (monitor::IsOfStages(state_) && !HasStagesLeft(snapshot)) return RaiseCause::kNotEnded;
  const bool is_any_running = std::ranges::any_of(
      snapshot.stages, [](const StageProgress& stage) { return stage.running_tasks > 0; });
  // A remark reports that past runs are used differently, which also changes the estimate.
  if (!is_any_running || !stages_.remark.empty()) return RaiseCause::kUnknown;
  return state == EstimateState::kOverdue ? RaiseCause::kOverdue : RaiseCause::kSlowerTasks;
}

std::optional<EstimateRaised> JobMonitor::Impl::Show(absl::Time now, const Snapshot& snapshot,
                                                     Tracked& tracked, Indicator& shown) const {
  const absl::Duration elapsed = now - state_.started_at;
  // An expected stage that opens and a stage that is skipped add nothing to the forecast.
  const auto skipped =
      std::ranges::count(snapshot.stages, StageState::kSkipped, &StageProgress::state);
  const std::size_t stages =
      snapshot.stages.size() + stages_.expected.size() - static_cast<std::size_t>(skipped);
  const RaiseCause cause = RaiseCauseOf(snapshot, shown.estimate.state);
  const auto raised =
      tracked.shown.Show(elapsed, static_cast<std::uint32_t>(stages), cause, shown.estimate);
  const double done = shown.estimate.fraction_done;
  const auto reduce_start = facts::ReducePhaseStart(state_);
  if (reduce_start && done > 0) {
    absl::Duration left = elapsed * ((1 - done) / done);
    if (shown.estimate.remaining) left = std::min(left, shown.estimate.remaining->median);
    shown.last_stage_fraction_done = dag::FractionDone(now - *reduce_start, left);
  }
  return raised;
}

void JobMonitor::Impl::NoteDamage(const LogDamage& damage) {
  // Before a job is open, only a copy of its opening event can be lost.
  if (job_.is_final || !state_.opened || damage.records == 0) return;
  has_news_ = true;
  sequence_ += damage.ticks_max;
  LogDamage& all = state_.log_damage;
  if (state_.log_damage_places++ == 0) all.at = damage.at;
  all.bytes = facts::SaturatingAdd(all.bytes, damage.bytes);
  all.records = facts::SaturatingAdd(all.records, damage.records);
}

std::vector<IndicatorError> JobMonitor::Impl::Errors(absl::Time job_end) const {
  const auto reduce_start = facts::ReducePhaseStart(state_);
  const auto reduce_end = facts::ReducePhaseEnd(state_);
  std::vector<IndicatorError> errors;
  for (const Tracked& tracked : tracked_) {
    if (&tracked != &tracked_.front() && monitor::IsOfStages(state_)) break;
    auto predictions = tracked.history.predictions();
    IndicatorError& error = errors.emplace_back();
    error.indicator = tracked.indicator->name();
    const auto of_job = facts::ErrorOf(predictions, state_.started_at, job_end);
    error.job_avg_points = of_job.average_points;
    error.job_max_points = of_job.largest_points;
    if (tracked.first && tracked.first->end) {
      // The end of the job is stored in nanoseconds.
      error.first_forecast =
          absl::Trunc(std::max(*tracked.first->end, tracked.first->at) - state_.started_at,
                      absl::Nanoseconds(1));
      error.first_forecast_after = tracked.first->at - state_.started_at;
    }
    if (!reduce_start || !reduce_end) continue;
    if (monitor::IsOfStages(state_)) predictions = of_reduce_stage_.predictions();
    const auto of_reduce = facts::ErrorOf(predictions, *reduce_start, *reduce_end);
    if (of_reduce.updates == 0) continue;
    error.last_stage_avg_points = of_reduce.average_points;
    error.last_stage_max_points = of_reduce.largest_points;
    error.interval_coverage = facts::IntervalCoverage(predictions, *reduce_start, *reduce_end);
    error.interval_width = facts::IntervalWidth(predictions, *reduce_start, *reduce_end);
  }
  return errors;
}

const dag::AdjustedRuns& JobMonitor::Impl::AdjustedPastRuns() {
  const bool are_others = state_.opened && adjusted_for_ != state_.opened->parameters;
  if (!adjusted_runs_ || are_others) {
    adjusted_runs_ = monitor::AdjustPastRuns(state_);
    if (state_.opened) adjusted_for_ = state_.opened->parameters;
  }
  return *adjusted_runs_;
}

// Adds the estimates of all indicators. The first one estimates the job itself and its reduce
// stage.
void JobMonitor::Impl::AddEstimates(Snapshot& snapshot) {
  // While no master listens, the progress of a job is unknown, as in any other silence.
  const absl::Duration silence = snapshot.state == JobState::kRunning
                                     ? facts::SilentFor(state_, snapshot.at)
                                     : absl::ZeroDuration();
  // Abandoning a job adds no information about it.
  const bool is_informed =
      silence == absl::ZeroDuration() && snapshot.state != JobState::kAbandoned;
  if (is_informed || informed_at_ == absl::InfinitePast()) informed_at_ = snapshot.at;
  missing_share_ = facts::MissingEvidenceShare(state_);
  left_.reset();
  stages_ = {};
  reduce_ = {};
  if (monitor::IsOfStages(state_)) {
    reduce_ = ForecastReduceStage(snapshot.at);
    stages_ = monitor::EstimateStages(state_, informed_at_, tracker_, &AdjustedPastRuns(),
                                      reduce_.left.get());
    // More jobs may come at any time, so an idle application has no end.
    if (snapshot.idle_since && stages_.may_grow) stages_.end.reset();
    for (const std::string* note : {&stages_.problem, &stages_.remark}) {
      if (!note->empty()) snapshot.notes.push_back(*note);
    }
    snapshot.named_tasks = stages_.named_tasks;
    if (auto last = monitor::LastReduceTask(state_, reduce_, informed_at_)) {
      monitor::InsertStraggler(*std::move(last), snapshot.named_tasks);
    }
  }
  for (Tracked& tracked : tracked_) {
    // The other indicators predict reduce phases. For a job of stages, they would repeat the
    // estimate of the first indicator.
    if (&tracked != &tracked_.front() && monitor::IsOfStages(state_)) break;
    Indicator shown = Predict(tracked, silence, snapshot);
    if (&tracked != &tracked_.front()) {
      snapshot.indicators.push_back(std::move(shown));
      continue;
    }
    snapshot.estimate = std::move(shown.estimate);
    StageProgress* const reduce = monitor::ReduceStageOf(snapshot);
    if (reduce == nullptr || reduce->state == StageState::kDone) continue;
    if (!monitor::IsOfStages(state_)) {
      reduce->fraction_done = shown.last_stage_fraction_done;
    } else if (const auto start = facts::ReducePhaseStart(state_); start && reduce_.ends_at) {
      reduce->fraction_done =
          dag::FractionDone(informed_at_ - *start, *reduce_.ends_at - informed_at_);
    }
  }
  if (monitor::IsOfStages(state_)) return;
  if (std::string note = WhyNoEnd(snapshot); !note.empty()) {
    snapshot.notes.push_back(std::move(note));
  }
}

// If the engine reports key groups, estimates the first reduce stage of an application from them,
// since key groups are better evidence than tasks.
ReducePhaseForecast JobMonitor::Impl::ForecastReduceStage(absl::Time now) {
  const facts::Stage* const stage = state_.reduce_stage();
  if (stage == nullptr || stage->closed || tracked_.empty()) return {};
  ReducePhaseForecast reduce = tracked_.front().indicator->Estimate(state_, informed_at_);
  EndPrediction shown = reduce_record_.Widen({.at = informed_at_,
                                              .end = reduce.ends_at,
                                              .lower = reduce.ends_at_lower,
                                              .upper = reduce.ends_at_upper},
                                             durations::kWiden);
  shown.at = now;
  of_reduce_stage_.Add(shown);
  return reduce;
}

void JobMonitor::Impl::Finish(Snapshot& snapshot) const {
  const bool succeeded = snapshot.state == JobState::kSucceeded;
  // Users have seen this estimate. Reports of the tasks that end with the job would change it.
  if (!succeeded) snapshot.estimate = last_running_;
  const auto finish = [succeeded](Estimate& estimate) {
    estimate.state = EstimateState::kFinal;
    estimate.remaining.reset();
    estimate.basis = Basis::kDone;
    estimate.method = EstimateMethod::kUnknown;
    estimate.known_share = 0;
    if (succeeded) estimate.fraction_done = 1;
  };
  if (!tracked_.empty()) finish(snapshot.estimate);
  for (Indicator& other : snapshot.indicators) {
    finish(other.estimate);
    double& last_stage = other.last_stage_fraction_done;
    if (succeeded) last_stage = state_.has_reduce_stage() || last_stage > 0 ? 1 : 0;
  }
  StageProgress* const reduce = monitor::ReduceStageOf(snapshot);
  if (succeeded && reduce != nullptr) reduce->fraction_done = 1;
  snapshot.named_tasks.clear();
  snapshot.estimate_raised.reset();
  snapshot.message = state_.closed ? state_.closed->message
                                   : fmt::format("no event of the job arrived for {}",
                                                 text::DurationText(options_.abandon_after));
  const absl::Time end = state_.closed_at.value_or(snapshot.at);
  snapshot.ended_at = std::max(end, state_.started_at);
  monitor::EndPartsWithJob(snapshot);
  if (succeeded) snapshot.errors = Errors(end);
}

const Snapshot& JobMonitor::Impl::Tick(absl::Time now) {
  has_news_ = false;
  if (job_.is_final) return job_;
  job_ = {};  // Frees the memory for the new snapshot.
  Snapshot snapshot = {.job_id = job_id_,
                       .run_uid = state_.run_uid,
                       .sequence = ++sequence_,
                       .at = now,
                       .state = JobState::kRunning,
                       .info = JobInfo{}};
  tick_steps_ = 1;
  facts::CountTasks(state_);
  if (!state_.opened) return job_ = std::move(snapshot);
  snapshot.state = StateAt(now);
  snapshot.is_final = snapshot.state != JobState::kRunning;
  CountListening(now);
  monitor::AddFacts(state_, listening_since_, notes_, counts_, snapshot);
  AddEstimates(snapshot);
  groups_.AddTo(state_, stages_, informed_at_, listened_, snapshot);
  if (snapshot.is_final) {
    Finish(snapshot);
  } else {
    snapshot.may_grow = stages_.may_grow;
    monitor::AddForecasts(stages_, snapshot);
    held_.Hold(snapshot, /*ends_with_stages=*/!stages_.may_grow);
    held_.HoldReason(state_, now, snapshot.named_tasks);
  }
  std::optional<double> known_share;
  if (stages_.end) known_share = stages_.known_share;
  monitor::Complete(known_share, snapshot);
  if (!snapshot.is_final) last_running_ = snapshot.estimate;
  tick_steps_ = stages_.steps + counts_.TakeSteps() + snapshot.stages.size() +
                snapshot.groups.size() + state_.sources.size() + state_.edges;
  return job_ = std::move(snapshot);
}

JobTasks JobMonitor::Impl::ListTasks(const TaskQuery& query, absl::Time now) const {
  monitor::TasksLeft left = {.at = informed_at_, .of_groups = reduce_.tasks};
  if (monitor::IsOfStages(state_)) {
    left.running = stages_.running;
    left.draws = stages_.left;
  } else {
    left.running = monitor::ReduceTasksLeft(state_, reduce_, informed_at_);
    left.draws = reduce_.left;
  }
  return monitor::ListTasks(state_, left, query, now);
}

JobSummary JobMonitor::Impl::Summary() const {
  JobSummary summary = facts::Summarize(state_);
  if (dag::HasOtherStages(state_)) {
    const absl::Time end = state_.closed_at.value_or(state_.last_arrival_at);
    summary.run = dag::ProfileOf(dag::StagesNow(state_, end));
    if (state_.opened) summary.run.parameters = state_.opened->parameters;
  } else {
    durations::ExplicitEvidence evidence;
    evidence.Update(state_);
    for (std::size_t feature = 0; feature < durations::kCostFeatures; ++feature) {
      summary.run.timed_groups[feature] =
          evidence.Totals(static_cast<durations::CostFeature>(feature));
    }
  }
  if (job_.is_final && job_.ended_at && !tracked_.empty()) {
    summary.interval_score =
        durations::IntervalScore(tracked_.front().history.predictions(), state_.started_at,
                                 *job_.ended_at, durations::WidthFactor(state_.past_runs));
  }
  return summary;
}

std::string JobMonitor::Impl::Checkpoint() const {
  std::ostringstream out;
  facts::CheckpointWriter writer(out);
  writer(facts::kCheckpointLayout, sequence_, missing_share_, informed_at_, listened_,
         listened_until_, held_, reduce_record_, of_reduce_stage_, groups_, last_running_,
         tracked_.size());
  for (const Tracked& tracked : tracked_) {
    writer(tracked.indicator->name(), tracked.record, tracked.history, tracked.shown,
           tracked.overdue, tracked.first);
    tracked.indicator->Save(writer);
  }
  return std::move(out).str();
}

absl::Status JobMonitor::Impl::Resume(const std::string& checkpoint) {
  has_news_ = false;
  // cereal throws if the bytes end too early or sizes are too large.
  try {
    std::istringstream in(checkpoint);
    facts::CheckpointReader reader(in);
    std::uint32_t layout = 0;
    reader(layout);
    if (layout != facts::kCheckpointLayout) {
      return absl::InvalidArgumentError(fmt::format("checkpoint of job {}: layout {}, not {}",
                                                    job_id_, layout, facts::kCheckpointLayout));
    }
    std::size_t count = 0;
    reader(sequence_, missing_share_, informed_at_, listened_, listened_until_, held_,
           reduce_record_, of_reduce_stage_, groups_, last_running_, count);
    bool is_same = count == tracked_.size();
    for (std::size_t i = 0; is_same && i < count; ++i) {
      std::string name;
      reader(name, tracked_[i].record, tracked_[i].history, tracked_[i].shown, tracked_[i].overdue,
             tracked_[i].first);
      is_same = name == tracked_[i].indicator->name();
      if (is_same) tracked_[i].indicator->Resume(reader);
    }
    if (is_same && in.peek() == std::istringstream::traits_type::eof()) return absl::OkStatus();
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(
        fmt::format("checkpoint of job {}: {}", job_id_, error.what()));
  }
  return absl::InvalidArgumentError(
      fmt::format("the checkpoint of job {} was created with different indicators", job_id_));
}

std::vector<std::string> KnownIndicators() {
  std::vector<std::string> names = {kTidemark, kTidemarkWithoutSignals};
  for (std::string& method : papers::JobMethods()) names.push_back(std::move(method));
  return names;
}

std::vector<std::string> ComparedIndicators() {
  return {"tidemark", "nearestfit", "hadoop", "jobratio", "taskratio"};
}

absl::Status Validate(const JobMonitorOptions& options) {
  if (options.indicators.empty()) {
    return absl::InvalidArgumentError("indicators: at least one is needed");
  }
  const std::vector<std::string> known = KnownIndicators();
  for (const std::string& name : options.indicators) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(
        fmt::format("unknown indicator {}; indicators: {}", name, fmt::join(known, ", ")));
  }
  if (options.lambda == 0) return absl::InvalidArgumentError("lambda: must be at least 1");
  if (options.abandon_after <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("abandon_after: must be positive");
  }
  return absl::OkStatus();
}

JobMonitor::JobMonitor(std::string job_id, const JobMonitorOptions& options)
    : impl_(std::make_unique<Impl>(std::move(job_id), options)) {}
JobMonitor::JobMonitor(JobMonitor&&) noexcept = default;
JobMonitor& JobMonitor::operator=(JobMonitor&&) noexcept = default;
JobMonitor::~JobMonitor() = default;

JobMonitor JobMonitor::OfEnded(const Snapshot& final,
                               const std::vector<AcceptedSequence>& sources) {
  JobMonitor monitor(final.job_id, {.indicators = {}, .lambda = 1});
  facts::JobRecord& state = monitor.impl_->state_;
  for (const AcceptedSequence& source : sources) {
    state.sources[source.source_id].accepted_sequence = source.sequence;
  }
  state.opened.emplace();
  state.run_uid = final.run_uid;
  state.started_at = final.started_at.value_or(final.at);
  state.closed.emplace();
  monitor.impl_->job_ = final;
  return monitor;
}

absl::Status JobMonitor::CheckRun(const Event& event) const {
  return facts::CheckRun(event, impl_->state_, impl_->AbandonedAt(), impl_->listening_since_);
}
absl::Status JobMonitor::Apply(const Event& event) {
  impl_->has_news_ = true;
  return facts::Apply(event, impl_->options_.limits, impl_->state_);
}
const Snapshot& JobMonitor::Tick(absl::Time now) { return impl_->Tick(now); }
const Snapshot& JobMonitor::job() const { return impl_->job_; }
std::string JobMonitor::Checkpoint() const { return impl_->Checkpoint(); }
absl::Status JobMonitor::Resume(const std::string& checkpoint) { return impl_->Resume(checkpoint); }
std::size_t JobMonitor::state_bytes() const { return impl_->state_.memory_bytes; }
bool JobMonitor::is_open() const { return impl_->state_.opened.has_value(); }
bool JobMonitor::wants_points() const {
  return std::ranges::any_of(impl_->tracked_, [](const Impl::Tracked& tracked) {
    return tracked.indicator->name() == kWantsPoints;
  });
}
bool JobMonitor::has_news() const { return impl_->has_news_; }
std::size_t JobMonitor::tick_steps() const { return impl_->tick_steps_; }
const std::string& JobMonitor::name() const {
  static const std::string* const unknown = new std::string;
  return is_open() ? impl_->state_.opened->name : *unknown;
}
std::string JobMonitor::history_name() const {
  return is_open() ? facts::HistoryNameOf(*impl_->state_.opened) : "";
}
const JobOpened* JobMonitor::opened() const { return is_open() ? &*impl_->state_.opened : nullptr; }
bool JobMonitor::is_closed() const {
  return impl_->job_.is_final || impl_->state_.closed.has_value();
}
const std::string& JobMonitor::run_uid() const { return impl_->state_.run_uid; }
std::uint64_t JobMonitor::accepted_sequence(const std::string& source_id) const {
  const auto source = impl_->state_.sources.find(source_id);
  return source == impl_->state_.sources.end() ? 0 : source->second.accepted_sequence;
}
JobSummary JobMonitor::Summary() const { return impl_->Summary(); }
JobTasks JobMonitor::ListTasks(const TaskQuery& query, absl::Time now) const {
  return impl_->ListTasks(query, now);
}
std::vector<PastForecast> JobMonitor::PastForecasts(std::size_t most) const {
  if (impl_->tracked_.empty()) return {};
  return monitor::ThinnedForecasts(impl_->tracked_.front().history.predictions(),
                                   impl_->state_.started_at, most);
}
const std::vector<StageForecast>& JobMonitor::stage_forecasts() const {
  return impl_->stages_.stages;
}
std::vector<AcceptedSequence> JobMonitor::accepted_sequences() const {
  std::vector<AcceptedSequence> sequences;
  for (const auto& [id, source] : impl_->state_.sources) {
    sequences.push_back({id, source.accepted_sequence});
  }
  std::ranges::sort(sequences, {}, &AcceptedSequence::source_id);
  return sequences;
}
NamedGroups JobMonitor::wanted_names() const {
  const facts::KeyDistribution& keys = impl_->state_.keys;
  return {.bytes_min = keys.recent_smallest_explicit_bytes(),
          .sampled_below = keys.sample().below(),
          .sampled_below_per_byte = keys.sample().below_per_byte()};
}
void JobMonitor::NoteRestart(absl::Time now, const std::optional<JobLimits>& limits) {
  impl_->listening_since_ = std::max(impl_->listening_since_, now);
  if (limits) impl_->options_.limits = *limits;
}
void JobMonitor::NoteGap(absl::Time now) {
  impl_->state_.last_gap_at = std::max(impl_->state_.last_gap_at, now);
}
std::shared_ptr<const durations::RemainingStages> JobMonitor::stages_left() const {
  return impl_->left_;
}
void JobMonitor::SetPastRuns(std::vector<PastRun> runs) {
  if (runs.size() > kPastRunsMax) runs.resize(kPastRunsMax);
  facts::JobRecord& state = impl_->state_;
  state.memory_bytes -= BytesOf(state.past_runs);
  state.past_runs = std::move(runs);
  state.memory_bytes += BytesOf(state.past_runs);
  impl_->adjusted_runs_.reset();
}
void JobMonitor::NoteDamage(const LogDamage& damage) { impl_->NoteDamage(damage); }
void JobMonitor::CountRejected(const AcceptedSequence& event) {
  facts::Refuse(event, impl_->options_.limits, impl_->state_);
}
void JobMonitor::AddNote(const std::string& note) {
  std::vector<std::string>& notes = impl_->notes_;
  const bool is_known = std::ranges::find(notes, note) != notes.end();
  if (!is_known && notes.size() < kNotesMax) notes.push_back(note);
}

}  // namespace tidemark
