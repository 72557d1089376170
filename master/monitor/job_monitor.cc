#include "tidemark/job_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <sstream>
#include <utility>

#include "master/cost/sized_stages.h"
#include "master/estimate/application_estimate.h"
#include "master/model/accuracy.h"
#include "master/model/checkpoint.h"
#include "master/model/evidence_loss.h"
#include "master/model/fold.h"
#include "master/model/indicators/end_drift.h"
#include "master/model/indicators/progress_indicator.h"
#include "master/model/job_state.h"
#include "master/model/job_summary.h"
#include "master/model/phases.h"
#include "master/model/saturating.h"
#include "master/model/shown_progress.h"
#include "master/model/silence.h"
#include "master/model/straggler.h"
#include "master/model/tidemark/normal.h"
#include "master/monitor/indicators.h"
#include "master/monitor/job_snapshot.h"
#include "master/monitor/stages_estimate.h"
#include "master/schedule/placing.h"
#include "master/workflow/drift.h"
#include "master/workflow/stages_now.h"

namespace tidemark {
namespace {

using model::EndPrediction;
using model::ReducePhaseForecast;

// A task nobody heard of for this long is silent.
constexpr absl::Duration kSilence = absl::Seconds(10);
// Past its predicted end a job is still "about to end" for this long, or this part of its run; no
// end is known more closely.
constexpr absl::Duration kOverdueAfter = absl::Seconds(2);
constexpr double kOverdueShare = 0.02;
// Silence that has lasted for t lasts for longer than s more with probability t / (t + s)
// (Laplace), so that for 95 % so many times t must be allowed.
constexpr double kSilenceMore = 19;
constexpr std::size_t kNotesMax = 16;
// The indicator that is made of points; all others do with bins.
constexpr std::string_view kWantsPoints = "nearestfit";

JobState StateOf(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::kSucceeded:
      return JobState::kSucceeded;
    case JobOutcome::kFailed:
      return JobState::kFailed;
    case JobOutcome::kKilled:
      return JobState::kKilled;
    case JobOutcome::kUnknown:
      break;
  }
  return JobState::kAbandoned;
}

std::uint32_t SilentTasks(const model::JobState& state, absl::Time now) {
  std::uint32_t silent = 0;
  for (const auto& [number, stage] : state.stages) {
    for (const model::Task& task : stage.tasks) {
      for (const auto& [id, attempt] : task.attempts) {
        silent += attempt.life.is_running() && now - attempt.life.last_heard_at > kSilence ? 1 : 0;
      }
    }
  }
  return silent;
}

std::uint64_t DroppedPoints(const model::JobState& state) {
  std::uint64_t dropped = 0;
  for (const model::Task& task : state.reduce_tasks()) {
    for (const auto& [number, attempt] : task.attempts) {
      dropped = model::SaturatingAdd(dropped, attempt.reduce->dropped_points);
    }
  }
  return dropped;
}

std::size_t BytesOf(const std::vector<PastRun>& runs) {
  std::size_t bytes = 0;
  for (const PastRun& run : runs) {
    for (const StageProfile& stage : run.stages.stages) {
      bytes += sizeof(stage) + stage.name.size() + sizeof(std::size_t) * stage.parents.size();
      for (const auto& seconds : stage.seconds) bytes += sizeof(double) * seconds.size();
    }
  }
  return bytes;
}

std::string DamageNote(const model::JobState& state) {
  const LogDamage& damage = state.log_damage;
  const std::string where =
      state.log_damage_places == 1
          ? fmt::format("at byte {}", damage.at)
          : fmt::format("in {} places, the first at byte {}", state.log_damage_places, damage.at);
  const bool is_one = damage.records == 1;
  return fmt::format(
      "the master's log of this job was damaged {}: about {} record{} lost ({} bytes); estimates "
      "are made without {}, with wider intervals",
      where, damage.records, is_one ? " was" : "s were", damage.bytes, is_one ? "it" : "them");
}

}  // namespace

class JobMonitor::Impl {
 public:
  Impl(std::string job_id, const JobMonitorOptions& options)
      : job_id_(std::move(job_id)), options_(options), state_(options.lambda) {
    for (const std::string& name : options.indicators) {
      if (auto indicator = monitor::MakeIndicator(name)) {
        tracked_.push_back({std::move(indicator), {}, {}});
      }
    }
  }

