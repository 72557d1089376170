// Compares sums with a simple implementation that visits all pairs of tasks at all times, for
// random pieces, and checks invariants.

#include "master/waits/contention.h"
#include "master/waits/proto_graph.h"
#include "tests/test.h"
#include "tests/waits/some_pieces.h"

namespace tidemark::waits::contention_property_test {
namespace {

constexpr std::uint32_t kStages = 6;
constexpr std::uint32_t kHosts = 2;

// Times are quarters of seconds, so many times are equal.
std::vector<Piece> RandomPieces(std::uint32_t seed, bool all_is_known) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::vector<Piece> pieces;
  for (int p = 0; p < 30; ++p) {
    const double from = below(400) / 4.0;
    const double seconds = below(80) / 4.0;
    if (below(6) == 0) {
      pieces.push_back(Queued(S(below(kStages)), from, from + seconds));
      continue;
    }
    Task task(S(below(kStages)), H(below(kHosts)), from, from + seconds);
    for (const WaitReason resource : {WaitReason::kMemory, WaitReason::kNetwork, WaitReason::kIo}) {
      if (all_is_known || below(4) > 0) {
        task.Waited(resource, seconds * (1 + below(9)) / 10.0, 1 + below(100));
      }
    }
    task.Waited(WaitReason::kProcessor, seconds * (1 + below(9)) / 20.0, 1 + below(100));
    if (all_is_known || below(4) > 0) task.Computed(seconds * (1 + below(9)) / 10.0);
    pieces.push_back(task);
  }
  return pieces;
}

// Returns how much of a resource a task uses per second.
std::optional<double> Taking(const Piece& piece, WaitReason resource) {
  const auto& taken = resource == WaitReason::kProcessor ? piece.use.processor_seconds
                                                         : piece.use.of[resource].units;
  if (!taken.has_value()) return std::nullopt;
  return *taken / piece.seconds();
}

using Meetings = std::map<MeetingKey, Meeting>;

void MeetOnHost(const std::vector<const Piece*>& there, double seconds, Meetings& meetings) {
  for (const Piece* a : there) {
    for (const Piece* b : there) {
      if (a != b) meetings[{a->stage, a->host, b->stage}].overlap_seconds += seconds;
    }
    for (const WaitReason resource :
         {WaitReason::kProcessor, WaitReason::kMemory, WaitReason::kNetwork, WaitReason::kIo}) {
      double others = 0;
      double known = 0;
      for (const Piece* b : there) {
        if (a == b) continue;
        others += Taking(*b, resource).value_or(0);
        known += Taking(*b, resource).has_value() ? 1 : 0;
      }
      const bool is_alone = there.size() == 1;
      if (is_alone) others = 0;
      const double part = is_alone ? 1 : known / (static_cast<double>(there.size()) - 1);
      double waiting = a->use.of[resource].wait_seconds.value_or(0) / a->seconds() * part;
      if (resource == WaitReason::kProcessor) {
        const double explained = std::min(waiting, others);
        if (part == 1) {
          meetings[{a->stage, a->host, kUnreported}].wait_seconds[resource] +=
              (waiting - explained) * seconds;
        }
        waiting = explained;
      }
      if (others <= 0) continue;
      for (const Piece* b : there) {
        if (a == b) continue;
        meetings[{a->stage, a->host, b->stage}].wait_seconds[resource] +=
            waiting * seconds * Taking(*b, resource).value_or(0) / others;
      }
    }
  }
}

void MeetInQueue(const std::vector<const Piece*>& waiting, const std::vector<const Piece*>& running,
                 double seconds, Meetings& meetings) {
  std::map<Stage, double> queued;
  std::map<Stage, double> held;
  for (const Piece* a : waiting) {
    ++queued[a->stage];
    for (const Piece* b : waiting) {
      if (a != b) meetings[{a->stage, kTheQueue, b->stage}].overlap_seconds += seconds;
    }
  }
  for (const Piece* b : running) ++held[b->stage];
  for (const auto& [a, tasks] : queued) {
    double others = 0;
    for (const auto& [b, slots] : held) others += a == b ? 0 : slots;
    for (const auto& [b, slots] : held) {
      if (a == b) continue;
      meetings[{a, kTheQueue, b}].wait_seconds[WaitReason::kSlots] +=
          std::min(tasks, others) * seconds * slots / others;
    }
  }
}

Meetings Stupid(const std::vector<Piece>& pieces) {
  std::set<double> instants;
  for (const Piece& piece : pieces) instants.insert({piece.from, piece.to});
  Meetings meetings;
  for (auto at = instants.begin(); at != instants.end() && std::next(at) != instants.end(); ++at) {
    const double seconds = *std::next(at) - *at;
    std::map<Host, std::vector<const Piece*>> there;
    std::vector<const Piece*> running;
    for (const Piece& piece : pieces) {
      if (piece.from > *at || piece.to <= *at) continue;
      there[piece.host].push_back(&piece);
      if (piece.host != kTheQueue) running.push_back(&piece);
    }
    for (const auto& [host, tasks] : there) {
      if (host != kTheQueue) MeetOnHost(tasks, seconds, meetings);
    }
    MeetInQueue(there[kTheQueue], running, seconds, meetings);
  }
  return meetings;
}

// Returns the pieces with at most one task of a stage on a host at a time, since a sweep has only
// the mean of several tasks.
std::vector<Piece> OneAtATime(const std::vector<Piece>& pieces) {
  std::vector<Piece> kept;
  for (const Piece& piece : pieces) {
    const bool meets = std::any_of(kept.begin(), kept.end(), [&](const Piece& other) {
      return piece.host != kTheQueue && other.stage == piece.stage && other.host == piece.host &&
             other.from < piece.to && piece.from < other.to;
    });
    if (!meets) kept.push_back(piece);
  }
  return kept;
}

void ExpectSame(const Meetings& expected, const Ledger& ledger) {
  for (const auto& [key, met] : expected) {
    const auto found = ledger.meetings.find(key);
    const Meeting actual = found == ledger.meetings.end() ? Meeting{} : found->second;
    EXPECT_NEAR(actual.overlap_seconds, met.overlap_seconds, 1e-9);
    for (const WaitReason resource : kWaitReasons) {
      EXPECT_NEAR(actual.wait_seconds[resource], met.wait_seconds[resource], 1e-9)
          << InfoOf(resource).name;
    }
  }
  for (const auto& [key, met] : ledger.meetings) EXPECT_TRUE(expected.contains(key));
}

void ExpectSame(const Crowding& expected, const Crowding& actual) {
  const auto expect = [](double is, double should_be) {
    EXPECT_NEAR(is, should_be, 1e-9 * (1 + should_be));
  };
  expect(actual.seconds, expected.seconds);
  expect(actual.units, expected.units);
  expect(actual.wait_seconds, expected.wait_seconds);
  expect(actual.waits_squared, expected.waits_squared);
  expect(actual.crowds_squared, expected.crowds_squared);
  expect(actual.waits_by_crowds, expected.waits_by_crowds);
}

void ExpectSame(const Ledger& expected, const Ledger& ledger) {
  ExpectSame(Meetings(expected.meetings.begin(), expected.meetings.end()), ledger);
  ASSERT_EQ(expected.stages.size(), ledger.stages.size());
  for (const auto& [key, sums] : expected.stages) {
    const StageOnHost& actual = ledger.stages.at(key);
    EXPECT_NEAR(actual.seconds, sums.seconds, 1e-9);
    EXPECT_NEAR(actual.processor_seconds, sums.processor_seconds, 1e-9);
    for (const WaitReason resource : kWaitReasons) {
      EXPECT_NEAR(actual.waited[resource].wait_seconds, sums.waited[resource].wait_seconds, 1e-9);
      EXPECT_NEAR(actual.waited[resource].rated_units, sums.waited[resource].rated_units, 1e-9);
    }
    for (std::size_t i = 0; i < sums.crowdings.size(); ++i) {
      ExpectSame(sums.crowdings[i], actual.crowdings[i]);
    }
  }
}

class Random : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Random, ::testing::Range(0U, 40U));

