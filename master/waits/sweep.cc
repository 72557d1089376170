#include "master/waits/sweep.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "master/waits/crowding.h"

namespace tidemark::blame {
namespace {

// What others take is what all take less what the task itself does; a difference that is no more
// than this part of the whole is rounding.
constexpr double kRounding = 1e-9;

// Of the tasks of a stage that are there now.
struct Presence {
  double tasks = 0;
  PerResource<double> waiting;  // seconds a second
  PerResource<double> taking;   // a second
  PerResource<double> known;    // tasks of which it is known what they take
};

Presence Waiter(const Piece& piece) {
  Presence presence{.tasks = piece.tasks};
  presence.waiting[Resource::kScheduler] = piece.tasks;
  return presence;
}

Presence SlotHolder() {
  Presence presence;
  presence.taking[Resource::kScheduler] = 1;
  return presence;
}

Presence Runner(const Piece& piece) {
  Presence presence{.tasks = 1};
  for (const Resource resource : kResources) {
    if (resource == Resource::kScheduler) continue;
    const Use& use = piece.use.of[resource];
    const std::optional<double>& taken =
        resource == Resource::kProcessor ? piece.use.processor_seconds : use.units;
    presence.waiting[resource] = use.wait_seconds.value_or(0) / piece.seconds();
    presence.taking[resource] = taken.value_or(0) / piece.seconds();
    presence.known[resource] = taken.has_value() ? 1 : 0;
  }
  return presence;
}

// A piece comes (+1) or goes (-1).
struct Instant {
  double at = 0;
  Stage stage{};
  bool waits = false;  // for a slot
  std::int8_t sign = 0;
  std::uint32_t piece = 0;
};

std::vector<Instant> InstantsOf(std::span<const Piece> pieces) {
  std::vector<Instant> instants;
  instants.reserve(2 * pieces.size());
  for (std::uint32_t p = 0; p < pieces.size(); ++p) {
    const Piece& piece = pieces[p];
    if (piece.seconds() < kPieceSecondsMin) continue;
    const bool waits = IsQueue(piece.host);
    instants.push_back({piece.from, piece.stage, waits, 1, p});
    instants.push_back({piece.to, piece.stage, waits, -1, p});
  }
  std::sort(instants.begin(), instants.end(), [](const Instant& a, const Instant& b) {
    return std::tuple(a.at, a.stage, a.waits, -a.sign, a.piece) <
           std::tuple(b.at, b.stage, b.waits, -b.sign, b.piece);
  });
  return instants;
}

// Whoever holds a slot on after a report holds it as before. Keeps the order.
void DropWhatChangesNothing(std::span<const Piece> pieces, std::vector<Instant>& instants) {
  std::size_t kept = 0;
  for (const Instant& instant : instants) {
    if (kept > 0) {
      const Instant& last = instants[kept - 1];
      if (last.at == instant.at && last.stage == instant.stage && last.waits == instant.waits &&
          last.sign == -instant.sign && pieces[last.piece].tasks == pieces[instant.piece].tasks) {
        --kept;
        continue;
      }
    }
    instants[kept++] = instant;
  }
  instants.resize(kept);
}

// Stages that are there have a place each, from 0 on; tables are by pairs of places.
class HostSweep {
 public:
  HostSweep(Host host, Ledger& ledger) : host_(host), ledger_(ledger) {}

  void Change(Stage stage, const Presence& by, int sign) {
    const std::size_t place = PlaceOf(stage);
    pieces_[place] += sign;
    if (pieces_[place] == 0) {
      Rest(place);
      leaving_.push_back(place);
      return;
    }
    tasks_[place] += sign * by.tasks;
    for (const Resource resource : kResources) {
      Add(sign * by.waiting[resource], waiting_[resource][place]);
      Add(sign * by.taking[resource], taking_[resource][place]);
      known_[resource][place] += sign * by.known[resource];
    }
  }

  // Nothing changes for so many seconds.
  void Pass(double seconds) {
    LeaveAll();
    const std::size_t places = stages_.size();
    double all_tasks = 0;
    for (std::size_t a = 0; a < places; ++a) all_tasks += tasks_[a];
    for (std::size_t a = 0; a < places; ++a) {
      if (tasks_[a] <= 0) continue;
      double* row = Row(overlap_, a);
      Spread(tasks_[a] * seconds, tasks_, row);
      row[a] -= tasks_[a] * seconds;  // no task meets itself
    }
    if (IsQueue(host_)) {
      PassQueue(seconds);
      return;
    }
    for (const Resource resource : kResources) {
      if (resource != Resource::kScheduler) PassResource(resource, seconds, all_tasks);
    }
  }

  // What stages that have gone have to do with any that is there goes to the ledger.
  void LeaveAll() {
    std::erase_if(leaving_, [&](std::size_t place) { return pieces_[place] > 0; });
    if (leaving_.empty()) return;
    SortByStage(leaving_);  // a stage may have gone twice at an instant
    leaving_.erase(std::unique(leaving_.begin(), leaving_.end()), leaving_.end());
    if (has_met_) FlushLeaving();
    for (const std::size_t place : leaving_) Leave(place);
    leaving_.clear();
  }

