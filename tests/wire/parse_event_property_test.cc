// Tests that any bytes give either an error or an event that remains the same after encoding and
// parsing, and never a crash.
#include <google/protobuf/stubs/logging.h>

#include "proto/wire/encode_event.h"
#include "proto/wire/parse_event.h"
#include "tests/test.h"
#include "tests/wire/some_events.h"
#include "tidemark/v1/event.pb.h"

namespace tidemark::wire::parse_event_property_test {
namespace {

// TIDEMARK_SEED repeats a failure.
std::uint64_t Seed() {
  const char* given = std::getenv("TIDEMARK_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

// Returns the event without the reason why its workflow was ignored, which is not encoded.
EventBody WithoutReasons(EventBody body) {
  auto* const job = std::get_if<JobOpened>(&body);
  if (job != nullptr && job->workflow) job->workflow->rejected.clear();
  return body;
}

// Returns true if protobuf can parse the bytes.
bool Check(const std::string& bytes) {
  v1::Event message;
  if (!message.ParseFromString(bytes)) return false;
  const absl::StatusOr<EventBody> body = ParseBody(message);
  if (!body.ok()) {
    EXPECT_FALSE(body.status().message().empty());
    return true;
  }
  v1::Event again;
  EncodeBody(*body, again);
  const absl::StatusOr<EventBody> reparsed = ParseBody(again);
  EXPECT_TRUE(reparsed.ok()) << reparsed.status();
  EXPECT_EQ(WithoutReasons(*reparsed), WithoutReasons(*body));
  return true;
}

class ParseEventProperty : public ::testing::Test {
 protected:
  // Invalid UTF-8 is expected here and should not be logged.
  google::protobuf::LogSilencer silencer_;
  std::uint64_t seed_ = Seed();
  std::mt19937_64 random_{seed_};
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};

  std::uint64_t Below(std::uint64_t limit) { return random_() % limit; }
};

TEST_F(ParseEventProperty, RandomBytes) {
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(Below(200), '\0');
    for (char& byte : bytes) byte = static_cast<char>(Below(256));
    Check(bytes);
  }
}

TEST_F(ParseEventProperty, GoodEventsWithBytesChanged) {
  int understood = 0;
  for (int i = 0; i < 4'000; ++i) {
    for (const Event& event : SomeEvents()) {
      std::string bytes = EncodeEvent(event).body;
      for (std::uint64_t change = Below(4); change > 0 && !bytes.empty(); --change) {
        switch (Below(3)) {
          case 0:
            bytes[Below(bytes.size())] = static_cast<char>(Below(256));
            break;
          case 1:
            bytes.insert(Below(bytes.size()), 1, static_cast<char>(Below(256)));
            break;
          default:
            bytes.erase(Below(bytes.size()), 1);
        }
      }
      if (Check(bytes)) ++understood;
    }
  }
  EXPECT_GT(understood, 1'000);  // Otherwise the test would test only protobuf.
}

}  // namespace
}  // namespace tidemark::wire::parse_event_property_test
