#include "proto/wire/snapshot_codec.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "proto/wire/message_time.h"
#include "proto/wire/valid_text.h"
#include "tidemark/v1/progress.pb.h"

namespace tidemark::wire {
namespace {

// --- To messages ---

v1::JobState Encode(JobState state) {
  switch (state) {
    case JobState::kRunning:
      return v1::JOB_STATE_RUNNING;
    case JobState::kSucceeded:
      return v1::JOB_STATE_SUCCEEDED;
    case JobState::kFailed:
      return v1::JOB_STATE_FAILED;
    case JobState::kKilled:
      return v1::JOB_STATE_KILLED;
    case JobState::kAbandoned:
      return v1::JOB_STATE_ABANDONED;
  }
  return v1::JOB_STATE_UNSPECIFIED;
}

v1::PhaseState Encode(PhaseState state) {
  switch (state) {
    case PhaseState::kPending:
      return v1::PHASE_STATE_PENDING;
    case PhaseState::kRunning:
      return v1::PHASE_STATE_RUNNING;
    case PhaseState::kDone:
      return v1::PHASE_STATE_DONE;
  }
  return v1::PHASE_STATE_UNSPECIFIED;
}

v1::Phase Encode(Phase phase) {
  switch (phase) {
    case Phase::kMap:
      return v1::PHASE_MAP;
    case Phase::kShuffle:
      return v1::PHASE_SHUFFLE;
    case Phase::kReduce:
      return v1::PHASE_REDUCE;
  }
  return v1::PHASE_UNSPECIFIED;
}

v1::ForecastState Encode(ForecastState state) {
  switch (state) {
    case ForecastState::kWarmingUp:
      return v1::FORECAST_STATE_WARMING_UP;
    case ForecastState::kValid:
      return v1::FORECAST_STATE_VALID;
    case ForecastState::kOverdue:
      return v1::FORECAST_STATE_OVERDUE;
    case ForecastState::kFinal:
      return v1::FORECAST_STATE_FINAL;
  }
  return v1::FORECAST_STATE_UNSPECIFIED;
}

void EncodePhase(const PhaseProgress& phase, v1::PhaseProgress& message) {
  message.set_phase(Encode(phase.phase));
  message.set_state(Encode(phase.state));
  message.set_fraction_done(phase.fraction_done);
  message.set_task_count(phase.task_count);
  message.set_running_task_count(phase.running_task_count);
  message.set_finished_task_count(phase.finished_task_count);
  if (phase.started_at) EncodeTime(*phase.started_at, *message.mutable_started_at());
  if (phase.finished_at) EncodeTime(*phase.finished_at, *message.mutable_finished_at());
}

void EncodeEvidence(const Evidence& evidence, v1::Evidence& message) {
  message.set_own_neighbours(evidence.own_neighbours);
  message.set_own_fit(evidence.own_fit);
  message.set_other_neighbours(evidence.other_neighbours);
  message.set_other_fit(evidence.other_fit);
  message.set_ratio(evidence.ratio);
}

void EncodeForecast(const Forecast& forecast, v1::Forecast& message) {
  message.set_indicator(ValidText(forecast.indicator));
  message.set_state(Encode(forecast.state));
  message.set_fraction_done(forecast.fraction_done);
  message.set_reduce_fraction_done(forecast.reduce_fraction_done);
  if (forecast.remaining) EncodeDuration(*forecast.remaining, *message.mutable_remaining());
  if (forecast.remaining_lower) {
    EncodeDuration(*forecast.remaining_lower, *message.mutable_remaining_lower());
  }
  if (forecast.remaining_upper) {
    EncodeDuration(*forecast.remaining_upper, *message.mutable_remaining_upper());
  }
  if (forecast.evidence) EncodeEvidence(*forecast.evidence, *message.mutable_evidence());
}

void EncodeStraggler(const Straggler& straggler, v1::Straggler& message) {
  v1::TaskAttemptId& attempt = *message.mutable_attempt();
  attempt.set_stage(straggler.attempt.stage);
  attempt.set_stage_attempt(straggler.attempt.stage_attempt);
  attempt.set_index(straggler.attempt.index);
  attempt.set_attempt(straggler.attempt.attempt);
  message.set_host(ValidText(straggler.host));
  if (straggler.remaining) EncodeDuration(*straggler.remaining, *message.mutable_remaining());
  message.set_explicit_groups_left(straggler.explicit_groups_left);
  message.set_heaviest_group_bytes(straggler.heaviest_group_bytes);
  message.set_heaviest_group_share(straggler.heaviest_group_share);
  message.set_in_heaviest_group(straggler.in_heaviest_group);
  message.set_reason(ValidText(straggler.reason));
}

void EncodeCoverage(const Coverage& coverage, v1::Coverage& message) {
  EncodeDuration(coverage.data_age, *message.mutable_data_age());
  if (coverage.silent_for > absl::ZeroDuration()) {
    EncodeDuration(coverage.silent_for, *message.mutable_silent_for());
  }
  message.set_lost_envelopes(coverage.lost_envelopes);
  message.set_dropped_events(coverage.dropped_events);
  message.set_dropped_points(coverage.dropped_points);
  message.set_anomalies(coverage.anomalies);
  message.set_rejected_envelopes(coverage.rejected_envelopes);
  message.set_map_profiles(coverage.map_profiles);
  message.set_silent_tasks(coverage.silent_tasks);
  for (const std::string& note : coverage.notes) message.add_notes(ValidText(note));
}

void EncodeError(const IndicatorError& error, v1::IndicatorError& message) {
  message.set_indicator(ValidText(error.indicator));
  message.set_reduce_avg_error_points(error.reduce_avg_error_points);
  message.set_reduce_max_error_points(error.reduce_max_error_points);
  message.set_job_avg_error_points(error.job_avg_error_points);
  message.set_job_max_error_points(error.job_max_error_points);
  if (error.interval_coverage) message.set_interval_coverage(*error.interval_coverage);
}

// --- From messages ---

JobState Parse(v1::JobState state) {
  switch (state) {
    case v1::JOB_STATE_SUCCEEDED:
      return JobState::kSucceeded;
    case v1::JOB_STATE_FAILED:
      return JobState::kFailed;
    case v1::JOB_STATE_KILLED:
      return JobState::kKilled;
    case v1::JOB_STATE_ABANDONED:
      return JobState::kAbandoned;
    default:
      return JobState::kRunning;
  }
}

PhaseState Parse(v1::PhaseState state) {
  switch (state) {
    case v1::PHASE_STATE_RUNNING:
      return PhaseState::kRunning;
    case v1::PHASE_STATE_DONE:
      return PhaseState::kDone;
    default:
      return PhaseState::kPending;
  }
}

Phase Parse(v1::Phase phase) {
  switch (phase) {
    case v1::PHASE_SHUFFLE:
      return Phase::kShuffle;
    case v1::PHASE_REDUCE:
      return Phase::kReduce;
    default:
      return Phase::kMap;
  }
}

ForecastState Parse(v1::ForecastState state) {
  switch (state) {
    case v1::FORECAST_STATE_VALID:
      return ForecastState::kValid;
    case v1::FORECAST_STATE_OVERDUE:
      return ForecastState::kOverdue;
    case v1::FORECAST_STATE_FINAL:
      return ForecastState::kFinal;
    default:
      return ForecastState::kWarmingUp;
  }
}

// Reads the parts of one snapshot and keeps the first thing that was wrong, so that the parsing
// functions read like the message. What it returns after that does not matter.
class Reader {
 public:
  const absl::Status& status() const { return status_; }

