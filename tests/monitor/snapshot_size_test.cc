// Tests the serialized size of updates of an application with 1,000 stages.

#include "proto/wire/job_codec.h"
#include "proto/wire/snapshot_delta.h"
#include "tests/facts/events.h"
#include "tests/test.h"
#include "tidemark/job_monitor.h"
#include "tidemark/v1/job.pb.h"

namespace tidemark::snapshot_size_test {
namespace {

std::size_t WireBytes(const Snapshot& snapshot) {
  v1::Snapshot message;
  wire::EncodeSnapshot(snapshot, message);
  return message.ByteSizeLong();
}

// 1,000 stages of 10 tasks that take about one second each, in parallel chains.
class Application {
 public:
  Application(std::uint32_t chains, std::uint32_t slots) : chains_(chains), slots_(slots) {
    JobOpened opened = {.name = "big", .submitted_at = At(0)};
    for (std::uint32_t k = 0; k < kStages; ++k) {
      StageOpened& stage = opened.stages.emplace_back();
      stage = {.stage = k, .name = "stage " + std::to_string(k), .task_count = kTasks};
      if (k >= chains) stage.parents = {k - chains};
    }
    Say(0, std::move(opened));
    Say(0, ExecutorOpened{.executor = 0, .host = "worker-1", .slots = slots});
  }

  // Runs until `until`. A free slot runs a task of the stage that has made the least progress.
  void Run(double until) {
    while (true) {
      while (running_.size() < slots_ && now_ < until) StartOne();
      auto next = running_.begin();
      for (auto task = running_.begin(); task != running_.end(); ++task) {
        if (task->ends < next->ends) next = task;
      }
      if (next == running_.end() || next->ends > until) break;
      now_ = next->ends;
      Say(now_, Finished(next->id));
      running_.erase(next);
    }
    now_ = until;
  }

  Snapshot Tick(double seconds) { return monitor_.Tick(At(seconds)); }

 private:
  static constexpr std::uint32_t kStages = 1000;
  static constexpr std::uint32_t kTasks = 10;
  struct Running {
    AttemptId id;
    double ends = 0;
  };

  void Say(double seconds, EventBody body) {
    const absl::Status applied = monitor_.Apply(driver_.At(seconds, std::move(body)));
    EXPECT_TRUE(applied.ok()) << applied;
  }

  void StartOne() {
    const std::uint32_t chain = begun_ % chains_;
    const std::uint32_t of_chain = begun_ / chains_;
    const AttemptId id = {.stage = of_chain / kTasks * chains_ + chain, .index = of_chain % kTasks};
    // Multiples of the golden ratio, scaled to 0.7 to 1.3 s.
    const double spread = std::fmod(begun_ * 0.6180339887498949, 1.0);
    ++begun_;
    AttemptChanged started = Started(id);
    started.executor = 0;
    Say(now_, started);
    running_.push_back({id, now_ + 0.7 + 0.6 * spread});
  }

  const std::uint32_t chains_;
  const std::uint32_t slots_;
  double now_ = 0;
  std::uint32_t begun_ = 0;
  std::vector<Running> running_;
  Source driver_{"driver", "application_1700000000000_0042"};
  JobMonitor monitor_{"application_1700000000000_0042", {}};
};

struct Sizes {
  std::size_t largest = 0;  // number of bytes of the largest delta
  std::size_t stages = 0;   // number of stages in the largest delta
  std::size_t whole = 0;    // number of bytes of the last snapshot
};

// Returns the sizes of the deltas after the first estimate, with one delta per second.
Sizes SizesOf(Application application) {
  constexpr int kFirst = 20;
  constexpr int kTicks = 15;
  Sizes sizes;
  Snapshot before;
  for (int tick = 0; tick < kFirst + kTicks; ++tick) {
    application.Run(tick);
    const Snapshot now = application.Tick(tick);
    if (tick >= kFirst) {
      const Snapshot delta = wire::Delta(before, now);
      EXPECT_EQ(wire::Apply(before, delta).value(), now);
      const std::size_t bytes = WireBytes(delta);
      if (bytes > sizes.largest) sizes = {bytes, delta.stages.size()};
      sizes.whole = WireBytes(now);
    }
    before = now;
  }
  return sizes;
}

// Twenty stages end and twenty stages start at about the same time.
TEST(SnapshotSize, AnUpdateInWhichFortyStagesMoveTakesFourKilobytes) {
  const Sizes sizes = SizesOf(Application(20, 40));
  EXPECT_LE(sizes.largest, 4096u) << sizes.stages << " stages";
  EXPECT_GT(sizes.whole, 60'000u);
}

}  // namespace
}  // namespace tidemark::snapshot_size_test