TEST_P(Random, SweepEqualsTheSumOverAllPairs) {
  const std::vector<Piece> pieces = OneAtATime(RandomPieces(GetParam(), false));
  ExpectSame(Stupid(pieces), Folded(pieces));
}

TEST_P(Random, OverlapsOfOneStageEqualTheSumOverAllPairs) {
  const std::vector<Piece> pieces = RandomPieces(GetParam(), false);
  const Ledger ledger = Folded(pieces);
  for (const auto& [key, met] : Stupid(pieces)) {
    if (met.overlap_seconds == 0) continue;
    EXPECT_NEAR(ledger.meetings.at(key).overlap_seconds, met.overlap_seconds, 1e-9);
  }
}

TEST_P(Random, OrderDoesNotMatter) {
  std::vector<Piece> pieces = RandomPieces(GetParam(), false);
  const Ledger expected = Folded(pieces);
  std::mt19937 random(GetParam());
  std::shuffle(pieces.begin(), pieces.end(), random);
  ExpectSame(expected, Folded(pieces));
}

TEST_P(Random, IncrementalFoldingEqualsFoldingAtOnce) {
  const std::vector<Piece> pieces = RandomPieces(GetParam(), false);
  std::mt19937 random(GetParam());
  Contention contention({.seconds = 10, .kept = 3});
  for (const Piece& piece : pieces) ASSERT_TRUE(contention.Add(piece).ok());
  for (double now = -5; now < 150; now += static_cast<double>(1 + random() % 7)) {
    contention.Advance(now);
  }
  EXPECT_EQ(contention.pending(), 0);
  ExpectSame(Folded(pieces), SumsOf(contention));
}

