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
#include "master/facts/saturating.h"
#include "master/facts/silence.h"
#include "master/forecast/dag/application_estimate.h"
#include "master/forecast/dag/foretold_runs.h"
#include "master/forecast/dag/shown_progress.h"
#include "master/forecast/dag/stages_now.h"
#include "master/forecast/durations/interval_record.h"
#include "master/forecast/durations/interval_score.h"
#include "master/forecast/durations/overdue.h"
#include "master/forecast/durations/past_runs.h"
#include "master/forecast/maps_left.h"
#include "master/forecast/placement/placing.h"
#include "master/forecast/progress_indicator.h"
#include "master/monitor/held_forecasts.h"
#include "master/monitor/indicators.h"
#include "master/monitor/job_snapshot.h"
#include "master/monitor/stages_estimate.h"
#include "master/monitor/straggler.h"
#include "master/monitor/stragglers.h"
#include "master/monitor/task_list.h"
#include "text/duration_text.h"

namespace tidemark {
namespace {

using model::EndPrediction;
using model::ReducePhaseForecast;

// Past its predicted end a job is still "about to end" for this long, or this part of its run; no
// end is known more closely.
constexpr absl::Duration kOverdueAfter = absl::Seconds(2);
constexpr double kOverdueShare = 0.02;
constexpr std::size_t kNotesMax = 16;
// The indicator that is made of points; all others do with bins.
constexpr std::string_view kWantsPoints = "nearestfit";

// Counts the stages, attempts and key groups that have ended, well or not. O(stages + reduce
// tasks).
std::uint64_t EndedIn(const Snapshot& snapshot, const model::JobRecord& state) {
  std::uint64_t ended = 0;
  for (const StageProgress& stage : snapshot.stages) {
    const bool is_over = stage.ended_at || stage.state == StageState::kSkipped;
    ended += stage.finished_tasks + stage.failed_attempts + (is_over ? 1 : 0);
  }
  for (const model::Task& task : state.reduce_tasks()) {
    for (const auto& [number, attempt] : task.attempts) {
      ended = model::SaturatingAdd(ended, attempt.reduce->groups_done);
    }
  }
  return ended;
}

std::size_t BytesOf(const RunProfile& run) {
  std::size_t bytes = model::BytesOf(run.parameters);
  for (const StageProfile& stage : run.stages) {
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
    // As it was, and as it would have been with other parameters.
    bytes += BytesOf(run.stages) * (run.stages.parameters.empty() ? 1 : 2);
  }
  return bytes;
}

}  // namespace

class JobMonitor::Impl {
 public:
  Impl(std::string job_id, const JobMonitorOptions& options)
      : job_id_(std::move(job_id)), options_(options), state_(options.lambda) {
    for (const std::string& name : options.indicators) {
      if (auto indicator = monitor::MakeIndicator(name)) {
        tracked_.push_back({.indicator = std::move(indicator)});
      }
    }
  }

  void End(const Snapshot& final, const std::vector<AcceptedSequence>& sources) {
    for (const AcceptedSequence& source : sources) {
      state_.sources[source.source_id].accepted_sequence = source.sequence;
    }
    state_.opened.emplace();
    state_.run_uid = final.run_uid;
    state_.started_at = final.started_at.value_or(final.at);
    state_.closed.emplace();
    job_ = final;
  }

  absl::Status CheckRun(const Event& event) const {
    return model::CheckRun(event, state_, GivenUpAt(), listening_since_);
  }

  absl::Status Apply(const Event& event) {
    has_news_ = true;
    return model::Apply(event, options_.limits, state_);
  }

  void SetPastRuns(std::vector<PastRun> runs) {
    state_.memory_bytes -= BytesOf(state_.past_runs);
    state_.past_runs = std::move(runs);
    state_.memory_bytes += BytesOf(state_.past_runs);
    foretold_.reset();
  }

  void Refuse(const AcceptedSequence& event) { model::Refuse(event, options_.limits, state_); }

