
#include "tests/test.h"
#include "whatif/phases/task.h"

namespace tidemark::phases::shuffle_write_test {
namespace {

// Returns settings with 2048 bytes for the only task.
Settings Today() {
  return {
      .version = {3, 5}, .executor_memory_bytes = kReservedBytes + 4096, .memory_fraction = 0.5};
}

constexpr StageShape kRows = {.output = Destination::kShuffle, .is_relocatable = true};

TEST(WriterOf, RowsUseTheSerializedShuffleUnlessCombinedOrFew) {
  EXPECT_EQ(WriterOf(kRows, 1000, Today()), ShuffleWriter::kSerialized);
  EXPECT_EQ(WriterOf(kRows, 200, Today()), ShuffleWriter::kBypass);
  EXPECT_EQ(WriterOf(kRows, 1 << 25, Today()), ShuffleWriter::kSorted);
  StageShape combined = kRows;
  combined.combines_map_side = true;
  EXPECT_EQ(WriterOf(combined, 1000, Today()), ShuffleWriter::kSorted);
}

TEST(WriterOf, SerializedShuffleWasAnotherManagerBeforeOneSix) {
  Settings settings = Today();
  settings.version = {1, 5};
  EXPECT_EQ(WriterOf(kRows, 1000, settings), ShuffleWriter::kSorted);
  settings.shuffle_manager = ShuffleManager::kTungsten;
  EXPECT_EQ(WriterOf(kRows, 1000, settings), ShuffleWriter::kSerialized);
}

// There are 1024 records of 32 bytes, or 16 serialized bytes with an address of 16 bytes. 64
// records fit into the buffer, so there are 16 spills. All bytes are serialized, compressed and
// written once, and not sorted by key. 32768 x 0.5 x 0.25 = 4096 bytes are copied to join the
// spills.
TEST(WriteShuffle, SerializedRecordsAreNeverDeserialized) {
  const DataStatistics data = {.serialize_ratio = 0.5, .compress_ratio = 0.25};
  const ShuffleWrite write = WriteShuffle({1024, 32768}, kRows, 1000, 0, data, Today());
  EXPECT_DOUBLE_EQ(write.spills.count, 16);
  const Work work = write.work();
  EXPECT_DOUBLE_EQ(work[Cost::kSerialize], 32768);
  EXPECT_DOUBLE_EQ(work[Cost::kCompress], 16384);
  EXPECT_DOUBLE_EQ(work[Cost::kLocalWrite], 4096 + 4096);
  EXPECT_DOUBLE_EQ(work[Cost::kLocalRead], 4096);
  EXPECT_DOUBLE_EQ(work[Cost::kPartition], 1024);
  EXPECT_DOUBLE_EQ(work[Cost::kSort], 0);
  EXPECT_DOUBLE_EQ(work[Cost::kUncompress], 0);
}

TEST(WriteShuffle, EmptyInputMakesNoWork) {
  const ShuffleWrite write = WriteShuffle({}, kRows, 1000, 0, {}, Today());
  EXPECT_EQ(write.work(), Work{});
  EXPECT_EQ(write.written, Flow{});
}

// The smallest possible memory still has space for one record.
TEST(WriteShuffle, RecordLargerThanTheBufferIsASpill) {
  const DataStatistics data = {.write_width_in_memory = 1e6};
  const ShuffleWrite write =
      WriteShuffle({8, 8e6}, {.output = Destination::kShuffle}, 1000, 0, data, Today());
  EXPECT_EQ(write.writer, ShuffleWriter::kSorted);
  EXPECT_DOUBLE_EQ(write.spills.count, 8);
  EXPECT_DOUBLE_EQ(write.spills.records_in_memory, 0);
}

}  // namespace
}  // namespace tidemark::phases::shuffle_write_test