  double Fraction(const char* field, double value) {
    if (!(value >= 0 && value <= 1)) Fail(fmt::format("{} is {}; send 0..1", field, value));
    return value;
  }

  double Points(const char* field, double value) {
    if (!std::isfinite(value) || value < 0) {
      Fail(fmt::format("{} is {}; send a finite number of zero or more", field, value));
    }
    return value;
  }

  absl::Time Time(const char* field, const google::protobuf::Timestamp& message) {
    return Keep(ParseTime(message, fmt::format("snapshot: {}", field)));
  }

  absl::Duration Duration(const char* field, const google::protobuf::Duration& message) {
    return Keep(ParseDuration(message, fmt::format("snapshot: {}", field)));
  }

 private:
  template <typename T>
  T Keep(const absl::StatusOr<T>& value) {
    if (value.ok()) return *value;
    if (status_.ok()) status_ = value.status();
    return T{};
  }

  void Fail(const std::string& what) {
    if (status_.ok()) status_ = absl::InvalidArgumentError("snapshot: " + what);
  }

  absl::Status status_;
};

PhaseProgress ParsePhase(const v1::PhaseProgress& message, Reader& reader) {
  PhaseProgress phase;
  phase.phase = Parse(message.phase());
  phase.state = Parse(message.state());
  phase.fraction_done = reader.Fraction("phases.fraction_done", message.fraction_done());
  phase.task_count = message.task_count();
  phase.running_task_count = message.running_task_count();
  phase.finished_task_count = message.finished_task_count();
  if (message.has_started_at()) {
    phase.started_at = reader.Time("phases.started_at", message.started_at());
  }
  if (message.has_finished_at()) {
    phase.finished_at = reader.Time("phases.finished_at", message.finished_at());
  }
  return phase;
}

Evidence ParseEvidence(const v1::Evidence& message, Reader& reader) {
  Evidence evidence;
  evidence.own_neighbours = reader.Fraction("own_neighbours", message.own_neighbours());
  evidence.own_fit = reader.Fraction("own_fit", message.own_fit());
  evidence.other_neighbours = reader.Fraction("other_neighbours", message.other_neighbours());
  evidence.other_fit = reader.Fraction("other_fit", message.other_fit());
  evidence.ratio = reader.Fraction("ratio", message.ratio());
  return evidence;
}

Forecast ParseForecast(const v1::Forecast& message, Reader& reader) {
  Forecast forecast;
  forecast.indicator = message.indicator();
  forecast.state = Parse(message.state());
  forecast.fraction_done = reader.Fraction("forecasts.fraction_done", message.fraction_done());
  forecast.reduce_fraction_done =
      reader.Fraction("forecasts.reduce_fraction_done", message.reduce_fraction_done());
  if (message.has_remaining()) {
    forecast.remaining = reader.Duration("forecasts.remaining", message.remaining());
  }
  if (message.has_remaining_lower()) {
    forecast.remaining_lower =
        reader.Duration("forecasts.remaining_lower", message.remaining_lower());
  }
  if (message.has_remaining_upper()) {
    forecast.remaining_upper =
        reader.Duration("forecasts.remaining_upper", message.remaining_upper());
  }
  if (message.has_evidence()) forecast.evidence = ParseEvidence(message.evidence(), reader);
  return forecast;
}

Straggler ParseStraggler(const v1::Straggler& message, Reader& reader) {
  Straggler straggler;
  straggler.attempt.stage = message.attempt().stage();
  straggler.attempt.stage_attempt = message.attempt().stage_attempt();
  straggler.attempt.index = message.attempt().index();
  straggler.attempt.attempt = message.attempt().attempt();
  straggler.host = message.host();
  if (message.has_remaining()) {
    straggler.remaining = reader.Duration("straggler.remaining", message.remaining());
  }
  straggler.explicit_groups_left = message.explicit_groups_left();
  straggler.heaviest_group_bytes = message.heaviest_group_bytes();
  straggler.heaviest_group_share =
      reader.Fraction("straggler.heaviest_group_share", message.heaviest_group_share());
  straggler.in_heaviest_group = message.in_heaviest_group();
  straggler.reason = message.reason();
  return straggler;
}

Coverage ParseCoverage(const v1::Coverage& message, Reader& reader) {
  Coverage coverage;
  coverage.data_age = reader.Duration("coverage.data_age", message.data_age());
  if (message.has_silent_for()) {
    coverage.silent_for = reader.Duration("coverage.silent_for", message.silent_for());
  }
  coverage.lost_envelopes = message.lost_envelopes();
  coverage.dropped_events = message.dropped_events();
  coverage.dropped_points = message.dropped_points();
  coverage.anomalies = message.anomalies();
  coverage.rejected_envelopes = message.rejected_envelopes();
  coverage.map_profiles = reader.Fraction("coverage.map_profiles", message.map_profiles());
  coverage.silent_tasks = message.silent_tasks();
  coverage.notes.assign(message.notes().begin(), message.notes().end());
  return coverage;
}

IndicatorError ParseError(const v1::IndicatorError& message, Reader& reader) {
  IndicatorError error;
  error.indicator = message.indicator();
  error.reduce_avg_error_points =
      reader.Points("errors.reduce_avg_error_points", message.reduce_avg_error_points());
  error.reduce_max_error_points =
      reader.Points("errors.reduce_max_error_points", message.reduce_max_error_points());
  error.job_avg_error_points =
      reader.Points("errors.job_avg_error_points", message.job_avg_error_points());
  error.job_max_error_points =
      reader.Points("errors.job_max_error_points", message.job_max_error_points());
  if (message.has_interval_coverage()) {
    error.interval_coverage =
        reader.Fraction("errors.interval_coverage", message.interval_coverage());
  }
  return error;
}

}  // namespace

void EncodeSnapshot(const Snapshot& snapshot, v1::Snapshot& message) {
  message.Clear();
  message.set_job_id(ValidText(snapshot.job_id));
  message.set_run_uid(ValidText(snapshot.run_uid));
  message.set_job_name(ValidText(snapshot.job_name));
  message.set_sequence(snapshot.sequence);
  EncodeTime(snapshot.at, *message.mutable_at());
  message.set_state(Encode(snapshot.state));
  message.set_message(ValidText(snapshot.message));
  EncodeTime(snapshot.started_at, *message.mutable_started_at());
  EncodeDuration(snapshot.elapsed, *message.mutable_elapsed());
  for (const PhaseProgress& phase : snapshot.phases) EncodePhase(phase, *message.add_phases());
  for (const Forecast& forecast : snapshot.forecasts) {
    EncodeForecast(forecast, *message.add_forecasts());
  }
  if (snapshot.straggler) EncodeStraggler(*snapshot.straggler, *message.mutable_straggler());
  EncodeCoverage(snapshot.coverage, *message.mutable_coverage());
  for (const IndicatorError& error : snapshot.errors) EncodeError(error, *message.add_errors());
}

absl::StatusOr<Snapshot> ParseSnapshot(const v1::Snapshot& message) {
  Reader reader;
  Snapshot snapshot;
  snapshot.job_id = message.job_id();
  snapshot.run_uid = message.run_uid();
  snapshot.job_name = message.job_name();
  snapshot.sequence = message.sequence();
  snapshot.at = reader.Time("at", message.at());
  snapshot.state = Parse(message.state());
  snapshot.message = message.message();
  snapshot.started_at = reader.Time("started_at", message.started_at());
  snapshot.elapsed = reader.Duration("elapsed", message.elapsed());
  for (const v1::PhaseProgress& phase : message.phases()) {
    snapshot.phases.push_back(ParsePhase(phase, reader));
  }
  for (const v1::Forecast& forecast : message.forecasts()) {
    snapshot.forecasts.push_back(ParseForecast(forecast, reader));
  }
  if (message.has_straggler()) snapshot.straggler = ParseStraggler(message.straggler(), reader);
  snapshot.coverage = ParseCoverage(message.coverage(), reader);
  for (const v1::IndicatorError& error : message.errors()) {
    snapshot.errors.push_back(ParseError(error, reader));
  }
  if (!reader.status().ok()) return reader.status();
  return snapshot;
}

}  // namespace tidemark::wire