// The sums of the last 20 s equal the sums of the same pieces, cut at that time.
TEST_P(Random, LastSecondsEqualTheSumsOfTheCutPieces) {
  const std::vector<Piece> pieces = RandomPieces(GetParam(), false);
  Contention contention({.seconds = 10, .kept = 3});
  for (const Piece& piece : pieces) ASSERT_TRUE(contention.Add(piece).ok());
  contention.Advance(80);
  std::vector<Piece> cut;
  for (const Piece& piece : pieces) {
    if (piece.from >= 80 || piece.to < 60 || (piece.to == 60 && piece.from < 60)) continue;
    cut.push_back(Clip(piece, 60, 80));
  }
  std::vector<Stage> all;
  for (std::uint32_t s = 0; s < kStages; ++s) all.push_back(S(s));
  ExpectSame(Folded(cut), contention.Of(all, 20));
}

TEST_P(Random, AttributedWaitsAreAtMostTheWaits) {
  const Ledger ledger = Folded(RandomPieces(GetParam(), false));
  std::map<std::pair<StageHost, WaitReason>, double> taken;
  for (const auto& [key, met] : ledger.meetings) {
    if (key.host == kTheQueue) continue;
    for (const WaitReason resource : kWaitReasons) {
      taken[{{key.target, key.host}, resource}] += met.wait_seconds[resource];
    }
  }
  for (const auto& [key, seconds] : taken) {
    EXPECT_LE(seconds, ledger.stages.at(key.first).waited[key.second].wait_seconds + 1e-9);
  }
}

std::vector<QueryStage> Infos() {
  std::vector<QueryStage> stages;
  for (std::uint32_t s = 0; s < kStages; ++s) stages.push_back({.query = Q(s / 2)});
  return stages;
}

// Impacts on a vertex sum to one or zero, so the responsibility does not increase from one level to
// the next.
TEST_P(Random, SharesSumToOneOrZero) {
  const std::vector<Target> targets = {{.query = Q(0), .stages = {S(0), S(1)}},
                                       {.query = Q(2), .stages = {S(4), S(5)}}};
  const auto graph = Explain(Folded(RandomPieces(GetParam(), false)), Infos(), targets).value();
  std::map<VertexIndex, double> into;
  for (const Edge& edge : graph.edges) into[edge.child] += edge.impact;
  for (const auto& [child, sum] : into) EXPECT_NEAR(sum, sum > 0 ? 1 : 0, 1e-9);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    double below = 1;
    for (const Level level : {Level::kTargetStage, Level::kImmediate, Level::kDeep, Level::kBlame,
                              Level::kSourceStage, Level::kSourceQuery}) {
      const double sum = SumOf(graph, level, t);
      EXPECT_LE(sum, below + 1e-9);
      below = sum;
    }
  }
}

// All stages are present all the time and report everything, so no wait is unexplained.
TEST_P(Random, WithAllEvidenceSharesOfEachLevelSumToOne) {
  std::vector<Piece> pieces = RandomPieces(GetParam(), true);
  for (std::uint32_t s = 0; s < kStages; ++s) {
    for (std::uint32_t h = 0; h < kHosts; ++h) {
      Task task(S(s), H(h), 0, 120);
      for (const WaitReason resource : kWaitReasons) {
        if (resource != WaitReason::kSlots) task.Waited(resource, 10 + s, 5 + h);
      }
      pieces.push_back(task.Computed(60));
    }
    pieces.push_back(Queued(S(s), 0, 120));
  }
  const std::vector<Target> targets = {{.query = Q(1), .stages = {S(2), S(3)}}};
  const auto graph = Explain(Folded(pieces), Infos(), targets).value();
  for (const Level level :
       {Level::kTargetQuery, Level::kTargetStage, Level::kImmediate, Level::kDeep, Level::kBlame,
        Level::kSourceStage, Level::kSourceQuery}) {
    EXPECT_NEAR(SumOf(graph, level, 0), 1, 1e-9);
  }
}

}  // namespace
}  // namespace tidemark::waits::contention_property_test
