#include "master/service/estimate_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "tidemark/limit.h"

namespace tidemark::service {
namespace {

TEST(EstimateQueue, DoesWhatItIsAskedForAndAFewForEachAtATime) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::promise<void> done;
  EstimateQueue queue;
  ASSERT_TRUE(queue
                  .Add("a",
                       [&] {
                         begun.set_value();
                         go_on.get_future().get();
                       })
                  .ok());
  begun.get_future().get();
  for (std::size_t i = 1; i < EstimateQueue::kOfOneCallerMax; ++i) {
    EXPECT_TRUE(queue.Add("a", [] {}).ok());
  }
  EXPECT_EQ(ExceededLimit(queue.Add("a", [] { FAIL(); })), "estimates");
  EXPECT_TRUE(queue.Add("b", [&] { done.set_value(); }).ok());
  go_on.set_value();
  done.get_future().get();
  while (!queue.Add("a", [] {}).ok()) std::this_thread::yield();
}

TEST(EstimateQueue, TakesNoMoreCallersThanItsLimit) {
  std::atomic<int> done = 0;
  {
    std::promise<void> begun;
    std::promise<void> go_on;
    EstimateQueue queue(/*waiting_max=*/1);
    ASSERT_TRUE(queue
                    .Add("a",
                         [&] {
                           begun.set_value();
                           go_on.get_future().get();
                           ++done;
                         })
                    .ok());
    begun.get_future().get();
    EXPECT_TRUE(queue.Add("b", [&] { ++done; }).ok());
    EXPECT_TRUE(absl::IsResourceExhausted(queue.Add("c", [&] { ++done; })));
    go_on.set_value();
  }
  EXPECT_EQ(done, 2) << "what was taken is done before the queue ends";
}

}  // namespace
}  // namespace tidemark::service