 private:
  using Column = std::vector<double>;
  using Meetings = decltype(Ledger::meetings);

  // Rates are added and taken away again; what remains of that is no rate.
  static void Add(double by, double& rate) {
    rate += by;
    if (rate < kRounding * std::abs(by)) rate = 0;
  }

  void Spread(double amount, const Column& by, double* row) const {
    const std::size_t places = stages_.size();
    for (std::size_t b = 0; b < places; ++b) row[b] += amount * by[b];
  }

  // Tasks that wait lack the slots that other stages hold.
  void PassQueue(double seconds) {
    const Column& held = taking_[Resource::kScheduler];
    double all = 0;
    for (const double slots : held) all += slots;
    for (std::size_t a = 0; a < stages_.size(); ++a) {
      const double others = all - held[a];
      if (tasks_[a] <= 0 || others < 0.5) continue;
      double* row = Row(wait_[Resource::kScheduler], a);
      const double each = std::min(tasks_[a], others) * seconds / others;
      Spread(each, held, row);
      row[a] -= each * held[a];
    }
  }

  void PassResource(Resource resource, double seconds, double all_tasks) {
    const Column& taking = taking_[resource];
    double all = 0;
    double all_waiting = 0;
    double all_known = 0;
    for (std::size_t b = 0; b < stages_.size(); ++b) {
      all += taking[b];
      // A wait that is told once it is over may be longer than its piece.
      all_waiting += std::min(waiting_[resource][b], tasks_[b]);
      all_known += known_[resource][b];
    }
    for (std::size_t a = 0; a < stages_.size(); ++a) {
      if (waiting_[resource][a] <= 0 && taking[a] <= 0) continue;
      if (tasks_[a] <= 0) continue;
      const double own = taking[a] / tasks_[a];  // of the task that waits
      const double others = all_tasks <= 1 ? 0 : all - own;
      const double known =
          all_tasks <= 1
              ? 1
              : std::clamp((all_known - known_[resource][a] / tasks_[a]) / (all_tasks - 1), 0.0,
                           1.0);
      if (WaitHoldsService(resource) && known > 1 - kRounding) {
        PassCrowd(resource, a, all_waiting, seconds);
      }
      double by_others = waiting_[resource][a] * known;
      if (resource == Resource::kProcessor) {
        const double explained = std::min(by_others, tasks_[a] * std::max(0.0, others));
        // What is not told may have taken the rest.
        if (known > 1 - kRounding) unreported_[a] += (by_others - explained) * seconds;
        by_others = explained;
      }
      if (others <= kRounding * all || all_tasks <= 1) continue;
      Divide(by_others * seconds / others, taking, own, a, wait_[resource]);
      if (WaitHoldsService(resource)) {
        Divide(taking[a] * seconds * known / others, taking, own, a, units_[resource]);
      }
    }
  }

  // Where all that are there tell what they take.
  void PassCrowd(Resource resource, std::size_t a, double all_waiting, double seconds) {
    const double waiting = waiting_[resource][a];
    const double taking = taking_[resource][a];
    if (waiting <= 0 || taking <= 0 || known_[resource][a] < tasks_[a]) return;
    const double others = std::max(0.0, all_waiting - std::min(1.0, waiting / tasks_[a]));
    crowding_[resource][a].Pass(seconds, waiting, taking, 1 + others);
  }

  void Divide(double each, const Column& taking, double own, std::size_t a, Column& table) {
    if (each <= 0) return;
    double* row = Row(table, a);
    Spread(each, taking, row);
    row[a] -= each * own;
  }

  double* Row(Column& table, std::size_t place) {
    if (table.empty()) table.resize(stride_ * stride_);
    has_met_ = true;
    return &table[place * stride_];
  }

  std::size_t PlaceOf(Stage stage) {
    const auto [found, is_new] = place_of_.try_emplace(stage, 0);
    if (!is_new) return found->second;
    std::size_t place = stages_.size();
    if (!free_.empty()) {
      place = free_.back();
      free_.pop_back();
      stages_[place] = stage;
    } else {
      stages_.push_back(stage);
      pieces_.push_back(0);
      tasks_.push_back(0);
      unreported_.push_back(0);
      for (const Resource resource : kResources) {
        waiting_[resource].push_back(0);
        taking_[resource].push_back(0);
        known_[resource].push_back(0);
        if (WaitHoldsService(resource)) crowding_[resource].emplace_back();
      }
      if (stages_.size() > stride_) Grow();
    }
    found->second = place;
    return place;
  }

  void Grow() {
    const std::size_t before = stride_;
    stride_ = std::max<std::size_t>(8, 2 * stride_);
    const auto grow = [&](Column& table) {
      if (table.empty()) return;
      Column larger(stride_ * stride_);
      for (std::size_t a = 0; a < before; ++a) {
        std::copy_n(&table[a * before], before, &larger[a * stride_]);
      }
      table = std::move(larger);
    };
    grow(overlap_);
    for (const Resource resource : kResources) {
      grow(wait_[resource]);
      grow(units_[resource]);
    }
  }