  const Snapshot& Tick(absl::Time now);

  bool IsClosed() const { return job_.is_final || state_.closed.has_value(); }

  const std::vector<StageForecast>& stage_forecasts() const { return stages_.stages; }
  JobTasks ListTasks(const TaskQuery& query, absl::Time now) const;
  std::vector<PastForecast> PastForecasts(std::size_t most) const {
    if (tracked_.empty()) return {};
    return monitor::ThinnedForecasts(tracked_.front().history.predictions(), state_.started_at,
                                     most);
  }
  JobSummary Summary() const;
  const Snapshot& job() const { return job_; }
  const model::JobRecord& state() const { return state_; }
  model::JobRecord& state() { return state_; }
  bool has_news() const { return has_news_; }
  std::size_t tick_steps() const { return tick_steps_; }
  bool wants_points() const {
    return std::any_of(tracked_.begin(), tracked_.end(), [](const Tracked& tracked) {
      return tracked.indicator->name() == kWantsPoints;
    });
  }
  std::string Checkpoint() const;
  absl::Status Resume(const std::string& checkpoint);
  void NoteRestart(absl::Time now, const std::optional<JobLimits>& limits) {
    listening_since_ = std::max(listening_since_, now);
    if (limits) options_.limits = *limits;
  }
  void NoteGap(absl::Time now) { state_.last_gap_at = std::max(state_.last_gap_at, now); }
  std::shared_ptr<const cost::StagesLeft> stages_left() const { return left_; }
  void NoteDamage(const LogDamage& damage);
  void AddNote(const std::string& note) {
    const bool known = std::find(notes_.begin(), notes_.end(), note) != notes_.end();
    if (!known && notes_.size() < kNotesMax) notes_.push_back(note);
  }

 private:
  struct Tracked {
    std::unique_ptr<model::ProgressIndicator> indicator;
    model::IntervalRecord record;
    model::PredictionHistory history;
    model::LatestEnd latest_end;
    model::Overdue overdue;
  };

  // Both set left_. PredictMaps() sets `basis` unless it is this run.
  EndPrediction PredictMaps(absl::Time now, Basis& basis);
  EndPrediction PredictStages(absl::Time now);
  ReducePhaseForecast ForecastReduceStage(absl::Time now);
  // Returns the indicator's current estimate, which may be below the one shown before. Adds to its
  // history and, for the first indicator, sets left_ and names a task in `snapshot`.
  Indicator Predict(Tracked& tracked, absl::Duration silence, Snapshot& snapshot);
  Estimate Describe(const EndPrediction& prediction, absl::Duration late,
                    const std::string& name) const;
  absl::Duration GraceAt(absl::Time now) const;
  // Sets the fractions that `said` bears.
  void Show(absl::Time now, Tracked& tracked, Indicator& said) const;
  absl::Time GivenUpAt() const;
  JobState StateAt(absl::Time now) const;
  // Made again only when the job tells of its parameters.
  const workflow::ForetoldRuns& Foretold();
  void AddEstimates(Snapshot& snapshot);
  // Of a job that has not succeeded, how sure its fractions were.
  void KeepBounds(Snapshot& snapshot) const;
  void Finish(Snapshot& snapshot) const;
  std::vector<IndicatorError> Errors(absl::Time job_end) const;

