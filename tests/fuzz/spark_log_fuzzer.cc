// Fuzzes Spark event logs with any content. The lowest bit of the first byte selects the form of
// the remaining bytes. They are either the file itself, or pieces that become lines of text. Aborts
// if time decreases, or if a sequence number is not that of a source. Also aborts if the result
// differs when the same text is passed byte by byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spark/log_reader.h"
#include "spark/log_text.h"
#include "tests/fuzz/fuzz_input.h"
#include "tidemark/job_monitor.h"

namespace {

using tidemark::Event;

constexpr std::size_t kTextMax = std::size_t{1} << 22;

// Returns the text up to the first byte that cannot be unpacked.
std::string TextOf(std::string_view file) {
  tidemark::spark::Unpacker unpacker;
  std::string text;
  while (!file.empty() && text.size() < kTextMax) {
    const auto taken = unpacker.Unpack(file, text);
    if (!taken.ok()) break;
    if (*taken == 0 || *taken > file.size()) std::abort();
    file.remove_prefix(*taken);
  }
  return text;
}

std::vector<Event> Read(std::string_view text, std::size_t piece) {
  tidemark::spark::LogParser parser({.job_id = "job"});
  std::vector<Event> events;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    parser.Feed(text.substr(0, piece), [&](Event event) { events.push_back(std::move(event)); });
  }
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view file(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string text;
  if (data[0] % 2 == 1) {
    text = tidemark::fuzz::LinesOf(data + 1, size - 1);
  } else {
    text = TextOf(file);
  }
  const std::vector<Event> events = Read(text, text.size());
  tidemark::JobMonitor monitor("job", {});
  absl::Time before = absl::InfinitePast();
  std::uint64_t sequence = 0;
  for (const Event& event : events) {
    if (event.arrived_at < before || event.sequence <= sequence) std::abort();
    before = event.arrived_at;
    sequence = event.sequence;
    monitor.Apply(event).IgnoreError();
  }
  if (!events.empty()) monitor.Tick(before);
  if (Read(text, 1) != events) std::abort();
  return 0;
}
