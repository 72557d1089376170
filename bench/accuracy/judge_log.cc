#include "bench/accuracy/judge_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "master/store/event_log.h"
#include "tidemark/event.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"

namespace tidemark::bench {
namespace {

bool IsOver(AttemptState state) {
  return state == AttemptState::kFinished || state == AttemptState::kFailed ||
         state == AttemptState::kKilled;
}

// The slot and times of each attempt at a reduce task.
class Lanes {
 public:
  void Add(const AttemptChanged& change, absl::Time heard_at) {
    if (change.attempt.stage != kReduceStage) return;
    const absl::Time at = change.at.value_or(heard_at);
    Lane& lane = lanes_[{change.attempt.index, change.attempt.attempt}];
    lane.speculative |= change.speculative;
    if (change.state == AttemptState::kStarted && !lane.start) lane.start = at;
    if (IsOver(change.state) && !lane.end) {
      lane.end = at;
      lane.outcome = change.state;
    }
  }

  std::vector<Attempt> Attempts(absl::Time start, absl::Time end) const {
    std::vector<Attempt> attempts;
    for (const auto& [id, lane] : lanes_) {
      if (!lane.start) continue;
      attempts.push_back({.task = id.first,
                          .number = id.second,
                          .speculative = lane.speculative,
                          .start = absl::ToDoubleSeconds(*lane.start - start),
                          .end = absl::ToDoubleSeconds(lane.end.value_or(end) - start),
                          .outcome = lane.outcome});
    }
    std::stable_sort(attempts.begin(), attempts.end(),
                     [](const Attempt& a, const Attempt& b) { return a.start < b.start; });
    std::vector<double> free_at;
    for (Attempt& attempt : attempts) {
      const auto free = std::find_if(free_at.begin(), free_at.end(),
                                     [&](double at) { return at <= attempt.start; });
      attempt.slot = static_cast<std::uint32_t>(free - free_at.begin());
      if (free == free_at.end()) free_at.push_back(0);
      free_at[attempt.slot] = attempt.end;
    }
    return attempts;
  }

 private:
  struct Lane {
    std::optional<absl::Time> start;
    std::optional<absl::Time> end;
    AttemptState outcome = AttemptState::kFinished;
    bool speculative = false;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Lane> lanes_;  // by task and attempt
};

}  // namespace

absl::StatusOr<JudgedLog> JudgeLog(const std::string& path,
                                   const std::vector<std::string>& indicators,
                                   std::span<const PastRun> past_runs) {
  const auto reader = store::EventLogReader::Open(path);
  if (!reader.ok()) return reader.status();
  JobMonitorOptions options = (*reader)->options();
  options.indicators = indicators;
  JobMonitor monitor((*reader)->job_id(), options);
  monitor.SetPastRuns({past_runs.begin(), past_runs.end()});
  Simulation judged;
  for (const std::string& indicator : indicators) {
    judged.records.push_back({.indicator = indicator});
  }
  Lanes lanes;
  std::optional<Snapshot> last;
  for (;;) {
    const auto record = (*reader)->Next();
    if (!record.ok()) return record.status();
    if (!record->has_value()) break;
    if (const auto* event = std::get_if<Event>(&**record)) {
      if (const auto* change = std::get_if<AttemptChanged>(&event->body)) {
        lanes.Add(*change, event->sent_at);
      }
    }
    const Snapshot* const snapshot = store::Replay(**record, monitor);
    if (snapshot == nullptr || !monitor.is_open()) continue;
    last = *snapshot;
    if (last->is_final) break;
    for (IndicatorRecord& of : judged.records) {
      of.predictions.push_back(
          PredictionOf(*last, of.indicator, absl::ToDoubleSeconds(last->at - *last->started_at)));
    }
  }
  if (!last || last->state != JobState::kSucceeded) {
    return absl::FailedPreconditionError(fmt::format("{}: the job has not succeeded", path));
  }
  judged.timeline.end = absl::ToDoubleSeconds(last->elapsed());
  judged.timeline.attempts = lanes.Attempts(*last->started_at, *last->ended_at);
  return JudgedLog{std::move(judged), PastRunOf(*last, monitor.Summary())};
}

}  // namespace tidemark::bench
