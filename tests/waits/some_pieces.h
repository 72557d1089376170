// Short notations for the pieces of tasks.
#pragma once

#include "bench/blame/ranking.h"
#include "master/waits/contention.h"
#include "master/waits/ledger.h"
#include "master/waits/proto_graph.h"
#include "tests/test.h"

namespace tidemark::waits {

inline Stage S(std::uint32_t number) { return Stage{number}; }
inline Query Q(std::uint32_t number) { return Query{number}; }
inline constexpr Host kTheQueue = QueueOf(Pool{0});
inline Host H(std::uint32_t number) { return Host{number}; }

// Matches an item that has this weight in a ranking.
MATCHER_P2(Weighs, of, weight, "") { return arg.of == of && std::abs(arg.weight - weight) < 1e-9; }

// A whole task with its times, its host and its amounts.
class Task {
 public:
  Task(Stage stage, Host host, double from, double to) {
    piece_ = {.stage = stage, .host = host, .from = from, .to = to};
  }
  Task& Waited(WaitReason resource, double seconds, std::optional<double> units = std::nullopt) {
    piece_.use.of[resource] = {.wait_seconds = seconds, .units = units};
    return *this;
  }
  Task& Took(WaitReason resource, double units) {
    piece_.use.of[resource].units = units;
    return *this;
  }
  Task& Computed(double seconds) {
    piece_.use.processor_seconds = seconds;
    return *this;
  }
  operator Piece() const { return piece_; }  // NOLINT: lists of tasks are lists of pieces

 private:
  Piece piece_;
};

// Returns a wait for one slot.
inline Piece Queued(Stage stage, double from, double to) {
  return Task(stage, kTheQueue, from, to).Waited(WaitReason::kSlots, to - from, 1);
}

// Returns the sums of the first 256 stages.
inline Ledger SumsOf(const Contention& contention) {
  std::vector<Stage> stages;
  for (std::uint32_t s = 0; s < 256; ++s) stages.push_back(S(s));
  return contention.Of(stages);
}

inline Ledger Folded(const std::vector<Piece>& pieces, double until = 1e6) {
  Contention contention;
  for (const Piece& piece : pieces) {
    const absl::Status added = contention.Add(piece);
    EXPECT_TRUE(added.ok()) << added;
  }
  contention.Advance(until);
  return SumsOf(contention);
}

inline double SumOf(const ProtoGraph& graph, Level level, std::size_t target) {
  double sum = 0;
  for (VertexIndex v = 0; v < graph.vertices.size(); ++v) {
    if (graph.vertices[v].level == level) sum += Responsibility(graph, v, target);
  }
  return sum;
}

}  // namespace tidemark::waits