  void End(const Snapshot& final, const next::Snapshot& job,
           const std::vector<AcceptedSequence>& sources) {
    for (const AcceptedSequence& source : sources) {
      state_.sources[source.source_id].accepted_sequence = source.sequence;
    }
    state_.opened.emplace();
    state_.run_uid = final.run_uid;
    state_.started_at = final.started_at;
    state_.closed.emplace();
    final_ = final;
    job_ = job.job_id.empty() ? monitor::JobSnapshot(final) : job;
  }

  absl::Status CheckRun(const Event& event) const {
    return model::CheckRun(event, state_, GivenUpAt());
  }

  absl::Status Apply(const Event& event) {
    has_news_ = true;
    return model::Apply(event, options_.limits, state_);
  }

  void Refuse(const AcceptedSequence& envelope) {
    model::Refuse(envelope, options_.limits, state_);
  }

  Snapshot Tick(absl::Time now);

  bool IsClosed() const { return final_.has_value() || state_.closed.has_value(); }

  const std::vector<StageForecast>& stage_forecasts() const { return stages_.stages; }
  JobSummary Summary() const;
  const next::Snapshot& job() const { return job_; }
  const model::JobState& state() const { return state_; }
  model::JobState& state() { return state_; }
  bool has_news() const { return has_news_; }
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
  std::shared_ptr<const cost::RunningStage> running_stage() const { return running_stage_; }
  void NoteDamage(const LogDamage& damage);
  void AddNote(const std::string& note) {
    const bool known = std::find(notes_.begin(), notes_.end(), note) != notes_.end();
    if (!known && notes_.size() < kNotesMax) notes_.push_back(note);
  }

 private:
  struct Tracked {
    std::unique_ptr<model::ProgressIndicator> indicator;
    model::PredictionHistory history;
    model::LatestEnd latest_end;
  };

  // Sets running_stage_.
  EndPrediction PredictMaps(absl::Time now);
  EndPrediction PredictStages(absl::Time now);
  void Predict(Tracked& tracked, absl::Duration silence, Snapshot& snapshot);
  Forecast Describe(const EndPrediction& prediction, const std::string& name) const;
  // Sets the fractions that `forecast` bears.
  void Show(absl::Time now, Tracked& tracked, Forecast& forecast) const;
  absl::Time GivenUpAt() const;
  JobState StateAt(absl::Time now) const;
  void Finish(absl::Time now, Snapshot& snapshot);
  std::vector<IndicatorError> Errors(absl::Time job_end) const;
  Coverage CoverageAt(absl::Time now) const;
  std::vector<PhaseProgress> Phases() const;

  std::string job_id_;
  JobMonitorOptions options_;
  model::JobState state_;
  std::vector<Tracked> tracked_;
  std::vector<std::string> notes_;
  std::uint64_t sequence_ = 0;
  bool has_news_ = false;
  double lost_share_ = 0;                              // of the evidence, at the last Tick()
  absl::Time listening_since_ = absl::InfinitePast();  // the last NoteRestart()
  absl::Time informed_at_ = absl::InfinitePast();      // the last Tick() without silence
  model::EndDrift drift_;                              // of a job without a reduce phase
  monitor::StagesEstimate stages_;                     // at the last Tick()
  model::ShownProgress shown_;
  std::shared_ptr<const cost::RunningStage> running_stage_;  // by the first indicator
  monitor::ShownStages shown_stages_;
  std::optional<Snapshot> final_;
  next::Snapshot job_;
};

// That nothing was heard while no master listened does not end a job.
absl::Time JobMonitor::Impl::GivenUpAt() const {
  return std::max(state_.last_arrival_at, listening_since_) + options_.abandon_after;
}

JobState JobMonitor::Impl::StateAt(absl::Time now) const {
  if (state_.closed) return StateOf(state_.closed->outcome);
  return state_.opened && now > GivenUpAt() ? JobState::kAbandoned : JobState::kRunning;
}

