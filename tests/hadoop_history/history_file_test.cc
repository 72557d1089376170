#include "hadoop/history_file.h"

#include <sstream>
#include <stdexcept>
#include <streambuf>

#include "hadoop/avro.h"
#include "tests/scratch_directory.h"
#include "tests/test.h"

namespace tidemark::hadoop::history_file_test {
namespace {

using nlohmann::json;

// The values of Avro's binary form, written by hand.
std::string Long(std::int64_t number) {
  std::uint64_t rest =
      (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number < 0 ? -1 : 0);
  std::string bytes;
  for (; rest >= 128; rest >>= 7) bytes += static_cast<char>(rest % 128 + 128);
  return bytes + static_cast<char>(rest);
}
std::string Text(const std::string& text) {
  return Long(static_cast<std::int64_t>(text.size())) + text;
}

constexpr const char* kSchema =
    R"({"type":"record","name":"Event","namespace":"org.x","fields":[)"
    R"({"name":"type","type":{"type":"enum","name":"EventType","symbols":["JOB_SUBMITTED","JOB_INITED"]}},)"
    R"({"name":"event","type":[)"
    R"({"type":"record","name":"JobSubmitted","fields":[{"name":"jobid","type":"string"},)"
    R"({"name":"submitTime","type":"long"},{"name":"workflowId","type":["null","string"]},)"
    R"({"name":"acls","type":{"type":"map","values":"string"}}]},)"
    R"({"type":"record","name":"JobInited","fields":[{"name":"uberized","type":"boolean"},)"
    R"({"name":"splits","type":{"type":"array","items":"int"}},{"name":"share","type":"double"},)"
    R"({"name":"of","type":["null","JobInited"]}]}]}]})";

std::string Submitted() {
  return Long(0) + Long(0) + Text("job_1_2") + Long(1'700'000'000'000) + Long(1) + Text("w") +
         Long(1) + Text("view") + Text("*") + Long(0);
}
std::string Inited() {
  // An array in two blocks, the second of which has its size in bytes.
  const std::string splits =
      Long(2) + Long(3) + Long(-300) + Long(-1) + Long(1) + Long(7) + Long(0);
  const std::string share = std::string("\0\0\0\0\0\0\xe0\x3f", 8);  // 0.5
  const std::string within = std::string("\0", 1) + Long(0) + share + Long(0);
  return Long(1) + Long(1) + std::string("\1", 1) + splits + share + Long(1) + within;
}

std::unique_ptr<HistoryFile> Open(const std::string& text) {
  auto file = HistoryFile::Open(std::make_unique<std::istringstream>(text));
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : nullptr;
}

struct Records {
  std::vector<HistoryRecord> records;
  absl::Status status;
};

Records RecordsOf(HistoryFile& file) {
  Records all;
  for (;;) {
    auto record = file.Next();
    all.status = record.status();
    if (!record.ok() || !*record) return all;
    all.records.push_back(**std::move(record));
  }
}

TEST(HistoryFile, BinaryValuesAreThoseOfTheSchema) {
  const auto file = Open(std::string("Avro-Binary\n") + kSchema + "\n" + Submitted() + Inited());
  const Records all = RecordsOf(*file);
  EXPECT_TRUE(all.status.ok()) << all.status;
  ASSERT_EQ(all.records.size(), 2u);
  EXPECT_EQ(all.records[0].type, "JOB_SUBMITTED");
  EXPECT_EQ(all.records[0].fields,
            json::parse(R"({"jobid":"job_1_2","submitTime":1700000000000,)"
                        R"("workflowId":{"string":"w"},"acls":{"view":"*"}})"));
  EXPECT_EQ(all.records[1].type, "JOB_INITED");
  EXPECT_EQ(
      all.records[1].fields,
      json::parse(R"({"uberized":true,"splits":[3,-300,7],"share":0.5,"of":{"org.x.JobInited":)"
                  R"({"uberized":false,"splits":[],"share":0.5,"of":null}}})"));
  EXPECT_FALSE(file->is_cut());
}

TEST(HistoryFile, ThatEndsWithinAValueIsReadUpToIt) {
  const std::string whole = std::string("Avro-Binary\n") + kSchema + "\n" + Submitted() + Inited();
  const std::size_t first = whole.size() - Inited().size();
  for (std::size_t size = first + 1; size < whole.size(); ++size) {
    const auto file = Open(whole.substr(0, size));
    const Records all = RecordsOf(*file);
    EXPECT_TRUE(all.status.ok()) << all.status;
    EXPECT_EQ(all.records.size(), 1u) << size;
    EXPECT_TRUE(file->is_cut());
  }
}

TEST(HistoryFile, WithDamagedBinaryValuesNamesTheEvent) {
  const std::string head = std::string("Avro-Binary\n") + kSchema + "\n" + Submitted();
  // An enum without such a symbol, a text of negative length, and a number of eleven bytes.
  for (const std::string& damage :
       {Long(9) + Submitted(), Long(0) + Long(0) + Long(-2) + Submitted(),
        std::string(11, '\xff') + Submitted()}) {
    const auto file = Open(head + damage + std::string(100, '\1'));
    const Records all = RecordsOf(*file);
    EXPECT_TRUE(absl::IsDataLoss(all.status)) << all.status;
    EXPECT_THAT(std::string(all.status.message()), HasSubstr("event 2: "));
    EXPECT_EQ(all.records.size(), 1u);
  }
}

TEST(HistoryFile, ABinaryValueOfItemsWithoutBytesIsTooLarge) {
  const auto schema = AvroSchema::Parse(R"({"type":"array","items":"null"})");
  ASSERT_TRUE(schema.ok());
  std::istringstream input(Long(INT64_MAX) + Long(0));
  EXPECT_TRUE(absl::IsResourceExhausted(schema->Read(input, 1000).status()));
}

// The names of the schema occur in each item, so a small file would need any amount of memory.
TEST(HistoryFile, ABinaryValueOfManyLongNamesIsTooLarge) {
  const std::string name(1000, 'x');
  struct Items {
    std::string schema;
    std::string bytes;  // of one item
  };
  for (const Items& items : std::vector<Items>{
           {R"({"type":"record","name":"r","fields":[{"name":")" + name + R"(","type":"null"}]})",
            ""},
           {R"({"type":"enum","name":"e","symbols":[")" + name + R"("]})", Long(0)},
           {R"(["null",{"type":"record","name":")" + name + R"(","fields":[]}])", Long(1)}}) {
    const auto schema = AvroSchema::Parse(R"({"type":"array","items":)" + items.schema + "}");
    ASSERT_TRUE(schema.ok()) << schema.status();
    for (const int count : {5, 50}) {
      std::string bytes = Long(count);
      for (int i = 0; i < count; ++i) bytes += items.bytes;
      std::istringstream input(bytes + Long(0));
      EXPECT_EQ(schema->Read(input, 10'000).ok(), count == 5) << items.schema.substr(0, 30);
    }
  }
}

TEST(HistoryFile, EndsAtAnEventOfNoBytes) {
  const auto file = Open(
      std::string("Avro-Binary\n") +
      R"({"type":"record","name":"Event","fields":[{"name":"type","type":{"type":"fixed","name":"f","size":0}},)"
      R"({"name":"event","type":{"type":"record","name":"e","fields":[{"name":"x","type":{"type":"record","name":"y","fields":[]}}]}}]})"
      "\n" +
      "more");
  EXPECT_TRUE(absl::IsDataLoss(file->Next().status()));
}

// A file of which only the first bytes can be read.
class FailingFile : public std::streambuf {
 public:
  explicit FailingFile(std::string text) : text_(std::move(text)) {
    setg(text_.data(), text_.data(), text_.data() + text_.size());
  }

 protected:
  int_type underflow() override { throw std::runtime_error("input error"); }

 private:
  std::string text_;
};

TEST(HistoryFile, ThatCannotBeReadToItsEndIsUnavailable) {
  const std::string event = R"({"type":"A","event":{"x":{}}})";
  for (const std::string& text : {"Avro-Json\n{}\n" + event + "\n",
                                  std::string("Avro-Binary\n") + kSchema + "\n" + Submitted()}) {
    FailingFile buffer(text);
    const auto file = HistoryFile::Open(std::make_unique<std::istream>(&buffer));
    ASSERT_TRUE(file.ok()) << file.status();
    const Records all = RecordsOf(**file);
    EXPECT_EQ(all.records.size(), 1u);
    EXPECT_TRUE(absl::IsUnavailable(all.status)) << all.status;
  }
  FailingFile empty("");
  EXPECT_TRUE(
      absl::IsUnavailable(HistoryFile::Open(std::make_unique<std::istream>(&empty)).status()));
}

// A line that never ends.
class EndlessFile : public std::streambuf {
 protected:
  int_type underflow() override {
    setg(block_.data(), block_.data(), block_.data() + block_.size());
    return traits_type::to_int_type(block_.front());
  }

 private:
  std::string block_ = std::string(4096, 'x');
};

TEST(HistoryFile, StopsWithinALongLineAndBetweenEvents) {
  EndlessFile endless;
  EXPECT_TRUE(absl::IsCancelled(
      HistoryFile::Open(std::make_unique<std::istream>(&endless), [] { return true; }).status()));
  const std::string event = R"({"type":"A","event":{"x":{}}})";
  bool is_stopped = false;
  const auto file = HistoryFile::Open(
      std::make_unique<std::istringstream>("Avro-Json\n{}\n" + event + "\n" + event + "\n"),
      [&] { return is_stopped; });
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE((*file)->Next().ok());
  is_stopped = true;
  EXPECT_TRUE(absl::IsCancelled((*file)->Next().status()));
}

TEST(HistoryFile, RejectsSchemasThatAreNone) {
  for (const std::string& schema : std::vector<std::string>{
           "", "{", "[", "\"unknown\"", R"({"type":"array"})", R"({"type":"record","name":"x"})",
           R"({"type":"fixed","name":"x"})", R"({"type":"enum","name":"x","symbols":[1]})",
           R"({"type":"record","name":"x","fields":[{"name":"y"}]})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(AvroSchema::Parse(schema).status())) << schema;
  }
  std::string deep = "\"null\"";
  for (int i = 0; i < 100; ++i) deep = R"({"type":"array","items":)" + deep + "}";
  EXPECT_TRUE(absl::IsInvalidArgument(AvroSchema::Parse(deep).status()));
}

TEST(HistoryFile, TextHasOneEventPerLineAndBlankLines) {
  const auto file = Open(
      "Avro-Json\r\n{}\n{\"type\":\"A\",\"event\":{\"x\":{\"at\":1}}}\n\n "
      "{\"type\":\"B\",\"event\":{\"x\":{}}}\n");
  const Records all = RecordsOf(*file);
  ASSERT_EQ(all.records.size(), 2u);
  EXPECT_EQ(all.records[0].type, "A");
  EXPECT_EQ(all.records[0].fields["at"], 1);
  EXPECT_EQ(all.records[1].type, "B");
  EXPECT_EQ(file->broken_lines(), 0u);
}

TEST(HistoryFile, CountsLinesThatAreNotEvents) {
  const auto file =
      Open("Avro-Json\n{}\n{\"type\":\"A\",\"event\":{\"x\":{}}}\nnonsense\n[]\n" +
           std::string(HistoryFile::kRecordBytesMax + 1, ' ') + "\n" +
           "{\"type\":1,\"event\":{\"x\":{}}}\n{\"type\":\"B\",\"event\":{\"x\":{}}}\n" +
           "{\"type\":\"C\",\"eve");
  const Records all = RecordsOf(*file);
  EXPECT_EQ(all.records.size(), 2u);
  EXPECT_EQ(file->broken_lines(), 4u);
  EXPECT_EQ(file->first_broken_line(), 4u);
  EXPECT_TRUE(file->is_cut());
}

TEST(HistoryFile, IsRecognizedByItsFirstLine) {
  const test::ScratchDirectory directory;
  EXPECT_TRUE(IsHistoryFile(directory.Write("a", "Avro-Json\n")));
  EXPECT_TRUE(IsHistoryFile(directory.Write("b", "Avro-Binary\r\n{}")));
  EXPECT_FALSE(IsHistoryFile(directory.Write("c", "Avro-Jsonx\n")));
  EXPECT_FALSE(IsHistoryFile(directory.Write("d", "")));
  EXPECT_FALSE(IsHistoryFile(directory.path()));
  const auto other = HistoryFile::Open(std::make_unique<std::istringstream>("x"));
  EXPECT_TRUE(absl::IsInvalidArgument(other.status()));
}

}  // namespace
}  // namespace tidemark::hadoop::history_file_test
