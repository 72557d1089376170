#include "master/waits/contention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace tidemark::waits {
namespace {

// The use of other tasks is the total use minus the task's own use. A difference of at most this
// share of the total is a rounding error.
constexpr double kRounding = 1e-9;

// The tasks of a stage that are on the host now.
struct Presence {
  double tasks = 0;
  PerWaitReason<double> waiting;  // seconds per second
  PerWaitReason<double> taking;   // units per second
  PerWaitReason<double> known;    // tasks whose use is known
};

Presence Waiter(const Piece& piece) {
  Presence presence{.tasks = piece.tasks};
  presence.waiting[WaitReason::kSlots] = piece.tasks;
  return presence;
}

Presence SlotHolder() {
  Presence presence;
  presence.taking[WaitReason::kSlots] = 1;
  return presence;
}

Presence Runner(const Piece& piece) {
  Presence presence{.tasks = 1};
  for (const WaitReason resource : kWaitReasons) {
    if (resource == WaitReason::kSlots) continue;
    const Use& use = piece.use.of[resource];
    const std::optional<double>& taken =
        resource == WaitReason::kProcessor ? piece.use.processor_seconds : use.units;
    presence.waiting[resource] = use.wait_seconds.value_or(0) / piece.seconds();
    presence.taking[resource] = taken.value_or(0) / piece.seconds();
    presence.known[resource] = taken.has_value() ? 1 : 0;
  }
  return presence;
}

// The start (+1) or end (-1) of a piece.
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

// Removes pairs of times at which a task reports and keeps its slot. Preserves the order.
void DropUnchanged(std::span<const Piece> pieces, std::vector<Instant>& instants) {
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

// Each present stage has an index, starting at 0. Tables are indexed by pairs of stages.
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
    for (const WaitReason resource : kWaitReasons) {
      Add(sign * by.waiting[resource], waiting_[resource][place]);
      Add(sign * by.taking[resource], taking_[resource][place]);
      known_[resource][place] += sign * by.known[resource];
    }
  }

  // Advances by `seconds` without a change.
  void Pass(double seconds) {
    LeaveAll();
    const std::size_t places = stages_.size();
    double all_tasks = 0;
    for (std::size_t a = 0; a < places; ++a) all_tasks += tasks_[a];
    for (std::size_t a = 0; a < places; ++a) {
      if (tasks_[a] <= 0) continue;
      double* row = Row(overlap_, a);
      Spread(tasks_[a] * seconds, tasks_, row);
      row[a] -= tasks_[a] * seconds;  // No task meets itself.
    }
    if (IsQueue(host_)) {
      PassQueue(seconds);
      return;
    }
    for (const WaitReason resource : kWaitReasons) {
      if (resource != WaitReason::kSlots) PassResource(resource, seconds, all_tasks);
    }
  }

  // Moves the sums between departed and present stages to the ledger.
  void LeaveAll() {
    std::erase_if(leaving_, [&](std::size_t place) { return pieces_[place] > 0; });
    if (leaving_.empty()) return;
    SortByStage(leaving_);  // A stage may leave twice at the same time.
    leaving_.erase(std::unique(leaving_.begin(), leaving_.end()), leaving_.end());
    if (has_met_) FlushLeaving();
    for (const std::size_t place : leaving_) Leave(place);
    leaving_.clear();
  }

 private:
  using Column = std::vector<double>;
  using Meetings = decltype(Ledger::meetings);

  // Rates are added and later subtracted. The remaining rounding error counts as zero.
  static void Add(double by, double& rate) {
    rate += by;
    if (rate < kRounding * std::abs(by)) rate = 0;
  }

  void Spread(double amount, const Column& by, double* row) const {
    const std::size_t places = stages_.size();
    for (std::size_t b = 0; b < places; ++b) row[b] += amount * by[b];
  }

  // Waiting tasks lack the slots that other stages hold.
  void PassQueue(double seconds) {
    const Column& held = taking_[WaitReason::kSlots];
    double all = 0;
    for (const double slots : held) all += slots;
    for (std::size_t a = 0; a < stages_.size(); ++a) {
      const double others = all - held[a];
      if (tasks_[a] <= 0 || others < 0.5) continue;
      double* row = Row(wait_[WaitReason::kSlots], a);
      const double each = std::min(tasks_[a], others) * seconds / others;
      Spread(each, held, row);
      row[a] -= each * held[a];
    }
  }