  std::string job_id_;
  JobMonitorOptions options_;
  model::JobRecord state_;
  std::vector<Tracked> tracked_;
  std::vector<std::string> notes_;
  std::uint64_t sequence_ = 0;
  bool has_news_ = false;
  std::size_t tick_steps_ = 0;
  double lost_share_ = 0;                              // of the evidence, at the last Tick()
  absl::Time listening_since_ = absl::InfinitePast();  // the last NoteRestart()
  absl::Time informed_at_ = absl::InfinitePast();      // the last Tick() without silence
  std::optional<workflow::ForetoldRuns> foretold_;     // from its earlier runs ...
  std::map<std::string, std::string> foretold_for_;    // ... for these parameters
  monitor::StageCounts counts_;
  workflow::StagesTracker tracker_;
  monitor::StagesEstimate stages_;            // at the last Tick()
  ReducePhaseForecast reduce_;                // likewise, by the first indicator
  model::IntervalRecord reduce_record_;       // of it
  model::PredictionHistory of_reduce_stage_;  // its predictions at all ticks
  model::ShownProgress shown_;
  std::map<std::string, model::LatestEnd> group_ends_;  // of groups that have not ended
  monitor::HeldForecasts held_;
  std::shared_ptr<const cost::StagesLeft> left_;  // by the first indicator
  Snapshot job_;                                  // what Tick() returned last
};

// That nothing was heard while no master listened does not end a job.
absl::Time JobMonitor::Impl::GivenUpAt() const {
  return std::max(state_.last_arrival_at, listening_since_) + options_.abandon_after;
}

JobState JobMonitor::Impl::StateAt(absl::Time now) const {
  if (state_.closed) return monitor::StateAfter(state_.closed->outcome);
  return now > GivenUpAt() ? JobState::kAbandoned : JobState::kRunning;
}

// Predicts the end of a job without a reduce phase from its map tasks and its past runs.
EndPrediction JobMonitor::Impl::PredictMaps(absl::Time now, Basis& basis) {
  EndPrediction prediction{.at = now};
  // More may come than has been heard of.
  const model::Stage* const stage = state_.map_stage();
  if (stage == nullptr || !stage->opened.task_count) return prediction;
  const StageProgress maps = model::MapProgress(state_);
  if (maps.state == StageState::kDone) {
    prediction.end = prediction.lower = prediction.upper = maps.ended_at;
    return prediction;
  }
  const cost::FixedDraws& draws = cost::FixedDraws::For(state_.map_tasks().size());
  std::optional<model::MapsLeft> own = model::EstimateMaps(state_, now, draws);
  std::optional<estimate::Range> end;
  if (own) end = own->estimate.end;
  const auto own_ends = own ? std::optional(own->estimate.ends) : std::nullopt;
  if (auto seconds = cost::SecondsByPastRuns(state_, now, state_.past_runs, draws, own_ends)) {
    end = estimate::RangeOf(*std::move(seconds));
  }
  if (!end) return prediction;
  if (own) {
    // In a shared cluster a stage gets only the slots that other jobs leave.
    own->application.stages[0].work.at_once_max = schedule::kNoLimit;
    left_ = std::make_shared<const cost::StagesLeft>(cost::StagesLeft{
        .stages = std::move(own->application.stages), .ends = std::move(own->estimate.ends)});
  } else {
    basis = Basis::kEarlierRuns;
  }
  prediction.end = now + absl::Seconds(end->median);
  prediction.lower = now + absl::Seconds(end->lower);
  prediction.upper =
      now + absl::Seconds(std::min(end->upper, model::kRemainingUpperMax * end->median));
  return prediction;
}

// Of a job of stages of any kind.
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

// What was not reported for `silence` is estimated as before; how much longer it takes
// until the next report is not known.
Indicator JobMonitor::Impl::Predict(Tracked& tracked, absl::Duration silence, Snapshot& snapshot) {
  const absl::Time now = informed_at_;
  EndPrediction prediction{.at = now};
  Basis basis = Basis::kThisRun;
  ReducePhaseForecast reduce;
  if (monitor::IsOfStages(state_)) {
    prediction = PredictStages(now);
    basis = stages_.basis;
  } else if (!state_.has_reduce_stage()) {
    prediction = PredictMaps(now, basis);
  } else {
    reduce = tracked.indicator->Estimate(state_, now);
    if (&tracked == &tracked_.front()) left_ = reduce.left;
    prediction.end = reduce.ends_at;
    prediction.lower = reduce.ends_at_lower;
    prediction.upper = reduce.ends_at_upper;
    basis = reduce.basis;
  }
  prediction = model::WidenedFor(lost_share_, prediction);
  // Hostile sizes and times add up to ends that are no instant.
  if (prediction.end == absl::InfiniteFuture()) {
    prediction = {.at = now};
    reduce.evidence.reset();
  }
  if (prediction.upper == absl::InfiniteFuture()) {
    prediction.lower.reset();
    prediction.upper.reset();
  }
  prediction = tracked.record.Widen(prediction);
  if (&tracked == &tracked_.front()) {
    prediction = model::ByEarlierRuns(prediction, model::WidthFactor(state_.past_runs));
  }
  const absl::Duration grace = GraceAt(now);
  // A wrong guess has broken no promise.
  const EndPrediction promised = basis == Basis::kGuess ? EndPrediction{.at = now} : prediction;
  const absl::Duration late = tracked.overdue.LateBy(promised, EndedIn(snapshot, state_), grace);
  prediction = model::OpenedByLateness(prediction, late, grace);
  Indicator said = {.estimate = Describe(prediction, late, tracked.indicator->name()),
                    .evidence = reduce.evidence};
  if (&tracked == &tracked_.front() && said.estimate.remaining) said.estimate.basis = basis;
  Show(prediction.at, tracked, said);
  if (auto& remaining = said.estimate.remaining; remaining && silence > absl::ZeroDuration()) {
    remaining = model::OpenedBySilence(*remaining, snapshot.at - now, silence);
    // For the record of errors: what is said now, not what was said then.
    prediction.end = snapshot.at + remaining->median;
    prediction.lower = snapshot.at + *remaining->lower;
    prediction.upper = snapshot.at + *remaining->upper;
  }
  prediction.at = snapshot.at;
  tracked.history.Add(prediction);
  if (&tracked == &tracked_.front()) {
    if (auto last = model::FindStraggler(state_, reduce, now)) {
      snapshot.named_tasks.push_back(*std::move(last));
    }
    if (!monitor::IsOfStages(state_)) reduce_ = std::move(reduce);
  }
  return said;
}

absl::Duration JobMonitor::Impl::GraceAt(absl::Time now) const {
  return std::max(kOverdueAfter, kOverdueShare * (now - state_.started_at));
}

Estimate JobMonitor::Impl::Describe(const EndPrediction& prediction, absl::Duration late,
                                    const std::string& name) const {
  Estimate estimate = {.state = EstimateState::kWarmingUp, .indicator = name};
  if (!prediction.end) return estimate;
  const absl::Time now = prediction.at;
  const absl::Duration grace = GraceAt(now);
  if (now - *prediction.end > grace) {
    estimate.state = EstimateState::kOverdue;
    return estimate;
  }
  estimate.state = late > grace ? EstimateState::kOverdue : EstimateState::kValid;
  const auto left = [now](absl::Time end) { return std::max(end - now, absl::ZeroDuration()); };
  Range& remaining = estimate.remaining.emplace();
  remaining.median = left(*prediction.end);
  if (prediction.lower) remaining.lower = left(*prediction.lower);
  if (prediction.upper) remaining.upper = std::max(left(*prediction.upper), grace);
  return estimate;
}

void JobMonitor::Impl::Show(absl::Time now, Tracked& tracked, Indicator& said) const {
  absl::Time end = absl::InfiniteFuture();
  // In its first instants the first key groups of all may have ended: small ones, as a rule.
  const bool has_just_begun = now - state_.started_at < model::kHeldFor;
  if (const auto& remaining = said.estimate.remaining; remaining && !has_just_begun) {
    end = now + model::FlooredRemaining(remaining->median, remaining->upper);
    if (stages_.end) {
      end = std::max(end,
                     now + model::UnknownRemaining(now - state_.started_at, stages_.known_share));
    }
  }
  const absl::Duration held_for = model::HeldFor(now - state_.started_at, stages_.may_grow);
  const absl::Duration left = tracked.latest_end.Hold(now, end, held_for) - now;
  said.estimate.fraction_done = model::FractionDone(now - state_.started_at, left);
  if (const auto reduce_start = model::ReducePhaseStart(state_)) {
    said.last_stage_fraction_done = model::FractionDone(now - *reduce_start, left);
  }
}

void JobMonitor::Impl::NoteDamage(const LogDamage& damage) {
  // Before a job is open nothing but a copy of its opening can be lost.
  if (job_.is_final || !state_.opened || damage.records == 0) return;
  has_news_ = true;
  sequence_ += damage.ticks_max;
  LogDamage& all = state_.log_damage;
  if (state_.log_damage_places++ == 0) all.at = damage.at;
  all.bytes = model::SaturatingAdd(all.bytes, damage.bytes);
  all.records = model::SaturatingAdd(all.records, damage.records);
}

std::vector<IndicatorError> JobMonitor::Impl::Errors(absl::Time job_end) const {
  const auto reduce_start = model::ReducePhaseStart(state_);
  const auto reduce_end = model::ReducePhaseEnd(state_);
  std::vector<IndicatorError> errors;
  for (const Tracked& tracked : tracked_) {
    auto predictions = tracked.history.predictions();
    IndicatorError& error = errors.emplace_back();
    error.indicator = tracked.indicator->name();
    const auto of_job = model::ErrorOf(predictions, state_.started_at, job_end);
    error.job_avg_points = of_job.average_points;
    error.job_max_points = of_job.largest_points;
    if (!reduce_start || !reduce_end) continue;
    if (monitor::IsOfStages(state_)) {
      if (&tracked != &tracked_.front()) continue;
      predictions = of_reduce_stage_.predictions();
    }
    const auto of_reduce = model::ErrorOf(predictions, *reduce_start, *reduce_end);
    if (of_reduce.updates == 0) continue;
    error.last_stage_avg_points = of_reduce.average_points;
    error.last_stage_max_points = of_reduce.largest_points;
    error.interval_coverage = model::IntervalCoverage(predictions, *reduce_start, *reduce_end);
    error.interval_width = model::IntervalWidth(predictions, *reduce_start, *reduce_end);
  }
  return errors;
}

const workflow::ForetoldRuns& JobMonitor::Impl::Foretold() {
  const bool are_others = state_.opened && foretold_for_ != state_.opened->parameters;
  if (!foretold_ || are_others) {
    foretold_ = monitor::ForetellRuns(state_);
    if (state_.opened) foretold_for_ = state_.opened->parameters;
  }
  return *foretold_;
}

// What all indicators say, the first for the job itself and its reduce stage.
void JobMonitor::Impl::AddEstimates(Snapshot& snapshot) {
  // What it did while no master listened is as unknown as what it does unheard.
  const absl::Duration silence = snapshot.state == JobState::kRunning
                                     ? model::SilentFor(state_, snapshot.at)
                                     : absl::ZeroDuration();
  // That a job is given up is no news of it.
  const bool is_informed =
      silence == absl::ZeroDuration() && snapshot.state != JobState::kAbandoned;
  if (is_informed || informed_at_ == absl::InfinitePast()) informed_at_ = snapshot.at;
  lost_share_ = model::LostShare(state_);
  left_.reset();
  stages_ = {};
  reduce_ = {};
  if (monitor::IsOfStages(state_)) {
    reduce_ = ForecastReduceStage(snapshot.at);
    stages_ =
        monitor::EstimateStages(state_, informed_at_, tracker_, &Foretold(), reduce_.left.get());
    for (const std::string* note : {&stages_.problem, &stages_.remark}) {
      if (!note->empty()) snapshot.notes.push_back(*note);
    }
    snapshot.named_tasks = stages_.named_tasks;
    if (auto last = model::FindStraggler(state_, reduce_, informed_at_)) {
      monitor::NameStraggler(*std::move(last), snapshot.named_tasks);
    }
  }
  for (Tracked& tracked : tracked_) {
    Indicator said = Predict(tracked, silence, snapshot);
    if (&tracked != &tracked_.front()) {
      snapshot.indicators.push_back(std::move(said));
      continue;
    }
    snapshot.estimate = std::move(said.estimate);
    StageProgress* const reduce = monitor::ReduceStageOf(snapshot);
    if (reduce == nullptr || reduce->state == StageState::kDone) continue;
    if (!monitor::IsOfStages(state_)) {
      reduce->fraction_done = said.last_stage_fraction_done;
    } else if (const auto start = model::ReducePhaseStart(state_); start && reduce_.ends_at) {
      reduce->fraction_done =
          model::FractionDone(informed_at_ - *start, *reduce_.ends_at - informed_at_);
    }
  }
}

// Of an engine that shows key groups, they tell more of the first reduce stage of an application
// than tasks do.
ReducePhaseForecast JobMonitor::Impl::ForecastReduceStage(absl::Time now) {
  const model::Stage* const stage = state_.reduce_stage();
  if (stage == nullptr || stage->closed || tracked_.empty()) return {};
  ReducePhaseForecast reduce = tracked_.front().indicator->Estimate(state_, informed_at_);
  EndPrediction said = reduce_record_.Widen({.at = informed_at_,
                                             .end = reduce.ends_at,
                                             .lower = reduce.ends_at_lower,
                                             .upper = reduce.ends_at_upper});
  said.at = now;
  of_reduce_stage_.Add(said);
  return reduce;
}

void JobMonitor::Impl::KeepBounds(Snapshot& snapshot) const {
  const absl::Duration silence = model::SilentFor(state_, snapshot.at);  // of an abandoned job
  const absl::Duration unheard = snapshot.at - informed_at_;
  const auto keep = [&](std::optional<double> known_share, Estimate& estimate) {
    auto& remaining = estimate.remaining;
    if (remaining && silence > absl::ZeroDuration()) {
      remaining = model::OpenedBySilence(*remaining, unheard, silence);
    }
    monitor::KeepBounds(known_share, snapshot.elapsed(), estimate);
  };
  std::optional<double> known_share;
  if (snapshot.info->kind == JobKind::kApplication && stages_.end) {
    const Basis basis = snapshot.estimate.basis;
    const bool is_backed = basis == Basis::kEarlierRuns || basis == Basis::kThisRun;
    known_share = is_backed ? stages_.known_share : 0;
  }
  keep(known_share, snapshot.estimate);
  for (Indicator& other : snapshot.indicators) keep(std::nullopt, other.estimate);
}

void JobMonitor::Impl::Finish(Snapshot& snapshot) const {
  const bool succeeded = snapshot.state == JobState::kSucceeded;
  const auto finish = [succeeded](Estimate& estimate) {
    estimate.state = EstimateState::kFinal;
    estimate.remaining.reset();
    estimate.basis = Basis::kDone;
    if (succeeded) estimate.fraction_done = 1;
  };
  if (!succeeded) KeepBounds(snapshot);
  if (!tracked_.empty()) finish(snapshot.estimate);
  for (Indicator& other : snapshot.indicators) {
    finish(other.estimate);
    double& last_stage = other.last_stage_fraction_done;
    if (succeeded) last_stage = state_.has_reduce_stage() || last_stage > 0 ? 1 : 0;
  }
  StageProgress* const reduce = monitor::ReduceStageOf(snapshot);
  if (succeeded && reduce != nullptr) reduce->fraction_done = 1;
  snapshot.named_tasks.clear();
  snapshot.message = state_.closed ? state_.closed->message
                                   : fmt::format("no news of the job for {}",
                                                 text::DurationText(options_.abandon_after));
  const absl::Time end = state_.closed_at.value_or(snapshot.at);
  snapshot.ended_at = std::max(end, state_.started_at);
  monitor::EndPartsWithJob(snapshot);
  if (succeeded) snapshot.errors = Errors(end);
}

const Snapshot& JobMonitor::Impl::Tick(absl::Time now) {
  has_news_ = false;
  if (job_.is_final) return job_;
  job_ = {};  // its memory is that of the new one
  Snapshot snapshot = {.job_id = job_id_,
                       .run_uid = state_.run_uid,
                       .sequence = ++sequence_,
                       .at = now,
                       .state = JobState::kRunning,
                       .info = JobInfo{}};
  tick_steps_ = 1;
  if (!state_.opened) return job_ = std::move(snapshot);
  snapshot.state = StateAt(now);
  snapshot.is_final = snapshot.state != JobState::kRunning;
  monitor::AddFacts(state_, listening_since_, notes_, counts_, snapshot);
  AddEstimates(snapshot);
  monitor::AddGroups(state_, stages_, informed_at_, group_ends_, snapshot);
  shown_.NeverBack(snapshot);
  if (snapshot.is_final) {
    Finish(snapshot);
  } else {
    monitor::AddForecasts(stages_, snapshot);
    held_.Hold(snapshot, /*ends_with_stages=*/!stages_.may_grow);
  }
  std::optional<double> known_share;
  if (stages_.end) known_share = stages_.known_share;
  monitor::Complete(known_share, snapshot);
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
  JobSummary summary = model::Summarize(state_);
  if (workflow::HasOtherStages(state_)) {
    const absl::Time end = state_.closed_at.value_or(state_.last_arrival_at);
    summary.stages = workflow::ProfileOf(workflow::StagesNow(state_, end));
    if (state_.opened) summary.stages.parameters = state_.opened->parameters;
  }
  if (job_.is_final && job_.ended_at && !tracked_.empty()) {
    summary.interval_score =
        model::IntervalScore(tracked_.front().history.predictions(), state_.started_at,
                             *job_.ended_at, model::WidthFactor(state_.past_runs));
  }
  return summary;
}

std::string JobMonitor::Impl::Checkpoint() const {
  std::ostringstream out;
  model::CheckpointWriter writer(out);
  writer(model::kCheckpointLayout, sequence_, lost_share_, informed_at_, shown_, held_,
         reduce_record_, of_reduce_stage_, group_ends_, tracked_.size());
  for (const Tracked& tracked : tracked_) {
    writer(tracked.indicator->name(), tracked.record, tracked.history, tracked.latest_end,
           tracked.overdue);
    tracked.indicator->Save(writer);
  }
  return std::move(out).str();
}

absl::Status JobMonitor::Impl::Resume(const std::string& checkpoint) {
  has_news_ = false;
  // The library throws where the bytes end too early or sizes are absurd.
  try {
    std::istringstream in(checkpoint);
    model::CheckpointReader reader(in);
    std::uint32_t layout = 0;
    reader(layout);
    if (layout != model::kCheckpointLayout) {
      return absl::InvalidArgumentError(fmt::format("checkpoint of job {}: layout {}, not {}",
                                                    job_id_, layout, model::kCheckpointLayout));
    }
    std::size_t count = 0;
    reader(sequence_, lost_share_, informed_at_, shown_, held_, reduce_record_, of_reduce_stage_,
           group_ends_, count);
    bool is_same = count == tracked_.size();
    for (std::size_t i = 0; is_same && i < count; ++i) {
      std::string name;
      reader(name, tracked_[i].record, tracked_[i].history, tracked_[i].latest_end,
             tracked_[i].overdue);
      is_same = name == tracked_[i].indicator->name();
      if (is_same) tracked_[i].indicator->Resume(reader);
    }
    if (is_same && in.peek() == std::istringstream::traits_type::eof()) return absl::OkStatus();
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(
        fmt::format("checkpoint of job {}: {}", job_id_, error.what()));
  }
  return absl::InvalidArgumentError(
      fmt::format("checkpoint of job {}: made with other indicators", job_id_));
}

std::vector<std::string> KnownIndicators() { return monitor::IndicatorNames(); }

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
    return absl::InvalidArgumentError("abandon_after: must be above zero");
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
  monitor.impl_->End(final, sources);
  return monitor;
}

