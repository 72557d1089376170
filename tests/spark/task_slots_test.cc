

#include <nlohmann/json.hpp>

#include "spark/log_reader.h"
#include "spark/measured_stages.h"
#include "tests/spark/some_log.h"
#include "tests/test.h"
#include "whatif/phases/settings.h"

namespace tidemark::spark::task_slots_test {
namespace {

using nlohmann::json;

json InfoOfExecutor(std::uint32_t cores, std::size_t gpus = 0, std::uint64_t profile = 0) {
  json executor = {{"Host", "h"}, {"Total Cores", cores}, {"Resource Profile Id", profile}};
  if (gpus > 0) {
    executor["Resources"]["gpu"] = {{"name", "gpu"},
                                    {"addresses", std::vector<std::string>(gpus, "0")}};
  }
  return executor;
}

json ProfileEvent(std::uint64_t id, double cpus, double gpus) {
  return {{"Event", "SparkListenerResourceProfileAdded"},
          {"Resource Profile Id", id},
          {"Executor Resource Requests",
           {{"cores", {{"Resource Name", "cores"}, {"Amount", 8}}},
            {"gpu", {{"Resource Name", "gpu"}, {"Amount", 2}}}}},
          {"Task Resource Requests",
           {{"cpus", {{"Resource Name", "cpus"}, {"Amount", cpus}}},
            {"gpu", {{"Resource Name", "gpu"}, {"Amount", gpus}}}}}};
}

TEST(TaskSlots, FollowTheCoresOfATask) {
  TaskSlots slots;
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8))), 8u);
  slots.OnEnvironment({{"spark.task.cpus", "3"}});
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8))), 2u);
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(2))), 0u);
  EXPECT_EQ(slots.Of(ExecutorSizeIn(nullptr)), 0u);
}

// Two tasks that need half of a GPU share one GPU. Three tasks that need 0.3 of a GPU share one
// GPU.
TEST(TaskSlots, FollowTheResourcesOfATask) {
  TaskSlots slots;
  slots.OnEnvironment({{"spark.task.cpus", "1"},
                       {"spark.task.resource.gpu.amount", "1"},
                       {"spark.executor.resource.gpu.amount", "2"}});
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8))), 2u) << "as requested";
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8, 4))), 4u) << "as granted";
  slots.OnEnvironment({{"spark.task.resource.gpu.amount", "0.5"}});
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8, 2))), 4u);
  slots.OnEnvironment({{"spark.task.resource.gpu.amount", "0.3"}});
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8, 2))), 6u);
  for (const char* wrong : {"0", "-1", "nan", "many", "1e-320"}) {
    TaskSlots others;
    others.OnEnvironment({{"spark.task.resource.gpu.amount", wrong}});
    EXPECT_EQ(others.Of(ExecutorSizeIn(InfoOfExecutor(8, 2))), 8u) << wrong;
  }
}

TEST(TaskSlots, FollowTheResourceProfileOfTheExecutor) {
  TaskSlots slots;
  slots.OnProfile(ProfileEvent(3, 2, 1));
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8, 2, 3))), 2u);
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8, 0, 3))), 2u)
      << "the profile requests two GPUs";
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8, 2, 0))), 8u);
  slots.OnProfile({{"Resource Profile Id", "no number"}});
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8, 2, 7))), 8u) << "an unknown profile";
}

// Returns the log of an application whose executors have eight cores and two GPUs. Each task needs
// one GPU.
std::string LogWithGpus() {
  test::SomeLog log({.properties = {{"spark.executor.memory", "1g"},
                                    {"spark.executor.instances", "1"},
                                    {"spark.executor.cores", "8"},
                                    {"spark.task.resource.gpu.amount", "1"},
                                    {"spark.executor.resource.gpu.amount", "2"}},
                     .executors = 0});
  log.Add(ProfileEvent(1, 4, 0.25));
  for (const std::uint64_t profile : {0u, 1u}) {
    log.Add({{"Event", "SparkListenerExecutorAdded"},
             {"Timestamp", test::SomeLog::kBeginMs},
             {"Executor ID", std::to_string(profile + 1)},
             {"Executor Info", InfoOfExecutor(8, 2, profile)}});
  }
  return log.text();
}

