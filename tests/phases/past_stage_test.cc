#include "whatif/phases/past_stage.h"

#include "tests/test.h"

namespace tidemark::phases::past_stage_test {
namespace {

// Returns the settings of two executors with one core each.
Settings Today() {
  return {.version = {3, 5},
          .executors = 2,
          .executor_memory_bytes = kReservedBytes + 2e9,
          .memory_fraction = 0.5};
}

// Returns a task that reads 1,000 records of 100 bytes and writes 100 records in 5,000 compressed
// bytes.
TaskCounters MapTask() { return {.seconds = 2, .input = {1000, 1e5}, .written = {100, 5000}}; }

// Returns a task that reads 100 records in 5,000 bytes, four fifths of which come from other
// executors.
TaskCounters ReduceTask() {
  return {.seconds = 1,
          .local_bytes = 1000,
          .remote_bytes = 4000,
          .shuffle_records = 100,
          .result_bytes = 50};
}

Stage Of(const TaskCounters& task, const Settings& settings = Today()) {
  const std::vector<TaskCounters> tasks(4, task);
  return StageOf(tasks, 8, /*is_relocatable=*/true, settings);
}

// With the selectivity of the stage's functions, the model reproduces the measured output.
TEST(StageOf, MapStageReproducesItsWrittenData) {
  const Stage stage = Of(MapTask());
  EXPECT_TRUE(stage.shape.reads_input);
  EXPECT_FALSE(stage.shape.reads_shuffle);
  EXPECT_EQ(stage.shape.output, Destination::kShuffle);
  EXPECT_DOUBLE_EQ(stage.data.input_width, 100);
  EXPECT_DOUBLE_EQ(stage.data.compute.records, 0.1);
  EXPECT_DOUBLE_EQ(stage.data.compute.bytes, 5000 / kUsualCompressRatio / 1e5);
  const Flow written = TaskOf(stage, Today()).shuffle_write.written;
  EXPECT_DOUBLE_EQ(written.records, 100);
  EXPECT_DOUBLE_EQ(written.bytes, 5000);
}

TEST(StageOf, BytesAreUnchangedWithoutCompression) {
  Settings settings = Today();
  settings.compresses_shuffle = false;
  EXPECT_DOUBLE_EQ(Of(MapTask(), settings).data.compute.bytes, 0.05);
  EXPECT_DOUBLE_EQ(TaskOf(Of(MapTask(), settings), settings).shuffle_write.written.bytes, 5000);
}

TEST(StageOf, ReduceStageReadsItsPartOfTheShuffle) {
  const Stage stage = Of(ReduceTask());
  EXPECT_FALSE(stage.shape.reads_input);
  EXPECT_EQ(stage.shape.reads_shuffle, Gathering::kNothing);
  EXPECT_EQ(stage.shape.output, Destination::kDriver);
  EXPECT_EQ(stage.size.intermediate, (Flow{400, 20'000}));
  EXPECT_EQ(TaskOf(stage, Today()).shuffle_read.fetched, (Flow{100, 5000}));
}

// Spills have 1,000 bytes on disk for 10,000 bytes in memory. The ratio is a tenth, of which
// compression explains a factor of a half.
TEST(StageOf, SpillsShowTheSerializationRatio) {
  TaskCounters task = ReduceTask();
  task.spilled_memory_bytes = 10'000;
  task.spilled_disk_bytes = 1000;
  const Stage stage = Of(task);
  EXPECT_EQ(stage.shape.reads_shuffle, Gathering::kSort);
  EXPECT_DOUBLE_EQ(stage.data.serialize_ratio, 0.2);
  EXPECT_DOUBLE_EQ(stage.data.read_width_in_memory, 100);
}

TEST(StageOf, SpilledBytesOnDiskAloneAreIgnored) {
  TaskCounters task = ReduceTask();
  task.spilled_disk_bytes = 1000;
  EXPECT_DOUBLE_EQ(Of(task).data.serialize_ratio, 1);
}

TEST(StageOf, StageWithoutRecordsHasARecordPerTask) {
  const Stage stage = Of({.seconds = 3, .written = {7, 70}});
  EXPECT_DOUBLE_EQ(WorkOf({.seconds = 3}, stage, Today())[Cost::kCompute], 1);
  EXPECT_DOUBLE_EQ(TaskOf(stage, Today()).shuffle_write.written.records, 7);
}

// According to the counters, 1,000 bytes are local and 4,000 are remote, rather than half of the
// bytes each.
TEST(WorkOf, UsesLocalAndRemoteBytesOfTheCounters) {
  const Work work = WorkOf(ReduceTask(), Of(ReduceTask()), Today());
  EXPECT_DOUBLE_EQ(work[Cost::kLocalRead], 1000);
  EXPECT_DOUBLE_EQ(work[Cost::kNetwork], 4000 + 50);
  EXPECT_DOUBLE_EQ(work[Cost::kCompute], 100);
}

TEST(WorkOf, LargerTaskHasMoreWork) {
  TaskCounters large = MapTask();
  large.input = {3000, 3e5};
  const Work work = WorkOf(large, Of(MapTask()), Today());
  EXPECT_DOUBLE_EQ(work[Cost::kInputRead], 3e5);
  EXPECT_DOUBLE_EQ(work[Cost::kCompute], 3000);
}

}  // namespace
}  // namespace tidemark::phases::past_stage_test