absl::Status JobMonitor::CheckRun(const Event& event) const { return impl_->CheckRun(event); }
absl::Status JobMonitor::Apply(const Event& event) { return impl_->Apply(event); }
const Snapshot& JobMonitor::Tick(absl::Time now) { return impl_->Tick(now); }
const Snapshot& JobMonitor::job() const { return impl_->job(); }
std::string JobMonitor::Checkpoint() const { return impl_->Checkpoint(); }
absl::Status JobMonitor::Resume(const std::string& checkpoint) { return impl_->Resume(checkpoint); }
std::size_t JobMonitor::state_bytes() const { return impl_->state().memory_bytes; }
bool JobMonitor::is_open() const { return impl_->state().opened.has_value(); }
bool JobMonitor::wants_points() const { return impl_->wants_points(); }
bool JobMonitor::has_news() const { return impl_->has_news(); }
std::size_t JobMonitor::tick_steps() const { return impl_->tick_steps(); }
const std::string& JobMonitor::name() const {
  static const std::string* const unknown = new std::string;
  const model::JobRecord& state = impl_->state();
  return state.opened ? state.opened->name : *unknown;
}
bool JobMonitor::is_closed() const { return impl_->IsClosed(); }
const std::string& JobMonitor::run_uid() const { return impl_->state().run_uid; }
std::uint64_t JobMonitor::accepted_sequence(const std::string& source_id) const {
  const auto source = impl_->state().sources.find(source_id);
  return source == impl_->state().sources.end() ? 0 : source->second.accepted_sequence;
}
JobSummary JobMonitor::Summary() const { return impl_->Summary(); }
JobTasks JobMonitor::ListTasks(const TaskQuery& query, absl::Time now) const {
  return impl_->ListTasks(query, now);
}
std::vector<PastForecast> JobMonitor::PastForecasts(std::size_t most) const {
  return impl_->PastForecasts(most);
}
const std::vector<StageForecast>& JobMonitor::stage_forecasts() const {
  return impl_->stage_forecasts();
}
std::vector<AcceptedSequence> JobMonitor::accepted_sequences() const {
  std::vector<AcceptedSequence> sequences;
  for (const auto& [id, source] : impl_->state().sources) {
    sequences.push_back({id, source.accepted_sequence});
  }
  std::sort(sequences.begin(), sequences.end(),
            [](const auto& a, const auto& b) { return a.source_id < b.source_id; });
  return sequences;
}
NamedGroups JobMonitor::wanted_names() const {
  const model::KeyDistribution& keys = impl_->state().keys;
  return {.bytes_min = keys.recent_smallest_explicit_bytes(),
          .sampled_below = keys.sample().below()};
}
void JobMonitor::NoteRestart(absl::Time now, const std::optional<JobLimits>& limits) {
  impl_->NoteRestart(now, limits);
}
void JobMonitor::NoteGap(absl::Time now) { impl_->NoteGap(now); }
std::shared_ptr<const cost::StagesLeft> JobMonitor::stages_left() const {
  return impl_->stages_left();
}
void JobMonitor::SetPastRuns(std::vector<PastRun> runs) {
  if (runs.size() > kPastRunsMax) runs.resize(kPastRunsMax);
  impl_->SetPastRuns(std::move(runs));
}
void JobMonitor::NoteDamage(const LogDamage& damage) { impl_->NoteDamage(damage); }
void JobMonitor::CountRejected(const AcceptedSequence& event) { impl_->Refuse(event); }
void JobMonitor::AddNote(const std::string& note) { impl_->AddNote(note); }

}  // namespace tidemark