  void PassResource(WaitReason resource, double seconds, double all_tasks) {
    const Column& taking = taking_[resource];
    double all = 0;
    double all_waiting = 0;
    double all_known = 0;
    for (std::size_t b = 0; b < stages_.size(); ++b) {
      all += taking[b];
      // A wait is reported when it is over, so it may be longer than its piece.
      all_waiting += std::min(waiting_[resource][b], tasks_[b]);
      all_known += known_[resource][b];
    }
    for (std::size_t a = 0; a < stages_.size(); ++a) {
      if (waiting_[resource][a] <= 0 && taking[a] <= 0) continue;
      if (tasks_[a] <= 0) continue;
      const double own = taking[a] / tasks_[a];  // use of each waiting task
      const double others = all_tasks <= 1 ? 0 : all - own;
      const double known =
          all_tasks <= 1
              ? 1
              : std::clamp((all_known - known_[resource][a] / tasks_[a]) / (all_tasks - 1), 0.0,
                           1.0);
      if (InfoOf(resource).includes_service && known > 1 - kRounding) {
        PassCrowd(resource, a, all_waiting, seconds);
      }
      double by_others = waiting_[resource][a] * known;
      if (resource == WaitReason::kProcessor) {
        const double explained = std::min(by_others, tasks_[a] * std::max(0.0, others));
        // If all use is known, processes and threads outside tasks used the remaining time.
        if (known > 1 - kRounding) unreported_[a] += (by_others - explained) * seconds;
        by_others = explained;
      }
      if (others <= kRounding * all || all_tasks <= 1) continue;
      Divide(by_others * seconds / others, taking, own, a, wait_[resource]);
      if (InfoOf(resource).includes_service) {
        Divide(taking[a] * seconds * known / others, taking, own, a, units_[resource]);
      }
    }
  }

