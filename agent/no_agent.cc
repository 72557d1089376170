#include "agent/no_agent.h"

namespace tidemark::agent {
namespace {

class NoMapTask final : public MapTaskAgent {
 public:
  void InputRead(std::uint64_t, std::uint64_t) override {}
  void AddGroup(std::uint32_t, std::string_view, std::uint64_t, std::uint64_t) override {}
  void Finish() override {}
};

class NoReduceTask final : public ReduceTaskAgent {
 public:
  void InputFetched(std::uint64_t) override {}
  void Shuffled() override {}
  void BeginGroup(std::string_view) override {}
  void ValueRead(std::uint64_t) override {}
  void BytesEmitted(std::uint64_t) override {}
  void EndGroup() override {}
  void Finish() override {}
};

class NoAgent final : public Agent {
 public:
  void OpenJob(const JobOpened&) override {}
  void OpenStage(const StageOpened&) override {}
  void OpenExecutor(const ExecutorOpened&) override {}
  void CloseJob(JobOutcome, std::string_view) override {}
  void Changed(const AttemptChanged&) override {}
  std::unique_ptr<MapTaskAgent> StartMapTask(TaskAttempt) override { return MakeNoMapTask(); }
  std::unique_ptr<ReduceTaskAgent> StartReduceTask(TaskAttempt) override {
    return MakeNoReduceTask();
  }
  bool Flush(absl::Duration) override { return true; }
  void Shutdown() override {}
  AgentStats stats() const override { return {}; }
};

}  // namespace

std::unique_ptr<MapTaskAgent> MakeNoMapTask() { return std::make_unique<NoMapTask>(); }
std::unique_ptr<ReduceTaskAgent> MakeNoReduceTask() { return std::make_unique<NoReduceTask>(); }
std::unique_ptr<Agent> MakeNoAgent() { return std::make_unique<NoAgent>(); }

}  // namespace tidemark::agent
