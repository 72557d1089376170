// Tests that an engine without memory continues without its agent.

#include <new>

#include "tests/agent/recording_server.h"
#include "tests/test.h"
#include "tidemark/agent.h"

namespace {

// The index of the first large allocation that fails, as do all later ones. 0 if none fails.
std::atomic<int> failing_from = 0;
constexpr std::size_t kLarge = 200'000;

bool Fails(std::size_t bytes) {
  if (bytes < kLarge || failing_from.load() == 0) return false;
  return failing_from.load() == 1 || failing_from.fetch_sub(1) == 1;
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = Fails(bytes) ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Also replaces the matching operator. Otherwise, the delete operators below would receive memory
// from a sanitizer's own operator.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return Fails(bytes) ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tidemark::agent::out_of_memory_test {
namespace {

class OutOfMemory : public ::testing::Test {
 protected:
  void TearDown() override { failing_from = 0; }

  std::unique_ptr<Agent> Connect() {
    AgentOptions options;
    options.master_address = server_.address();
    options.job_id = "job-1";
    options.buffer_bytes_max = std::size_t{8} << 20;
    options.lambda = 1'000'000;
    options.on_trouble = [this](const std::string& trouble) {
      const std::lock_guard lock(mutex_);
      troubles_.push_back(trouble);
    };
    return Agent::Create(options);
  }
  std::vector<std::string> troubles() {
    const std::lock_guard lock(mutex_);
    return troubles_;
  }

  Record record_;
  RecordingServer server_{record_, Acknowledge};
  std::mutex mutex_;
  std::vector<std::string> troubles_;  // guarded by mutex_
};

const AttemptChanged& LargeEvent() {
  static const AttemptChanged event = {.attempt = {kMapStage, 0, 0},
                                       .state = AttemptState::kFailed,
                                       .failure = std::string(kLarge, 'x')};
  return event;
}

TEST_F(OutOfMemory, InACallTurnsTheAgentOffAndIsReportedOnce) {
  const auto agent = Connect();
  agent->OpenJob({});
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  LargeEvent();  // Created while memory is available.
  failing_from = 1;
  agent->Changed(LargeEvent());
  agent->Changed(LargeEvent());
  EXPECT_FALSE(agent->Flush(absl::Seconds(60)));
  failing_from = 0;
  const auto map = agent->StartMapTask({});
  map->AddGroup(0, "k", 10);
  map->Finish();
  agent->CloseJob(JobOutcome::kSucceeded, "");
  agent->Shutdown();
  EXPECT_THAT(agent->stats().last_error, HasSubstr("out of memory"));
  EXPECT_GE(agent->stats().events_dropped, 3u);
  EXPECT_THAT(troubles(), ElementsAre(HasSubstr("out of memory")));
}

TEST_F(OutOfMemory, InTheAgentThreadDoesNotEndTheProcess) {
  const auto agent = Connect();
  agent->OpenJob({});
  ASSERT_TRUE(agent->Flush(absl::Seconds(60)));
  LargeEvent();
  failing_from = 2;  // The first allocation is the copy that the call makes.
  agent->Changed(LargeEvent());
  EXPECT_FALSE(agent->Flush(absl::Seconds(60)));
  failing_from = 0;
  agent->Shutdown();
  EXPECT_THAT(agent->stats().last_error, HasSubstr("out of memory"));
  EXPECT_EQ(agent->stats().events_dropped, 1u);
  EXPECT_THAT(troubles(), ElementsAre(HasSubstr("out of memory")));
}

TEST_F(OutOfMemory, InAMapTaskEndsItsMeasurements) {
  const auto agent = Connect();
  const auto map = agent->StartMapTask({});
  failing_from = 1;
  // The table of keys grows beyond the available memory.
  for (int i = 0; i < 20'000; ++i) map->AddGroup(0, "key-" + std::to_string(i), 10);
  map->Finish();
  failing_from = 0;
  agent->Shutdown();
  EXPECT_THAT(agent->stats().last_error, HasSubstr("out of memory"));
}

}  // namespace
}  // namespace tidemark::agent::out_of_memory_test