  // REQUIRES: the use of all present tasks is known.
  void PassCrowd(WaitReason resource, std::size_t a, double all_waiting, double seconds) {
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
      for (const WaitReason resource : kWaitReasons) {
        waiting_[resource].push_back(0);
        taking_[resource].push_back(0);
        known_[resource].push_back(0);
        if (InfoOf(resource).includes_service) crowding_[resource].emplace_back();
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
    for (const WaitReason resource : kWaitReasons) {
      grow(wait_[resource]);
      grow(units_[resource]);
    }
  }

  void SortByStage(std::vector<std::size_t>& places) const {
    std::sort(places.begin(), places.end(),
              [&](std::size_t a, std::size_t b) { return stages_[a] < stages_[b]; });
  }

  // The stage has no piece left, but may return at the same time.
  void Rest(std::size_t place) {
    tasks_[place] = 0;
    for (const WaitReason resource : kWaitReasons) {
      waiting_[resource][place] = 0;
      taking_[resource][place] = 0;
      known_[resource][place] = 0;
    }
  }

  // Follows the order of the ledger's keys, so that each lookup starts at the previous position.
  // Often all stages leave at the same time, and each of these stages has met all others.
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

  // REQUIRES: the ledger has the meetings of the stage.
  void Leave(std::size_t place) {
    const double unreported = std::exchange(unreported_[place], 0);
    if (unreported > kRounding) {
      ledger_.meetings[{stages_[place], host_, kUnreported}].wait_seconds[WaitReason::kProcessor] +=
          unreported;
    }
    for (const WaitReason resource : kWaitReasons) {
      if (!InfoOf(resource).includes_service) continue;
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

  // `next` is a hint for the position of the meeting in the ledger. Afterwards, it points past the
  // meeting.
  void Flush(std::size_t target, std::size_t source, Meetings::iterator& next) {
    Meeting met{.overlap_seconds = Take(overlap_, target, source)};
    bool is_any = met.overlap_seconds > 0;
    for (const WaitReason resource : kWaitReasons) {
      met.wait_seconds[resource] = Take(wait_[resource], target, source);
      met.units[resource] = Take(units_[resource], target, source);
      is_any = is_any || met.wait_seconds[resource] > 0;
    }
    if (!is_any) return;
    const MeetingKey key{stages_[target], host_, stages_[source]};
    next = ledger_.meetings.try_emplace(next, key);
    Meeting& sum = next->second;
    sum.overlap_seconds += met.overlap_seconds;
    for (const WaitReason resource : kWaitReasons) {
      sum.wait_seconds[resource] += met.wait_seconds[resource];
      sum.units[resource] += met.units[resource];
    }
    ++next;
  }

  const Host host_;
  Ledger& ledger_;
  absl::flat_hash_map<Stage, std::size_t> place_of_;
  std::vector<std::size_t> free_;
  // stages that left since the previous time; some may have returned
  std::vector<std::size_t> leaving_;
  // By index. An index without pieces is free, and its values are zero.
  std::vector<Stage> stages_;
  std::vector<std::int64_t> pieces_;
  Column tasks_;
  Column unreported_;  // processor waits that no task explains
  PerWaitReason<Column> waiting_;
  PerWaitReason<Column> taking_;
  PerWaitReason<Column> known_;
  PerWaitReason<std::vector<Crowding>> crowding_;  // only for reasons whose waits include service
  // Indexed by pairs of indexes, target x stride + source. Empty while all values are zero.
  bool has_met_ = false;  // whether any value is not zero
  std::size_t stride_ = 0;
  Column overlap_;
  PerWaitReason<Column> wait_;
  PerWaitReason<Column> units_;
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
  if (IsQueue(host)) DropUnchanged(pieces, instants);
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

void StageShares::Add(Stage stage, double from, double to) {
  if (!(from < to)) return;
  std::vector<Instant>& instants = instants_[stage];
  instants.push_back({.at = from, .tasks = 1});
  instants.push_back({.at = to, .tasks = -1});
}

void StageShares::Sum() {
  for (auto& [stage, instants] : instants_) {
    std::sort(instants.begin(), instants.end(),
              [](const Instant& a, const Instant& b) { return a.at < b.at; });
    std::size_t last = 0;
    for (std::size_t i = 1; i < instants.size(); ++i) {
      if (instants[i].at == instants[last].at) {
        instants[last].tasks += instants[i].tasks;
        continue;
      }
      const double tasks = instants[last].tasks;
      Instant& next = instants[++last];
      next = instants[i];
      next.tasks += tasks;
      next.shared = instants[last - 1].shared;
      if (tasks > 0) next.shared += (next.at - instants[last - 1].at) / tasks;
    }
    instants.resize(last + 1);
  }
}

double StageShares::Of(const Piece& piece) const {
  const auto found = instants_.find(piece.stage);
  if (found == instants_.end() || piece.seconds() <= 0) return 0;
  return (SharedUntil(found->second, piece.to) - SharedUntil(found->second, piece.from)) /
         piece.seconds();
}

// REQUIRES: a piece starts or ends at `at`.
double StageShares::SharedUntil(const std::vector<Instant>& instants, double at) {
  return std::lower_bound(instants.begin(), instants.end(), at,
                          [](const Instant& instant, double to) { return instant.at < to; })
      ->shared;
}

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// A piece of zero length belongs to the interval that starts with it.
bool BeginsBefore(const Piece& piece, double until) { return piece.from < until; }

}  // namespace

absl::Status Contention::Add(const Piece& piece) {
  if (absl::Status checked = CheckPiece(piece); !checked.ok()) return checked;
  Piece rest = piece;
  if (has_folded_ && BeginsBefore(piece, folded_until_)) {
    const Piece late = Clip(piece, kNever, folded_until_);
    LedgerAt(late.from).Add(late);
    if (piece.to <= folded_until_) return absl::OkStatus();
    rest = Clip(piece, folded_until_, piece.to);
  }
  if (!IsQueue(rest.host)) {
    Piece slot = rest;
    slot.use = {};
    pending_[QueueOf(rest.pool)].push_back(slot);
  }
  pending_[rest.host].push_back(rest);
  return absl::OkStatus();
}

void Contention::Advance(double until) {
  if (!std::isfinite(until) || (has_folded_ && until <= folded_until_)) return;
  double from = std::numeric_limits<double>::infinity();
  for (const auto& [host, pieces] : pending_) {
    for (const Piece& piece : pieces) from = std::min(from, piece.from);
  }
  // Time before the kept slices is folded in one step, regardless of its length.
  const double kept_from =
      slices_.seconds * (std::floor(until / slices_.seconds) - static_cast<double>(slices_.kept));
  while (from < until) {
    const double slice_ends = slices_.seconds * (std::floor(from / slices_.seconds) + 1);
    double to = from < kept_from ? kept_from : slice_ends;
    if (!(to > from) || to > until) to = until;
    Fold(from, to);
    from = to;
  }
  has_folded_ = true;
  folded_until_ = until;
  DropSlices(kept_from);
}

// REQUIRES: no pending piece starts before `from`.
void Contention::Fold(double from, double to) {
  Ledger& ledger = LedgerAt(from);
  StageShares shares;
  for (const auto& [host, pieces] : pending_) {
    if (IsQueue(host)) continue;
    for (const Piece& piece : pieces) {
      if (BeginsBefore(piece, to)) {
        shares.Add(piece.stage, std::max(from, piece.from), std::min(to, piece.to));
      }
    }
  }
  shares.Sum();
  for (auto& [host, pieces] : pending_) {
    const std::vector<Piece> now = Take(from, to, pieces);
    for (const Piece& piece : now) {
      if (piece.host == host) ledger.Add(piece, IsQueue(host) ? 0 : shares.Of(piece));
    }
    Sweep(now, host, ledger);
  }
}

// Removes the parts of `pieces` before `to` and returns them.
std::vector<Piece> Contention::Take(double from, double to, std::vector<Piece>& pieces) {
  std::vector<Piece> taken;
  std::size_t kept = 0;
  for (Piece& piece : pieces) {
    if (BeginsBefore(piece, to)) {
      taken.push_back(Clip(piece, from, to));
      if (piece.to <= to) continue;
      piece = Clip(piece, to, piece.to);
    }
    if (kept != static_cast<std::size_t>(&piece - pieces.data())) pieces[kept] = piece;
    ++kept;
  }
  pieces.resize(kept);
  return taken;
}

Ledger& Contention::LedgerAt(double at) {
  const double from = slices_.seconds * std::floor(at / slices_.seconds);
  if (recent_.empty() || recent_.back().from < from) {
    recent_.push_back({.from = from, .ledger = {}});
    return recent_.back().ledger;
  }
  for (auto slice = recent_.rbegin(); slice != recent_.rend(); ++slice) {
    if (slice->from <= at) return slice->ledger;
  }
  return before_;
}

void Contention::DropSlices(double until) {
  while (!recent_.empty() && recent_.front().from < until) {
    before_.Merge(recent_.front().ledger);
    recent_.pop_front();
  }
}

Ledger Contention::Whole() const {
  Ledger whole = before_;
  for (const Slice& slice : recent_) whole.Merge(slice.ledger);
  return whole;
}

bool Contention::IsWithin(const Slice& slice, double last_seconds) const {
  return slice.from >= LastBegins(last_seconds);
}

Ledger Contention::Of(std::span<const Stage> targets,
                      const std::optional<double>& last_seconds) const {
  Ledger of;
  for (const Stage target : std::set<Stage>(targets.begin(), targets.end())) {
    if (!last_seconds) of.MergeTarget(before_, target);
    for (const Slice& slice : recent_) {
      if (!last_seconds || IsWithin(slice, *last_seconds)) of.MergeTarget(slice.ledger, target);
    }
  }
  return of;
}

Ledger Contention::WithSources(std::span<const Stage> targets,
                               const std::optional<double>& last_seconds) const {
  Ledger ledger = Of(targets, last_seconds);
  std::set<StageHost> sources;
  for (const auto& [key, met] : ledger.meetings) {
    const StageHost source = {key.source, key.host};
    if (!ledger.stages.contains(source)) sources.insert(source);
  }
  for (const StageHost& source : sources) {
    if (!last_seconds) ledger.MergeStage(before_, source);
    for (const Slice& slice : recent_) {
      if (!last_seconds || IsWithin(slice, *last_seconds)) ledger.MergeStage(slice.ledger, source);
    }
  }
  return ledger;
}

void Contention::Forget(const absl::flat_hash_set<Stage>& gone, Stage instead) {
  for (auto& [host, pieces] : pending_) {
    std::erase_if(pieces, [&](const Piece& piece) { return gone.contains(piece.stage); });
  }
  before_.Forget(gone, instead);
  for (Slice& slice : recent_) slice.ledger.Forget(gone, instead);
  absl::erase_if(pending_, [](const auto& of_host) { return of_host.second.empty(); });
}

absl::flat_hash_set<Host> Contention::Hosts() const {
  absl::flat_hash_set<Host> hosts;
  for (const auto& [host, pieces] : pending_) {
    if (!pieces.empty()) hosts.insert(host);
  }
  const auto add = [&](const Ledger& ledger) {
    for (const auto& [key, sums] : ledger.stages) hosts.insert(key.host);
  };
  add(before_);
  for (const Slice& slice : recent_) add(slice.ledger);
  return hosts;
}

double Contention::LastBegins(double seconds) const {
  const double kept =
      std::floor(folded_until_ / slices_.seconds) - static_cast<double>(slices_.kept);
  const double asked = std::floor((folded_until_ - seconds) / slices_.seconds);
  return slices_.seconds * std::max(kept, asked);
}

std::size_t Contention::pending() const {
  std::size_t count = 0;
  for (const auto& [host, pieces] : pending_) {
    count += static_cast<std::size_t>(
        std::count_if(pieces.begin(), pieces.end(),
                      [&, &on = host](const Piece& piece) { return piece.host == on; }));
  }
  return count;
}

std::size_t Contention::meetings() const {
  std::size_t sum = before_.meetings.size();
  for (const Slice& slice : recent_) sum += slice.ledger.meetings.size();
  return sum;
}

}  // namespace tidemark::waits
