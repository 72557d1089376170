#include "transport/writes_in_flight.h"

#include <array>

#include "tests/test.h"

namespace tidemark::transport::writes_in_flight_test {
namespace {

class Reader final : public WritesInFlight::Writer {
 public:
  void CutWrite() override { ++cuts; }
  int cuts = 0;
};

class WritesInFlightTest : public ::testing::Test {
 protected:
  // Starts a response about the job to a client that does not read.
  std::shared_ptr<Reader> Stuck(const std::string& job_id, const void* data, std::size_t size) {
    auto reader = std::make_shared<Reader>();
    writes_.Begin(reader, job_id, {data, size});
    return reader;
  }

  std::array<char, 10> memory_{};  // only the addresses of its elements are used
  WritesInFlight writes_{/*bytes_max=*/1000};
};

TEST_F(WritesInFlightTest, ReadersOfTheSameBytesTakeThemOnce) {
  const auto one = Stuck("a", &memory_[0], 400);
  const auto other = Stuck("a", &memory_[0], 400);
  EXPECT_EQ(writes_.bytes(), 400u);
  writes_.End(one.get());
  EXPECT_EQ(writes_.bytes(), 400u);
  writes_.End(other.get());
  EXPECT_EQ(writes_.bytes(), 0u);
  writes_.End(other.get());
  EXPECT_EQ(writes_.bytes(), 0u);
}

TEST_F(WritesInFlightTest, CutsTheReadersOfTheOldestBytesOverTheLimit) {
  const auto first = Stuck("a", &memory_[0], 400);
  const auto second = Stuck("a", &memory_[0], 400);
  const auto third = Stuck("a", &memory_[1], 400);
  const auto fourth = Stuck("a", &memory_[2], 400);
  EXPECT_EQ(first->cuts, 1);
  EXPECT_EQ(second->cuts, 1);
  EXPECT_EQ(third->cuts, 0);
  EXPECT_EQ(fourth->cuts, 0);
  EXPECT_EQ(writes_.bytes(), 800u);
}

TEST_F(WritesInFlightTest, CutsOnlyReadersOfTheJobWithTheMostBytes) {
  const auto calm = Stuck("calm", &memory_[0], 100);
  const auto huge = Stuck("huge", &memory_[1], 400);
  const auto next = Stuck("huge", &memory_[2], 400);
  const auto last = Stuck("calm", &memory_[3], 200);
  EXPECT_EQ(calm->cuts, 0) << "it waits longer, but its job takes less";
  EXPECT_EQ(huge->cuts, 1);
  EXPECT_EQ(next->cuts, 0);
  EXPECT_EQ(last->cuts, 0);
}

// If a response is dropped before its write begins, the writer must not write it.
TEST_F(WritesInFlightTest, ACutResponseIsNoLongerCounted) {
  const auto cut = Stuck("a", &memory_[0], 800);
  EXPECT_TRUE(writes_.IsCounted(cut.get()));
  const auto next = Stuck("a", &memory_[1], 800);
  EXPECT_FALSE(writes_.IsCounted(cut.get()));
  EXPECT_TRUE(writes_.IsCounted(next.get()));
  writes_.End(next.get());
  EXPECT_FALSE(writes_.IsCounted(next.get()));
}

TEST_F(WritesInFlightTest, WritesOneResponseOfAnySize) {
  const auto reader = Stuck("a", &memory_[0], 5000);
  EXPECT_EQ(reader->cuts, 0);
  EXPECT_EQ(writes_.bytes(), 5000u);
}

TEST_F(WritesInFlightTest, AWriterHasOneWriteAtMost) {
  const auto reader = Stuck("a", &memory_[0], 400);
  writes_.Begin(reader, "a", {&memory_[1], 300});
  EXPECT_EQ(writes_.bytes(), 300u);
}

TEST_F(WritesInFlightTest, DropsADestroyedReader) {
  Stuck("a", &memory_[0], 800);
  const auto next = Stuck("a", &memory_[1], 800);
  EXPECT_EQ(writes_.bytes(), 800u);
  EXPECT_EQ(next->cuts, 0);
}

// Clients connect and do not read, while the job continues.
TEST_F(WritesInFlightTest, HundredsOfReadersThatDoNotReadHoldNoMoreThanTheLimit) {
  std::vector<char> memory(300);
  std::vector<std::shared_ptr<Reader>> readers;
  for (const char& version : memory) readers.push_back(Stuck("a", &version, 300));
  EXPECT_LE(writes_.bytes(), 1000u);
  int cuts = 0;
  for (const auto& reader : readers) cuts += reader->cuts;
  EXPECT_EQ(cuts, 297);
}

}  // namespace
}  // namespace tidemark::transport::writes_in_flight_test
