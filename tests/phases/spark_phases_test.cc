// Tests the equations of [SPM] for the phases of a task, with numbers computed by hand.
// docs/internals/adr/0033 corrects errors in the paper.
//
// Every cost is a prime number, so a sum identifies its parts.

#include "tests/test.h"
#include "whatif/phases/task.h"

namespace tidemark::phases::spark_phases_test {
namespace {

CostStatistics Primes() {
  CostStatistics costs;
  costs[Cost::kInputRead] = 2;
  costs[Cost::kLocalRead] = 3;
  costs[Cost::kLocalWrite] = 5;
  costs[Cost::kNetwork] = 7;
  costs[Cost::kCompute] = 11;
  costs[Cost::kCombine] = 13;
  costs[Cost::kMergeCombine] = 17;
  costs[Cost::kPartition] = 19;
  costs[Cost::kSort] = 23;
  costs[Cost::kCompress] = 29;
  costs[Cost::kUncompress] = 31;
  costs[Cost::kSerialize] = 37;
  costs[Cost::kSetup] = 41;
  costs[Cost::kCleanup] = 43;
  costs[Cost::kOutputWrite] = 47;
  return costs;
}

double Time(const Work& work) { return Seconds(work, Primes()); }

// Returns settings of four executors with 2 cores each. A task has 8192 x 0.5 x 0.5 / 2 = 1024 of
// 8192 bytes for a shuffle.
Settings OldSettings() {
  return {.version = {1, 5},
          .executors = 4,
          .executor_cores = 2,
          .executor_memory_bytes = 8192,
          .memory_model = MemoryModel::kFractions,
          .shuffle_fraction = 0.5,
          .safety_fraction = 0.5};
}

// Returns data that serialization reduces to a half, and compression then to a quarter. A record in
// memory has 4 bytes.
DataStatistics Data() {
  return {.input_width = 16,
          .compute = {.records = 0.5, .bytes = 2},
          .read_combine = {.records = 0.8125},
          .read_merge = {.records = 0.5, .bytes = 0.25},
          .write_combine = {.records = 0.8125, .bytes = 0.75},
          .write_merge = {.records = 0.5, .bytes = 0.25},
          .serialize_ratio = 0.5,
          .compress_ratio = 0.25,
          .read_width_in_memory = 4,
          .write_width_in_memory = 4};
}

// Returns 1024 records in 8000 bytes for each of 8 tasks.
StageSize Size() {
  return {.split_bytes = 4096, .intermediate = {8192, 64000}, .tasks = 8, .next_tasks = 1000};
}

ShuffleRead Read(Gathering gathering, const Settings& settings = OldSettings()) {
  return ReadShuffle(Size(), gathering, Data(), settings);
}

// Returns a write of 1024 records of 8 bytes each.
ShuffleWrite Write(StageShape shape, const Settings& settings, double next_tasks = 1000) {
  return WriteShuffle({1024, 8192}, shape, next_tasks, 0, Data(), settings);
}

// A byte costs 37 + 0.5 (29 + 0.25 x 5), or 37 + 0.5 x 5 without compression.
TEST(SparkPhasesPaper, Equation2OfWritingAByteOfAShuffle) {
  Settings settings = OldSettings();
  EXPECT_DOUBLE_EQ(Time(SerializeAndWrite(OfShuffle(settings, Data()), 0.5)), 52.125);
  settings.compresses_shuffle = false;
  EXPECT_DOUBLE_EQ(Time(SerializeAndWrite(OfShuffle(settings, Data()), 0.5)), 39.5);
}

// A byte costs 3 + 31 + 37 / 0.25, or 3 + 37 without compression.
TEST(SparkPhasesPaper, Equation3OfReadingAByteOfAShuffle) {
  Settings settings = OldSettings();
  EXPECT_DOUBLE_EQ(Time(ReadAndDeserialize(OfShuffle(settings, Data()))), 182);
  settings.compresses_shuffle = false;
  EXPECT_DOUBLE_EQ(Time(ReadAndDeserialize(OfShuffle(settings, Data()))), 40);
}

// The equations equal equations 2 and 3, with the setting for spills.
TEST(SparkPhasesPaper, Equations4And5OfSpillsFollowTheSettingOfSpills) {
  Settings settings = OldSettings();
  settings.compresses_shuffle = false;
  EXPECT_DOUBLE_EQ(Time(SerializeAndWrite(OfSpills(settings, Data()), 0.5)), 52.125);
  EXPECT_DOUBLE_EQ(Time(ReadAndDeserialize(OfSpills(settings, Data()))), 182);
  settings.compresses_spills = false;
  EXPECT_DOUBLE_EQ(Time(SerializeAndWrite(OfSpills(settings, Data()), 0.5)), 39.5);
  EXPECT_DOUBLE_EQ(Time(ReadAndDeserialize(OfSpills(settings, Data()))), 40);
}

// The task reads 4096 / 16 = 256 records in 4096 x 2 s.
TEST(SparkPhasesPaper, Equations6To10OfTheReadPhase) {
  const Phase read = ReadInput(4096, Data());
  EXPECT_EQ(read.out, (Flow{256, 4096}));
  EXPECT_DOUBLE_EQ(Time(read.work), 8192);
}

// A task fetches 64000 / 8 bytes and 8192 / 8 records, a quarter of them from this executor.
TEST(SparkPhasesPaper, Equations11To14OfTheFetchedData) {
  const ShuffleRead read = Read(Gathering::kCombine);
  EXPECT_EQ(read.fetched, (Flow{1024, 8000}));
  EXPECT_DOUBLE_EQ(read.local_bytes, 2000);
  EXPECT_DOUBLE_EQ(read.remote_bytes, 6000);
}

// Fetching takes 2000 x 3 + 6000 x 7 + 8000 (31 + 37 / 0.25).
TEST(SparkPhasesPaper, Equation15OfFetching) {
  EXPECT_DOUBLE_EQ(Time(Read(Gathering::kCombine).fetch), 1'480'000);
}

// Combining uses the compression setting of spills, and sorting uses that of shuffles. 1024 bytes
// of the buffer take 1024 x 0.5 x 0.25 bytes in a compressed file, and 1024 x 0.5 bytes in an
// uncompressed file.
TEST(SparkPhasesPaper, Equations16To18And20OfTheSizeOfASpill) {
  Settings settings = OldSettings();
  settings.compresses_spills = false;
  EXPECT_DOUBLE_EQ(Read(Gathering::kCombine, settings).spills.file_bytes, 512);
  EXPECT_DOUBLE_EQ(Read(Gathering::kSort, settings).spills.file_bytes, 128);
}

// The buffer has 8192 x 0.5 x 0.5 x 1 / 2 bytes. A task with both cores has twice this memory.
TEST(SparkPhasesPaper, Equation19OfTheBuffer) {
  Settings settings = OldSettings();
  EXPECT_DOUBLE_EQ(SpillBufferBytes(settings), 1024);
  settings.task_cores = 2;
  EXPECT_DOUBLE_EQ(SpillBufferBytes(settings), 2048);
}

// A spill has 1024 / 4 records. 1024 x 0.8125 = 832 combined records are 3 spills and 64 records.
TEST(SparkPhasesPaper, Equations21To24OfTheNumberOfSpills) {
  const Spills spills = Read(Gathering::kCombine).spills;
  EXPECT_DOUBLE_EQ(spills.records_of_spill, 256);
  EXPECT_DOUBLE_EQ(spills.combined_records, 832);
  EXPECT_DOUBLE_EQ(spills.count, 3);
  EXPECT_DOUBLE_EQ(spills.records_in_memory, 64);
}

TEST(SparkPhasesPaper, Equation23SpillsNothingWithoutSpilling) {
  Settings settings = OldSettings();
  settings.spills = false;
  const Spills spills = Read(Gathering::kCombine, settings).spills;
  EXPECT_DOUBLE_EQ(spills.count, 0);
  EXPECT_DOUBLE_EQ(spills.records_in_memory, 832);
}

// Combining takes 1024 x 13, sorting (3 x 256 x 8 + 64 x 6) x 23, and spilling 3 x 1024 x 52.125.
TEST(SparkPhasesPaper, Equation25OfSpilling) {
  EXPECT_DOUBLE_EQ(Time(Read(Gathering::kCombine).spill), 13'312 + 150'144 + 160'128);
}

// Sorted records are not combined, so 1024 records are 4 spills of 256. The time is 4 x 256 x 8 x
// 23 + 4 x 1024 x 52.125.
TEST(SparkPhasesPaper, Equation25OfSorting) {
  const ShuffleRead read = Read(Gathering::kSort);
  EXPECT_DOUBLE_EQ(Time(read.spill), 188'416 + 213'504);
  EXPECT_EQ(read.out, (Flow{1024, 4096}));
}

// The merged data have 832 x 0.5 records and 832 x 4 x 0.25 bytes.
TEST(SparkPhasesPaper, Equations26And27OfTheMergedData) {
  EXPECT_EQ(Read(Gathering::kCombine).out, (Flow{416, 832}));
}

// Reading the spills takes 3 x 128 x 182, sorting takes 832 x log2(4) x 23, and combining takes 832
// x 17.
TEST(SparkPhasesPaper, Equation28OfMerging) {
  EXPECT_DOUBLE_EQ(Time(Read(Gathering::kCombine).merge), 69'888 + 38'272 + 14'144);
}

TEST(SparkPhasesPaper, Equation29IsTheSumOfFetchingSpillingAndMerging) {
  EXPECT_DOUBLE_EQ(Time(Read(Gathering::kCombine).work()), 1'480'000 + 323'584 + 122'304);
}

// There are 416 x 0.5 records in 832 x 2 bytes, which are 8 bytes per record. Computing takes 416 x
// 11 s.
TEST(SparkPhasesPaper, Equations30To33OfTheComputePhase) {
  const Phase compute = Compute({416, 832}, Data());
  EXPECT_EQ(compute.out, (Flow{208, 1664}));
  EXPECT_DOUBLE_EQ(Time(compute.work), 4576);
}

TEST(SparkPhasesPaper, Equation34BypassesUpToTheThresholdUnlessItCombines) {
  const Settings settings = OldSettings();
  EXPECT_EQ(WriterOf({}, 200, settings), ShuffleWriter::kBypass);
  EXPECT_EQ(WriterOf({}, 201, settings), ShuffleWriter::kSorted);
  EXPECT_EQ(WriterOf({.combines_map_side = true}, 200, settings), ShuffleWriter::kSorted);
}

// The numbers are from equations 20 to 24, with 1024 x 0.8125 records of 4 bytes in 1024 bytes.
TEST(SparkPhasesPaper, Equations35To37OfSpillsThatAreWritten) {
  const Spills spills = Write({.combines_map_side = true}, OldSettings()).spills;
  EXPECT_DOUBLE_EQ(spills.file_bytes, 128);
  EXPECT_DOUBLE_EQ(spills.records_of_spill, 256);
  EXPECT_DOUBLE_EQ(spills.combined_records, 832);
  EXPECT_DOUBLE_EQ(spills.count, 3);
}

// The time is that of equation 25, plus 1024 x 19 for partitioning.
TEST(SparkPhasesPaper, Equation38OfSpillingBySort) {
  EXPECT_DOUBLE_EQ(Time(Write({.combines_map_side = true}, OldSettings()).spill), 323'584 + 19'456);
}

// The time is that of equation 28, plus 832 x 4 x 0.25 x 52.125 for writing.
TEST(SparkPhasesPaper, Equation39OfMergingBySort) {
  EXPECT_DOUBLE_EQ(Time(Write({.combines_map_side = true}, OldSettings()).merge), 122'304 + 43'368);
}

// Each partition has a file, as in equation 42. Then 8192 x 0.5 x 0.25 bytes are read and written
// again, which takes 1024 (3 + 5).
TEST(SparkPhasesPaper, Equation39OfBypassing) {
  const ShuffleWrite write = Write({}, OldSettings(), 200);
  EXPECT_DOUBLE_EQ(Time(write.spill), 446'464);
  EXPECT_DOUBLE_EQ(Time(write.merge), 8192);
}

Settings Hash() {
  Settings settings = OldSettings();
  settings.shuffle_manager = ShuffleManager::kHash;
  return settings;
}

// The hash manager uses the compression setting of spills, which is off here. The time is 1024 x 13
// + 150144 + 3 x 1024 x 39.5.
TEST(SparkPhasesPaper, Equation40OfSpillingByHash) {
  Settings settings = Hash();
  settings.compresses_spills = false;
  EXPECT_DOUBLE_EQ(Time(Write({.combines_map_side = true}, settings).spill),
                   13'312 + 150'144 + 121'344);
}

// Reading the spills takes 3 x 512 x 40. Sorting and combining take 38272 and 14144, as in equation
// 28. Partitioning takes 832 x 0.5 x 19, and writing takes 43368.
TEST(SparkPhasesPaper, Equation41OfMergingByHash) {
  Settings settings = Hash();
  settings.compresses_spills = false;
  EXPECT_DOUBLE_EQ(Time(Write({.combines_map_side = true}, settings).merge),
                   61'440 + 38'272 + 14'144 + 7904 + 43'368);
}

// The time is 1024 (19 + 8 x 52.125).
TEST(SparkPhasesPaper, Equation42OfHashWithoutCombining) {
  EXPECT_DOUBLE_EQ(Time(Write({}, Hash()).work()), 446'464);
}

// Each task writes 8192 x 0.75 x 0.25 x 0.5 x 0.25 bytes and 1024 x 0.8125 x 0.5 records.
TEST(SparkPhasesPaper, Equations43And44OfTheWrittenData) {
  EXPECT_EQ(Write({.combines_map_side = true}, OldSettings()).written, (Flow{416, 192}));
}

// The time is 1664 x 7.
TEST(SparkPhasesPaper, Equation45OfTheFuncPhase) {
  EXPECT_DOUBLE_EQ(Time(Hand({208, 1664}, Destination::kDriver)), 11'648);
}

// Setup and clean-up take 41 + 43, in addition to the phases above.
TEST(SparkPhasesPaper, Equation46IsTheSumOfThePhases) {
  const Stage reduce = {{.reads_shuffle = Gathering::kCombine}, Data(), Size()};
  EXPECT_DOUBLE_EQ(Time(TaskOf(reduce, OldSettings()).work()), 41 + 1'925'888 + 4576 + 11'648 + 43);
  // The output is 128 records of 64 bytes, or 8192 bytes, which take 128 x 19 + 8192 x 52.125 =
  // 429440.
  const Stage map = {{.reads_input = true, .output = Destination::kShuffle}, Data(), Size()};
  EXPECT_DOUBLE_EQ(Time(TaskOf(map, Hash()).work()), 41 + 8192 + 256 * 11 + 429'440 + 43);
}

}  // namespace
}  // namespace tidemark::phases::spark_phases_test
