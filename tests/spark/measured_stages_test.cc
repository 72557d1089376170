#include "spark/measured_stages.h"

#include <nlohmann/json.hpp>

#include "spark/log_reader.h"
#include "tests/test.h"

namespace tidemark::spark::measured_stages_test {
namespace {

std::string Log(const std::string& name) { return std::string(TIDEMARK_SPARK_LOGS) + "/" + name; }

void Take(MeasuredStages& measured, const nlohmann::json& event) {
  measured.Observe(SparkEvent(event));
}

MeasuredStages Read(const std::string& name) {
  MeasuredStages measured;
  const auto log = LogReader::Open(Log(name), {.measured = &measured});
  EXPECT_TRUE(log.ok()) << log.status();
  for (;;) {
    const auto event = (*log)->Next();
    if (!event.ok() || !*event) break;
  }
  return measured;
}

// The log contains Spark 4.0.1, a local driver with two cores, and a first task of 802 ms that ran
// for 375 ms.
TEST(MeasuredStages, HasVersionExecutorsAndCountersOfTasks) {
  const MeasuredStages measured = Read("local-1795466322781.zst");
  EXPECT_EQ(measured.version(), "4.0.1");
  EXPECT_EQ(measured.executors().count, 1);
  EXPECT_EQ(measured.executors().cores, 2);
  ASSERT_FALSE(measured.stages().empty());
  const phases::TaskCounters& first = measured.stages().at(0).tasks.at(0);
  EXPECT_DOUBLE_EQ(first.seconds, 0.802);
  EXPECT_DOUBLE_EQ(first.running.value(), 0.375);
  EXPECT_DOUBLE_EQ(first.deserialize.value(), 0.24);
  EXPECT_DOUBLE_EQ(first.processor.value(), 0.019644002);
  EXPECT_DOUBLE_EQ(first.input.records, 3);
  EXPECT_DOUBLE_EQ(first.result_bytes, 1677);
}

TEST(MeasuredStages, LeavesOutFailedTasksAndImpossibleValues) {
  MeasuredStages measured;
  const auto end = [&measured](const char* reason, std::uint64_t finish,
                               std::uint64_t read_bytes = 0) {
    Take(measured, {{"Event", "SparkListenerTaskEnd"},
                    {"Stage ID", 1u},
                    {"Task End Reason", {{"Reason", reason}}},
                    {"Task Info", {{"Launch Time", 1000u}, {"Finish Time", finish}}},
                    {"Task Metrics",
                     {{"Executor Run Time", 5},
                      {"Result Size", -7},
                      {"Input Metrics", {{"Bytes Read", read_bytes}}}}}});
  };
  end("ExceptionFailure", 2000);
  end("Success", 500);
  EXPECT_TRUE(measured.stages().empty());
  end("Success", 2000);
  ASSERT_EQ(measured.stages().at(1).tasks.size(), 1);
  EXPECT_EQ(measured.stages().at(1).tasks[0].result_bytes, 0);
  end("Success", std::uint64_t{1} << 62);
  EXPECT_EQ(measured.stages().at(1).tasks.size(), 1) << "a task of millions of years";
  end("Success", 2000, std::uint64_t{1} << 62);
  end("Success", 2000, 1000);
  ASSERT_EQ(measured.stages().at(1).tasks.size(), 3);
  EXPECT_EQ(measured.stages().at(1).tasks[1].input.bytes, 0);
  EXPECT_EQ(measured.stages().at(1).tasks[2].input.bytes, 1000);
  Take(measured, {{"Event", "SparkListenerTaskEnd"}});
  Take(measured, nlohmann::json());
}

TEST(MeasuredStages, CountsImpossibleValuesAndNamesTheFirst) {
  MeasuredStages measured;
  const auto end = [&measured](std::uint64_t finish, const nlohmann::json& metrics) {
    Take(measured, {{"Event", "SparkListenerTaskEnd"},
                    {"Stage ID", 1u},
                    {"Task End Reason", {{"Reason", "Success"}}},
                    {"Task Info", {{"Launch Time", 1000u}, {"Finish Time", finish}}},
                    {"Task Metrics", metrics}});
  };
  end(2000, {{"Executor Run Time", 5u}, {"Result Size", nullptr}});
  EXPECT_EQ(measured.impossible().counters, 0) << "null counts as missing";
  end(2000, {{"Memory Bytes Spilled", -1}, {"Disk Bytes Spilled", 7u}});
  EXPECT_EQ(measured.impossible().counters, 1);
  end(2000, {{"Executor CPU Time", 1e300},
             {"Result Size", "many"},
             {"Input Metrics", {{"Bytes Read", 1'000'000'000'000'001u}, {"Records Read", 2u}}}});
  EXPECT_EQ(measured.impossible().counters, 4);
  EXPECT_EQ(measured.impossible().first_counter, "Memory Bytes Spilled");
  EXPECT_EQ(measured.impossible().tasks, 0);
  end(100'000'002'000, {{"Result Size", -1}});
  EXPECT_EQ(measured.impossible().tasks, 1);
  EXPECT_EQ(measured.impossible().counters, 4) << "only counted tasks have counters";
}

TEST(MeasuredStages, KeepsABoundedNumberOfTasks) {
  MeasuredStages measured;
  for (std::size_t i = 0; i < MeasuredStages::kTasksOfStageMax + 10; ++i) {
    Take(measured, {{"Event", "SparkListenerTaskEnd"},
                    {"Stage ID", 1u},
                    {"Task End Reason", {{"Reason", "Success"}}},
                    {"Task Info", {{"Launch Time", 1000u}, {"Finish Time", 2000u}}},
                    {"Task Metrics", nlohmann::json::object()}});
  }
  EXPECT_EQ(measured.stages().at(1).tasks.size(), MeasuredStages::kTasksOfStageMax);
}

// Executor 1 runs two tasks at a time, and executor 2 runs one.
TEST(MeasuredStages, TheFirstTasksOfAStageOnTheirSlotsAreFresh) {
  MeasuredStages measured;
  const auto add = [&measured](const char* id, unsigned cores) {
    Take(measured, {{"Event", "SparkListenerExecutorAdded"},
                    {"Executor ID", id},
                    {"Executor Info", {{"Total Cores", cores}}}});
  };
  const auto end = [&measured](unsigned stage, const char* executor) {
    Take(measured, {{"Event", "SparkListenerTaskEnd"},
                    {"Stage ID", stage},
                    {"Task End Reason", {{"Reason", "Success"}}},
                    {"Task Info",
                     {{"Executor ID", executor}, {"Launch Time", 1000u}, {"Finish Time", 2000u}}},
                    {"Task Metrics", nlohmann::json::object()}});
    return measured.stages().at(stage).tasks.back().is_fresh;
  };
  Take(measured, {{"Event", "SparkListenerEnvironmentUpdate"},
                  {"Spark Properties", {{"spark.task.cpus", "2"}}}});
  add("1", 4);
  add("2", 2);
  EXPECT_TRUE(end(1, "1"));
  EXPECT_TRUE(end(1, "2"));
  EXPECT_TRUE(end(1, "1"));
  EXPECT_FALSE(end(1, "2"));
  EXPECT_FALSE(end(1, "1"));
  EXPECT_TRUE(end(2, "1"));
}

TEST(MeasuredStages, CountsTheMostExecutorsAtOnce) {
  MeasuredStages measured;
  const auto event = [&measured](const char* kind, const char* id) {
    Take(measured,
         {{"Event", kind}, {"Executor ID", id}, {"Executor Info", {{"Total Cores", 4u}}}});
  };
  event("SparkListenerExecutorAdded", "1");
  event("SparkListenerExecutorAdded", "2");
  event("SparkListenerExecutorRemoved", "1");
  event("SparkListenerExecutorAdded", "3");
  EXPECT_EQ(measured.executors().count, 2);
  EXPECT_EQ(measured.executors().cores, 4);
}

TEST(MeasuredStages, ComparesValuesOfAnySettingWithTheRun) {
  MeasuredStages measured;
  Take(measured, {{"Event", "SparkListenerEnvironmentUpdate"},
                  {"Spark Properties", {{"spark.locality.wait", "3s"}}}});
  EXPECT_TRUE(measured.WasSetTo("spark.locality.wait", "3S "));
  EXPECT_FALSE(measured.WasSetTo("spark.locality.wait", "4s"));
  EXPECT_FALSE(measured.WasSetTo("spark.speculation", "false"));
}

TEST(MeasuredStages, KeepsTheSettingsOfTheModels) {
  MeasuredStages measured;
  Take(measured,
       {{"Event", "SparkListenerEnvironmentUpdate"},
        {"Spark Properties", {{"spark.executor.memory", "4g"}, {"spark.app.name", "secret"}}}});
  EXPECT_EQ(measured.properties(), (phases::Properties{{"spark.executor.memory", "4g"}}));
}

}  // namespace
}  // namespace tidemark::spark::measured_stages_test
