#include "master/waits/delay.h"

#include <algorithm>
#include <optional>
#include <set>

namespace tidemark::waits {
namespace {

// Returns the seconds that a unit takes if there are no neighbours: the smaller of the least
// observed time and ServiceSeconds(). Returns 0 if waits do not include service, and nullopt if the
// time is unknown.
std::optional<double> AloneSecondsPerUnit(const Ledger& ledger, Stage stage, WaitReason resource) {
  if (!InfoOf(resource).includes_service) return 0;
  std::optional<double> least;
  Crowding crowding;
  for (auto at = ledger.stages.lower_bound({stage, Host{}});
       at != ledger.stages.end() && at->first.stage == stage; ++at) {
    const double here = at->second.waited[resource].least_seconds_per_unit;
    if (here > 0 && (!least.has_value() || here < *least)) least = here;
    crowding += at->second.crowding(resource);
  }
  const std::optional<double> served = ServiceSeconds(crowding);
  if (!least || (served && *served < *least)) return served;
  return least;
}

// The time of a stage on all hosts.
struct Time {
  double task_seconds = 0;
  double stage_seconds = 0;
};

Time TimeOf(const Ledger& ledger, Stage stage) {
  Time time;
  for (auto at = ledger.stages.lower_bound({stage, Host{}});
       at != ledger.stages.end() && at->first.stage == stage; ++at) {
    if (IsQueue(at->first.host)) continue;
    time.task_seconds += at->second.seconds;
    time.stage_seconds += at->second.stage_seconds;
  }
  return time;
}

double LackedSlotSeconds(const Ledger& ledger, Stage stage) {
  double lacked = 0;
  for (auto at = ledger.meetings.lower_bound({stage, Host{}, Stage{}});
       at != ledger.meetings.end() && at->first.target == stage; ++at) {
    lacked += at->second.wait_seconds[WaitReason::kSlots];
  }
  return lacked;
}

// Returns the seconds by which one second of waiting of a stage's tasks delays the stage.
double StageSecondsPerWait(const Ledger& ledger, Stage stage, Host host, WaitReason resource) {
  if (IsQueue(host)) {
    const Time time = TimeOf(ledger, stage);
    const double all = time.task_seconds + LackedSlotSeconds(ledger, stage);
    return all > 0 ? time.stage_seconds / all : 0;
  }
  const auto found = ledger.stages.find({stage, host});
  if (found == ledger.stages.end()) return 0;
  const Waited& waited = found->second.waited[resource];
  return waited.wait_seconds > 0 ? waited.stage_seconds / waited.wait_seconds : 0;
}

}  // namespace

std::vector<Delay> Delays(const Ledger& ledger, std::span<const Stage> targets) {
  std::vector<Delay> delays;
  for (const Stage target : std::set<Stage>(targets.begin(), targets.end())) {
    PerWaitReason<std::optional<double>> alone;
    for (const WaitReason resource : kWaitReasons) {
      alone[resource] = AloneSecondsPerUnit(ledger, target, resource);
    }
    for (auto at = ledger.meetings.lower_bound({target, Host{}, Stage{}});
         at != ledger.meetings.end() && at->first.target == target; ++at) {
      const Meeting& met = at->second;
      for (const WaitReason resource : kWaitReasons) {
        if (!alone[resource].has_value()) continue;
        const double seconds = met.wait_seconds[resource] - *alone[resource] * met.units[resource];
        if (seconds <= 0) continue;
        delays.push_back(
            {.target = target,
             .resource = resource,
             .host = at->first.host,
             .source = at->first.source,
             .task_seconds = seconds,
             .stage_seconds =
                 seconds * StageSecondsPerWait(ledger, target, at->first.host, resource)});
      }
    }
  }
  return delays;
}

std::vector<Limits> LimitsOf(std::span<const Neighbour> neighbours) {
  std::vector<Limits> limits;
  double all = 0;
  for (const Neighbour& neighbour : neighbours) {
    limits.push_back({.lower = 0, .upper = std::max(neighbour.seconds, neighbour.beside_seconds)});
    all += limits.back().upper;
  }
  for (std::size_t n = 0; n < neighbours.size(); ++n) {
    const double beside_others = std::max(0.0, all - limits[n].upper);
    limits[n].lower = std::max(0.0, neighbours[n].seconds - beside_others);
  }
  return limits;
}

}  // namespace tidemark::waits