// Of a job without a reduce phase: by the sizes of its map tasks.
EndPrediction JobMonitor::Impl::PredictMaps(absl::Time now) {
  EndPrediction prediction{.at = now};
  // More may come than has been heard of.
  const model::Stage* const stage = state_.map_stage();
  if (stage == nullptr || !stage->opened.task_count) return prediction;
  const PhaseProgress maps = model::MapProgress(state_);
  if (maps.state == PhaseState::kDone) {
    prediction.end = maps.finished_at;
    return prediction;
  }
  estimate::Application application = {.on = estimate::RoomForAll(),
                                       .draws = &cost::FixedDraws::For(state_.map_tasks().size())};
  std::optional<cost::SizedStage> left = cost::MapStageBySize(state_, now, *application.draws);
  if (!left) return prediction;
  application.stages.push_back(std::move(left->stage));
  const absl::StatusOr<estimate::Estimate> estimate = estimate::EstimateApplication(application);
  if (!estimate.ok() || estimate->end.upper >= schedule::kForever) return prediction;
  running_stage_ = std::make_shared<const cost::RunningStage>(cost::RunningStage{
      .index = kMapStage, .left = application.stages[0], .ends = estimate->ends});
  const estimate::Range& end = estimate->end;
  prediction.end = now + absl::Seconds(end.median);
  drift_.Observe(now, *prediction.end);
  const absl::Duration moved = model::kDeviationsOf90Percent * drift_.Drift();
  const double upper = std::min(end.upper, model::kRemainingUpperMax * end.median);
  prediction.lower = now + std::max(absl::Seconds(end.lower) - moved, absl::ZeroDuration());
  prediction.upper = now + absl::Seconds(std::max(upper, end.median)) + moved;
  return prediction;
}

// Of a job of stages of any kind.
EndPrediction JobMonitor::Impl::PredictStages(absl::Time now) {
  EndPrediction prediction{.at = now};
  if (!stages_.end) return prediction;
  auto [median, lower, upper] = *stages_.end;
  workflow::WidenByDrift(now, median, drift_, lower, upper);
  prediction.end = now + absl::Seconds(median);
  prediction.lower = now + absl::Seconds(lower);
  prediction.upper = now + absl::Seconds(upper);
  return prediction;
}

