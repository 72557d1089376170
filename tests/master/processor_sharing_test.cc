#include "master/schedule/processor_sharing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

namespace tidemark::schedule {
namespace {

using Hosts = std::vector<SharedHost>;
using Ends = std::map<std::size_t, double>;

Ends Play(ProcessorSharing& sharing) {
  Ends ends;
  sharing.Run([&](std::size_t task, double at, std::size_t) { ends[task] = at; });
  return ends;
}

TEST(SharedHost, IsAsFastAsAloneWhileProcessorsSuffice) {
  const SharedHost host = {.processors = 2, .others = 0.5};
  EXPECT_DOUBLE_EQ(host.Speed(0), 1);
  EXPECT_DOUBLE_EQ(host.Speed(1), 1);
  EXPECT_DOUBLE_EQ(host.Speed(2), 0.8);
  EXPECT_DOUBLE_EQ(host.Speed(4), 2 / 4.5);
}

// By hand: four tasks of 1, 1, 1 and 4 s on two processors run at half speed for 2 s; then the
// last has 3 s left and a processor of its own.
TEST(ProcessorSharing, TheLastTaskGetsFasterWhenTheOthersEnd) {
  ProcessorSharing sharing(Hosts{{.processors = 2}});
  for (std::size_t task = 0; task < 3; ++task) sharing.Begin(task, 0, 0, 1);
  sharing.Begin(3, 0, 0, 4);
  const Ends ends = Play(sharing);
  for (std::size_t task = 0; task < 3; ++task) EXPECT_DOUBLE_EQ(ends.at(task), 2);
  EXPECT_DOUBLE_EQ(ends.at(3), 5);
}

// By hand: alone until 1 s, then two share one processor; of 3 s the first has 2 left at 1 s. The
// second takes 1 s alone, so it ends at 3 s, and the first, with 1 s left, at 4 s.
TEST(ProcessorSharing, ATaskThatBeginsSlowsTheOthers) {
  ProcessorSharing sharing(Hosts{{.processors = 1}});
  sharing.Begin(0, 0, 0, 3);
  sharing.Begin(1, 0, 1, 1);
  const Ends ends = Play(sharing);
  EXPECT_DOUBLE_EQ(ends.at(1), 3);
  EXPECT_DOUBLE_EQ(ends.at(0), 4);
}

TEST(ProcessorSharing, HostsDoNotShareWithEachOther) {
  ProcessorSharing sharing(Hosts{{.processors = 1}, {.processors = 1}});
  sharing.Begin(0, 0, 0, 1);
  sharing.Begin(1, 1, 0, 1);
  EXPECT_EQ(Play(sharing), (Ends{{0, 1}, {1, 1}}));
}

// By hand: one processor, nine others: ours at a tenth; with one of two gone at 11/10 instead of
// 11 times.
TEST(ProcessorSharing, AmongManyOthersOneTaskLessIsLittleGain) {
  ProcessorSharing sharing(Hosts{{.processors = 1, .others = 9}});
  sharing.Begin(0, 0, 0, 1);
  sharing.Begin(1, 0, 0, 2);
  const Ends ends = Play(sharing);
  EXPECT_DOUBLE_EQ(ends.at(0), 11);
  EXPECT_DOUBLE_EQ(ends.at(1), 21);
}

TEST(ProcessorSharing, ATaskThatEndsMayLetAnotherBegin) {
  ProcessorSharing sharing(Hosts{{.processors = 1}});
  sharing.Begin(0, 0, 0, 2);
  Ends ends;
  sharing.Run([&](std::size_t task, double at, std::size_t host) {
    ends[task] = at;
    if (task == 0) sharing.Begin(1, host, at + 1, 3);
  });
  EXPECT_EQ(ends, (Ends{{0, 2}, {1, 6}}));
}

TEST(ProcessorSharing, EachFutureBeginsAnew) {
  ProcessorSharing sharing(Hosts{{.processors = 1}});
  for (int future = 0; future < 2; ++future) {
    sharing.Begin(0, 0, 0, 1);
    EXPECT_EQ(Play(sharing), (Ends{{0, 1}}));
  }
}

TEST(ProcessorSharing, ServesExactlyTheWorkThereIs) {
  std::mt19937 random(7);
  std::exponential_distribution<double> seconds(0.1);
  ProcessorSharing sharing(Hosts{{.processors = 3}});
  double work = 0;
  for (std::size_t task = 0; task < 200; ++task) {
    const double alone = seconds(random);
    work += alone;
    sharing.Begin(task, 0, 0, alone);
  }
  double before = 0;
  double served = 0;
  std::size_t running = 200;
  sharing.Run([&](std::size_t, double at, std::size_t) {
    ASSERT_GE(at, before);
    served += (at - before) * std::min<double>(3, static_cast<double>(running--));
    before = at;
  });
  EXPECT_EQ(running, 0u);
  EXPECT_NEAR(served, work, 1e-9 * work);
}

}  // namespace
}  // namespace tidemark::schedule