TEST(TaskSlots, AreReadFromLogsOfProgressAndOfSettings) {
  for (const bool measures : {false, true}) {
    MeasuredStages measured;
    LogParser parser({.measured = measures ? &measured : nullptr});
    std::vector<std::uint32_t> slots;
    parser.Feed(LogWithGpus(), [&](const Event& event) {
      const auto* executor = std::get_if<ExecutorOpened>(&event.body);
      if (executor != nullptr) slots.push_back(executor->slots);
    });
    EXPECT_THAT(slots, ElementsAre(2u, 2u)) << "the second has eight cores, four for each task";
    if (measures) {
      EXPECT_EQ(measured.properties().at("spark.task.resource.gpu.amount"), "1");
    }
  }
}

TEST(Settings, LimitTasksByResources) {
  phases::Properties properties = {{"spark.executor.instances", "2"},
                                   {"spark.executor.cores", "8"},
                                   {"spark.executor.resource.gpu.amount", "2"},
                                   {"spark.task.resource.gpu.amount", "0.5"}};
  const auto slots = [&] { return phases::ParseSettings("3.5.1", properties, {}).value().slots(); };
  EXPECT_EQ(slots(), 8);
  properties["spark.task.resource.gpu.amount"] = "1";
  EXPECT_EQ(slots(), 4);
  properties["spark.task.cpus"] = "8";
  EXPECT_EQ(slots(), 2);
  properties["spark.task.resource.gpu.amount"] = "3";
  EXPECT_THAT(phases::ParseSettings("3.5.1", properties, {}).status().message(),
              HasSubstr("spark.task.resource.gpu.amount: 3 exceeds the 2 of an executor"));
  properties["spark.task.resource.gpu.amount"] = "none";
  EXPECT_THAT(
      phases::ParseSettings("3.5.1", properties, {}).status().message(),
      HasSubstr("spark.task.resource.gpu.amount: \"none\" is not a number from 1e-6 to 1e9"));
  EXPECT_FALSE(phases::IsModelled("spark.task.resource..amount"));
  EXPECT_FALSE(phases::IsModelled("spark.task.resource.gpu.vendor"));
  EXPECT_TRUE(phases::IsModelled("spark.task.cpus"));
}

TEST(TaskSlots, AProfileWithoutCoresHasTheCoresOfTheSettings) {
  TaskSlots slots;
  slots.OnEnvironment({{"spark.task.cpus", "4"}});
  slots.OnProfile({{"Resource Profile Id", 1u},
                   {"Executor Resource Requests", nlohmann::json::object()},
                   {"Task Resource Requests", nlohmann::json::object()}});
  EXPECT_EQ(slots.Of(ExecutorSizeIn(InfoOfExecutor(8, 0, 1))), 2u);
}

TEST(TaskSlots, AProfileReplacesTheAmountsOfTheSettings) {
  TaskSlots slots;
  slots.OnProfile(ProfileEvent(3, 2, 0.5));
  const phases::Properties properties = {{"spark.task.cpus", "1"},
                                         {"spark.serializer", "a.KryoSerializer"},
                                         {"spark.task.resource.fpga.amount", "1"}};
  EXPECT_EQ(slots.WithProfile(0, properties), properties);
  EXPECT_EQ(slots.WithProfile(7, properties), properties) << "an unknown profile";
  EXPECT_EQ(slots.WithProfile(3, properties),
            (phases::Properties{{"spark.task.cpus", "2"},
                                {"spark.serializer", "a.KryoSerializer"},
                                {"spark.task.resource.gpu.amount", "0.5"},
                                {"spark.executor.resource.gpu.amount", "2"}}));
}

TEST(Settings, AnExecutorWithoutAWholeUnitRunsNoTask) {
  EXPECT_EQ(phases::TasksByResource(0.5, 0.5), 0);
  EXPECT_EQ(phases::TasksByResource(0.5, 1e-320), 0) << "not 0 times infinity";
  EXPECT_EQ(phases::TasksByResource(2, 0.5), 4);
}

}  // namespace
}  // namespace tidemark::spark::task_slots_test