// What nobody has told of for `silence` is believed as it was before, and how much longer it takes
// to hear of it is anybody's guess.
void JobMonitor::Impl::Predict(Tracked& tracked, absl::Duration silence, Snapshot& snapshot) {
  const absl::Time now = informed_at_;
  EndPrediction prediction{.at = now};
  ReducePhaseForecast reduce;
  if (monitor::IsOfStages(state_)) {
    prediction = PredictStages(now);
  } else if (!state_.has_phase(Phase::kReduce)) {
    prediction = PredictMaps(now);
  } else {
    reduce = tracked.indicator->Estimate(state_, now);
    if (&tracked == &tracked_.front()) running_stage_ = reduce.stage;
    prediction.end = reduce.ends_at;
    prediction.lower = reduce.ends_at_lower;
    prediction.upper = reduce.ends_at_upper;
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
  Forecast forecast = Describe(prediction, tracked.indicator->name());
  Show(prediction.at, tracked, forecast);
  forecast.evidence = reduce.evidence;
  if (silence > absl::ZeroDuration() && forecast.remaining) {
    // It may have gone on unheard, or be about to hang for ever.
    const absl::Duration lower = forecast.remaining_lower.value_or(*forecast.remaining);
    forecast.remaining_lower = std::max(lower - (snapshot.at - now), absl::ZeroDuration());
    forecast.remaining_upper =
        forecast.remaining_upper.value_or(*forecast.remaining) + kSilenceMore * silence;
    // For the record of errors: what is said now, not what was said then.
    prediction.end = snapshot.at + *forecast.remaining;
    prediction.lower = snapshot.at + *forecast.remaining_lower;
    prediction.upper = snapshot.at + *forecast.remaining_upper;
  }
  snapshot.forecasts.push_back(std::move(forecast));
  prediction.at = snapshot.at;
  tracked.history.Add(prediction);
  if (!snapshot.straggler && &tracked == &tracked_.front()) {
    snapshot.straggler = model::FindStraggler(state_, reduce, now);
  }
}

Forecast JobMonitor::Impl::Describe(const EndPrediction& prediction,
                                    const std::string& name) const {
  Forecast forecast{.indicator = name};
  if (!prediction.end) return forecast;
  const absl::Time now = prediction.at;
  const absl::Duration elapsed = now - state_.started_at;
  const absl::Duration grace = std::max(kOverdueAfter, kOverdueShare * elapsed);
  if (now - *prediction.end > grace) {
    forecast.state = ForecastState::kOverdue;
    return forecast;
  }
  forecast.state = ForecastState::kValid;
  const auto left = [now](absl::Time end) { return std::max(end - now, absl::ZeroDuration()); };
  forecast.remaining = left(*prediction.end);
  if (prediction.lower) forecast.remaining_lower = left(*prediction.lower);
  if (prediction.upper) forecast.remaining_upper = std::max(left(*prediction.upper), grace);
  return forecast;
}

void JobMonitor::Impl::Show(absl::Time now, Tracked& tracked, Forecast& forecast) const {
  absl::Time end = absl::InfiniteFuture();
  if (forecast.remaining) {
    end = now + model::FlooredRemaining(*forecast.remaining, forecast.remaining_upper);
  }
  const absl::Duration left = tracked.latest_end.Hold(now, end) - now;
  forecast.fraction_done = model::FractionDone(now - state_.started_at, left);
  if (const auto reduce_start = model::ReducePhaseStart(state_)) {
    forecast.reduce_fraction_done = model::FractionDone(now - *reduce_start, left);
  }
}

void JobMonitor::Impl::NoteDamage(const LogDamage& damage) {
  // Before a job is open nothing but a copy of its opening can be lost.
  if (final_ || !state_.opened || damage.records == 0) return;
  has_news_ = true;
  sequence_ += damage.ticks_max;
  LogDamage& all = state_.log_damage;
  if (state_.log_damage_places++ == 0) all.at = damage.at;
  all.bytes = model::SaturatingAdd(all.bytes, damage.bytes);
  all.records = model::SaturatingAdd(all.records, damage.records);
}

std::vector<PhaseProgress> JobMonitor::Impl::Phases() const {
  std::vector<PhaseProgress> phases;
  if (state_.has_phase(Phase::kMap)) phases.push_back(model::MapProgress(state_));
  if (state_.has_phase(Phase::kShuffle)) phases.push_back(model::ShuffleProgress(state_));
  if (state_.has_phase(Phase::kReduce)) phases.push_back(model::ReduceProgress(state_));
  return phases;
}

Coverage JobMonitor::Impl::CoverageAt(absl::Time now) const {
  Coverage coverage;
  if (state_.last_arrival_at != absl::InfinitePast()) {
    coverage.data_age = std::max(now - state_.last_arrival_at, absl::ZeroDuration());
  }
  coverage.lost_envelopes = state_.lost_envelopes;
  for (const auto& [id, source] : state_.sources) {
    coverage.dropped_events = model::SaturatingAdd(coverage.dropped_events, source.dropped_events);
  }
  coverage.dropped_points = DroppedPoints(state_);
  coverage.anomalies = state_.anomalies;
  coverage.rejected_envelopes = state_.rejected_envelopes;
  coverage.map_profiles = model::MapProfilesKnown(state_, now);
  coverage.silent_tasks = SilentTasks(state_, now);
  if (StateAt(now) == JobState::kRunning) {
    coverage.silent_for = model::SilentFor(state_, now);
  }
  coverage.notes = notes_;
  if (state_.log_damage_places > 0) coverage.notes.push_back(DamageNote(state_));
  if (state_.unknown_events > 0) {
    coverage.notes.push_back(
        fmt::format("{} report{} of a newer version of Tidemark {} not understood and left out; "
                    "update the master",
                    state_.unknown_events, state_.unknown_events == 1 ? "" : "s",
                    state_.unknown_events == 1 ? "was" : "were"));
  }
  if (state_.closed && state_.closed->outcome == JobOutcome::kUnknown) {
    coverage.notes.push_back(
        "the job has ended, in a way that only a newer version of Tidemark knows; update the "
        "master");
  }
  if (state_.unused_profiles > 0) {
    coverage.notes.push_back(fmt::format(
        "key groups of stages other than {} and {} are not estimated: {} profile{} left "
        "out",
        kMapStage, kReduceStage, state_.unused_profiles,
        state_.unused_profiles == 1 ? " was" : "s were"));
  }
  const model::Stage* const reduces = state_.reduce_stage();
  if (reduces != nullptr && reduces->opened.is_grouping_opaque.value_or(false)) {
    coverage.notes.push_back(
        "a grouping comparator decides which keys form a key group, so none is known by its key");
  }
  if (const double scanned = state_.keys.scanned_share(); scanned < 1) {
    coverage.notes.push_back(
        fmt::format("keys known for {} % of the map output; for the rest, only its size",
                    static_cast<int>(100 * scanned)));
  }
  return coverage;
}

std::vector<IndicatorError> JobMonitor::Impl::Errors(absl::Time job_end) const {
  const auto reduce_start = model::ReducePhaseStart(state_);
  const auto reduce_end = model::ReducePhaseEnd(state_);
  std::vector<IndicatorError> errors;
  for (const Tracked& tracked : tracked_) {
    const auto predictions = tracked.history.predictions();
    IndicatorError error{.indicator = tracked.indicator->name()};
    const auto of_job = model::ErrorOf(predictions, state_.started_at, job_end);
    error.job_avg_error_points = of_job.average_points;
    error.job_max_error_points = of_job.largest_points;
    if (reduce_start && reduce_end) {
      const auto of_reduce = model::ErrorOf(predictions, *reduce_start, *reduce_end);
      error.reduce_avg_error_points = of_reduce.average_points;
      error.reduce_max_error_points = of_reduce.largest_points;
      error.interval_coverage = model::IntervalCoverage(predictions, *reduce_start, *reduce_end);
    }
    errors.push_back(std::move(error));
  }
  return errors;
}

void JobMonitor::Impl::Finish(absl::Time now, Snapshot& snapshot) {
  const bool succeeded = snapshot.state == JobState::kSucceeded;
  for (Forecast& forecast : snapshot.forecasts) {
    forecast.state = ForecastState::kFinal;
    forecast.remaining.reset();
    forecast.remaining_lower.reset();
    forecast.remaining_upper.reset();
    if (!succeeded) continue;
    forecast.fraction_done = 1;
    const bool has_reduced = state_.has_phase(Phase::kReduce) || forecast.reduce_fraction_done > 0;
    forecast.reduce_fraction_done = has_reduced ? 1 : 0;
  }
  for (PhaseProgress& phase : snapshot.phases) {
    if (succeeded && phase.phase == Phase::kReduce) phase.fraction_done = 1;
  }
  snapshot.straggler.reset();
  snapshot.message = state_.closed ? state_.closed->message
                                   : fmt::format("no news of the job for {}",
                                                 absl::FormatDuration(options_.abandon_after));
  const absl::Time end = state_.closed_at.value_or(now);
  snapshot.elapsed = std::max(end - state_.started_at, absl::ZeroDuration());
  if (succeeded) snapshot.errors = Errors(end);
}

Snapshot JobMonitor::Impl::Tick(absl::Time now) {
  has_news_ = false;
  if (final_) return *final_;
  Snapshot snapshot{
      .job_id = job_id_, .run_uid = state_.run_uid, .sequence = ++sequence_, .at = now};
  if (!state_.opened) return snapshot;
  snapshot.job_name = state_.opened->name;
  snapshot.state = StateAt(now);
  snapshot.started_at = state_.started_at;
  snapshot.elapsed = std::max(now - state_.started_at, absl::ZeroDuration());
  snapshot.phases = Phases();
  snapshot.coverage = CoverageAt(now);
  lost_share_ = model::LostShare(state_);
  const absl::Duration silence = snapshot.coverage.silent_for;
  // That a job is given up is no news of it.
  const bool is_informed =
      silence == absl::ZeroDuration() && snapshot.state != JobState::kAbandoned;
  if (is_informed || informed_at_ == absl::InfinitePast()) informed_at_ = now;
  running_stage_.reset();
  stages_ = {};
  if (monitor::IsOfStages(state_)) {
    stages_ = monitor::EstimateStages(state_, informed_at_);
    if (!stages_.problem.empty()) snapshot.coverage.notes.push_back(stages_.problem);
  }
  for (Tracked& tracked : tracked_) Predict(tracked, silence, snapshot);
  for (PhaseProgress& phase : snapshot.phases) {
    if (phase.phase != Phase::kReduce) continue;
    const bool done = phase.state == PhaseState::kDone;
    const double forecast =
        snapshot.forecasts.empty() ? 0 : snapshot.forecasts.front().reduce_fraction_done;
    phase.fraction_done = done ? 1 : forecast;
  }
  shown_.NeverBack(snapshot);
  if (snapshot.is_final()) {
    Finish(now, snapshot);
    final_ = snapshot;
  }
  job_ = monitor::JobSnapshot(snapshot, state_, stages_);
  shown_stages_.NeverBack(job_);
  return snapshot;
}

JobSummary JobMonitor::Impl::Summary() const {
  JobSummary summary = model::Summarize(state_);
  if (workflow::HasOtherStages(state_)) {
    const absl::Time end = state_.closed_at.value_or(state_.last_arrival_at);
    summary.stages = workflow::ProfileOf(workflow::StagesNow(state_, end));
  }
  return summary;
}

std::string JobMonitor::Impl::Checkpoint() const {
  std::ostringstream out;
  model::CheckpointWriter writer(out);
  writer(model::kCheckpointLayout, sequence_, lost_share_, informed_at_, drift_, shown_,
         shown_stages_, tracked_.size());
  for (const Tracked& tracked : tracked_) {
    writer(tracked.indicator->name(), tracked.history, tracked.latest_end);
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
    reader(sequence_, lost_share_, informed_at_, drift_, shown_, shown_stages_, count);
    bool is_same = count == tracked_.size();
    for (std::size_t i = 0; is_same && i < count; ++i) {
      std::string name;
      reader(name, tracked_[i].history, tracked_[i].latest_end);
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

JobMonitor JobMonitor::OfEnded(const Snapshot& final, const next::Snapshot& job,
                               const std::vector<AcceptedSequence>& sources) {
  JobMonitor monitor(final.job_id, {.indicators = {}, .lambda = 1});
  monitor.impl_->End(final, job, sources);
  return monitor;
}

absl::Status JobMonitor::CheckRun(const Event& event) const { return impl_->CheckRun(event); }
absl::Status JobMonitor::Apply(const Event& event) { return impl_->Apply(event); }
Snapshot JobMonitor::Tick(absl::Time now) { return impl_->Tick(now); }
const next::Snapshot& JobMonitor::job() const { return impl_->job(); }
std::string JobMonitor::Checkpoint() const { return impl_->Checkpoint(); }
absl::Status JobMonitor::Resume(const std::string& checkpoint) { return impl_->Resume(checkpoint); }
std::size_t JobMonitor::state_bytes() const { return impl_->state().memory_bytes; }
bool JobMonitor::is_open() const { return impl_->state().opened.has_value(); }
bool JobMonitor::wants_points() const { return impl_->wants_points(); }
bool JobMonitor::has_news() const { return impl_->has_news(); }
bool JobMonitor::is_closed() const { return impl_->IsClosed(); }
const std::string& JobMonitor::run_uid() const { return impl_->state().run_uid; }
std::uint64_t JobMonitor::accepted_sequence(const std::string& source_id) const {
  const auto source = impl_->state().sources.find(source_id);
  return source == impl_->state().sources.end() ? 0 : source->second.accepted_sequence;
}
JobSummary JobMonitor::Summary() const { return impl_->Summary(); }
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
std::shared_ptr<const cost::RunningStage> JobMonitor::running_stage() const {
  return impl_->running_stage();
}
void JobMonitor::SetPastRuns(std::vector<PastRun> runs) {
  if (runs.size() > kPastRunsMax) runs.resize(kPastRunsMax);
  model::JobState& state = impl_->state();
  state.memory_bytes -= BytesOf(state.past_runs);
  state.past_runs = std::move(runs);
  state.memory_bytes += BytesOf(state.past_runs);
}
void JobMonitor::NoteDamage(const LogDamage& damage) { impl_->NoteDamage(damage); }
void JobMonitor::CountRejected(const AcceptedSequence& envelope) { impl_->Refuse(envelope); }
void JobMonitor::AddNote(const std::string& note) { impl_->AddNote(note); }

}  // namespace tidemark
