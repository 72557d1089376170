#include "transport/turn_queue.h"

#include "tests/test.h"

namespace tidemark::transport::turn_queue_test {
namespace {

TEST(AwaitStop, ReturnsTrueOnlyAfterAStop) {
  std::stop_source source;
  EXPECT_FALSE(AwaitStop(source.get_token(), -absl::Seconds(1)));
  source.request_stop();
  EXPECT_TRUE(AwaitStop(source.get_token(), absl::InfiniteDuration()));
}

// A queue with one thread that does nothing before Go().
class TurnQueueTest : public ::testing::Test {
 protected:
  TurnQueueTest() {
    queue_.Add("gate", [this] { gate_.get_future().wait(); });
  }
  void Go() { gate_.set_value(); }
  void Note(const std::string& what) { done_.push_back(what); }
  void Await() {
    std::promise<void> last;
    queue_.Add("last", [&] { last.set_value(); });
    last.get_future().wait();
  }

  std::promise<void> gate_;
  std::vector<std::string> done_;  // only accessed by the thread of the queue
  TurnQueue queue_{1};
};

TEST_F(TurnQueueTest, AKeyWithMuchWorkDelaysTheOthersByOnePiece) {
  for (const char* piece : {"a1", "a2", "a3"}) queue_.Add("a", [=, this] { Note(piece); });
  for (const char* piece : {"b1", "b2"}) queue_.Add("b", [=, this] { Note(piece); });
  queue_.Add("c", [this] { Note("c1"); });
  Go();
  while (queue_.IsBusy("a") || queue_.IsBusy("b")) std::this_thread::yield();
  Await();
  EXPECT_THAT(done_, ElementsAre("a1", "b1", "c1", "a2", "b2", "a3"));
}

TEST_F(TurnQueueTest, WorkThatAddsItsRestWaitsForTheOthers) {
  std::function<void(int)> fold = [&](int left) {
    Note("flood");
    if (left > 1) queue_.Add("flood", [&, left] { fold(left - 1); });
  };
  queue_.Add("flood", [&] { fold(3); });
  queue_.Add("calm", [this] { Note("calm"); });
  Go();
  while (queue_.IsBusy("flood")) std::this_thread::yield();
  Await();
  EXPECT_THAT(done_, ElementsAre("flood", "calm", "flood", "flood"));
}

TEST(TurnQueueLimits, RejectsMoreThanItsLimitsAndRunsTheRest) {
  std::vector<std::string> done;
  std::promise<void> gate;
  std::promise<void> begun;
  {
    TurnQueue queue(1, 0, {.of_key_max = 2, .waiting_max = 2});
    using Result = TurnQueue::Result;
    EXPECT_EQ(queue.TryAdd("a",
                           [&] {
                             begun.set_value();
                             gate.get_future().wait();
                             done.push_back("a1");
                           }),
              Result::kAdded);
    begun.get_future().wait();
    EXPECT_EQ(queue.TryAdd("a", [&] { done.push_back("a2"); }), Result::kAdded);
    EXPECT_EQ(queue.TryAdd("a", [] { FAIL(); }), Result::kKeyIsFull) << "one runs and one waits";
    EXPECT_EQ(queue.TryAdd("b", [&] { done.push_back("b1"); }), Result::kAdded);
    EXPECT_EQ(queue.TryAdd("c", [] { FAIL(); }), Result::kIsFull);
    EXPECT_FALSE(queue.IsBusy("c"));
    gate.set_value();
  }
  EXPECT_THAT(done, ElementsAre("a1", "b1", "a2"));
}

TEST_F(TurnQueueTest, IsBusyUntilTheLastPieceIsDone) {
  EXPECT_TRUE(queue_.IsBusy("gate"));
  queue_.Add("a", [] {});
  EXPECT_TRUE(queue_.IsBusy("a"));
  EXPECT_FALSE(queue_.IsBusy("b"));
  Go();
  while (queue_.IsBusy("gate") || queue_.IsBusy("a")) std::this_thread::yield();
}

TEST_F(TurnQueueTest, FinishesPendingWorkBeforeItStopsAndRejectsMore) {
  EXPECT_TRUE(queue_.Add("a", [this] {
    Note("a1");
    EXPECT_FALSE(queue_.Add("a", [this] { Note("more"); })) << "it is stopping";
  }));
  EXPECT_TRUE(queue_.Add("a", [this] { Note("a2"); }));
  std::thread stop([this] { queue_.Stop(); });
  // Rejected work shows that the queue is stopping.
  while (queue_.Add("b", [] {})) std::this_thread::yield();
  Go();
  stop.join();
  EXPECT_THAT(done_, ElementsAre("a1", "a2"));
  EXPECT_FALSE(queue_.IsBusy("a"));
}

TEST(TurnQueue, PiecesOfOneKeyAreDoneOneAtATimeByManyThreads) {
  TurnQueue queue(4, kNice);
  std::mutex mutex;
  int running = 0;
  int most = 0;
  std::promise<void> last;
  for (int i = 0; i < 200; ++i) {
    queue.Add("a", [&, i] {
      {
        const std::lock_guard lock(mutex);
        most = std::max(most, ++running);
      }
      std::this_thread::yield();
      const std::lock_guard lock(mutex);
      --running;
      if (i == 199) last.set_value();
    });
  }
  last.get_future().wait();
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace tidemark::transport::turn_queue_test