  void SortByStage(std::vector<std::size_t>& places) const {
    std::sort(places.begin(), places.end(),
              [&](std::size_t a, std::size_t b) { return stages_[a] < stages_[b]; });
  }

  // Nothing of it is there; it may come again at the same instant.
  void Rest(std::size_t place) {
    tasks_[place] = 0;
    for (const Resource resource : kResources) {
      waiting_[resource][place] = 0;
      taking_[resource][place] = 0;
      known_[resource][place] = 0;
    }
  }

  // In the order of the ledger's keys, so that where one is found the next one is behind it: often
  // all stages leave at one instant, each of which has met all others.
  void FlushLeaving() {
    std::vector<std::size_t> there;
    for (const auto& [stage, place] : place_of_) there.push_back(place);
    SortByStage(there);
    auto next = ledger_.meetings.begin();
    for (const std::size_t target : there) {
      for (const std::size_t source : pieces_[target] == 0 ? there : leaving_) {
        Flush(target, source, next);
      }
    }
  }

  // REQUIRES: its meetings are in the ledger.
  void Leave(std::size_t place) {
    const double unreported = std::exchange(unreported_[place], 0);
    if (unreported > kRounding) {
      ledger_.meetings[{stages_[place], host_, kUnreported}].wait_seconds[Resource::kProcessor] +=
          unreported;
    }
    for (const Resource resource : {Resource::kNetwork, Resource::kIo}) {
      const Crowding crowding = std::exchange(crowding_[resource][place], {});
      if (crowding.seconds <= 0) continue;
      ledger_.stages[{stages_[place], host_}].crowding(resource) += crowding;
    }
    place_of_.erase(stages_[place]);
    free_.push_back(place);
  }

  double Take(Column& table, std::size_t target, std::size_t source) const {
    if (table.empty()) return 0;
    return std::max(0.0, std::exchange(table[target * stride_ + source], 0));
  }

  // `next`: where the ledger would have the meeting, or anywhere; then what is behind it.
  void Flush(std::size_t target, std::size_t source, Meetings::iterator& next) {
    Meeting met{.overlap_seconds = Take(overlap_, target, source)};
    bool is_any = met.overlap_seconds > 0;
    for (const Resource resource : kResources) {
      met.wait_seconds[resource] = Take(wait_[resource], target, source);
      met.units[resource] = Take(units_[resource], target, source);
      is_any = is_any || met.wait_seconds[resource] > 0;
    }
    if (!is_any) return;
    const MeetingKey key{stages_[target], host_, stages_[source]};
    next = ledger_.meetings.try_emplace(next, key);
    Meeting& sum = next->second;
    sum.overlap_seconds += met.overlap_seconds;
    for (const Resource resource : kResources) {
      sum.wait_seconds[resource] += met.wait_seconds[resource];
      sum.units[resource] += met.units[resource];
    }
    ++next;
  }

  const Host host_;
  Ledger& ledger_;
  absl::flat_hash_map<Stage, std::size_t> place_of_;
  std::vector<std::size_t> free_;
  std::vector<std::size_t> leaving_;  // since the last instant; some may have come again
  // By place. A place without pieces is free, and all of it is zero.
  std::vector<Stage> stages_;
  std::vector<std::int64_t> pieces_;
  Column tasks_;
  Column unreported_;  // processor waits that no task explains
  PerResource<Column> waiting_;
  PerResource<Column> taking_;
  PerResource<Column> known_;
  PerResource<std::vector<Crowding>> crowding_;  // of the network and of IO
  // By pairs of places: target x stride + source; empty while all of it is zero.
  bool has_met_ = false;  // whether any is not
  std::size_t stride_ = 0;
  Column overlap_;
  PerResource<Column> wait_;
  PerResource<Column> units_;
};

Presence PresenceOf(const Piece& piece, Host host) {
  if (!IsQueue(host)) return Runner(piece);
  return IsQueue(piece.host) ? Waiter(piece) : SlotHolder();
}

}  // namespace

void Sweep(std::span<const Piece> pieces, Host host, Ledger& ledger) {
  const bool is_any_waiting = std::any_of(pieces.begin(), pieces.end(),
                                          [](const Piece& piece) { return IsQueue(piece.host); });
  if (IsQueue(host) && !is_any_waiting) return;
  std::vector<Instant> instants = InstantsOf(pieces);
  if (IsQueue(host)) DropWhatChangesNothing(pieces, instants);
  if (instants.empty()) return;
  HostSweep sweep(host, ledger);
  double passed = instants.front().at;
  for (const Instant& instant : instants) {
    if (instant.at > passed) sweep.Pass(instant.at - passed);
    passed = instant.at;
    sweep.Change(instant.stage, PresenceOf(pieces[instant.piece], host), instant.sign);
  }
  sweep.LeaveAll();
}

}  // namespace tidemark::blame
