// usage: spark_read_logs [--cuts N] LOG... Reads each log into a JobMonitor, and prints its counts
// or the reason of its rejection. With --cuts, also reads prefixes of each log that end at N random
// positions. Exits with 1 if the events of a prefix differ from the events of the whole log.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "spark/log_reader.h"
#include "spark/log_text.h"
#include "tidemark/job_monitor.h"

namespace {

using tidemark::Event;
namespace spark = tidemark::spark;

struct Outcome {
  std::uint64_t events = 0;
  std::uint64_t rejected = 0;
};

Outcome Read(const std::string& path) {
  Outcome outcome;
  const auto reader = spark::LogReader::Open(path, {});
  if (!reader.ok()) {
    fmt::print("{}: rejected: {}\n", path, std::string(reader.status().message()));
    return outcome;
  }
  tidemark::JobMonitor monitor("log", {});
  const auto begin = std::chrono::steady_clock::now();
  std::string why;
  for (;;) {
    auto event = (*reader)->Next();
    if (!event.ok()) {
      fmt::print("{}: rejected: {}\n", path, std::string(event.status().message()));
      return outcome;
    }
    if (!*event) break;
    ++outcome.events;
    if (absl::Status applied = monitor.Apply(**event); !applied.ok()) {
      ++outcome.rejected;
      why = std::string(applied.message());
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const spark::LogCounts counts = (*reader)->counts();
  fmt::print(
      "{}: {} Spark events ({} unused, {} contradictions, {} broken, {} oversized) gave {} "
      "events, {} rejected; {} slots; {}{:.2f} s {}\n",
      path, counts.events, counts.unused_events, counts.contradictions, counts.broken_events,
      counts.oversized_events, outcome.events, outcome.rejected,
      (*reader)->application().slots_max(), (*reader)->is_cut() ? "cut short; " : "", seconds, why);
  return outcome;
}

// Returns the events in the first `size` bytes.
std::vector<Event> EventsOf(const std::string& packed, std::size_t size) {
  std::vector<Event> events;
  spark::Unpacker unpacker;
  spark::LogParser parser({});
  for (std::size_t at = 0; at < size;) {
    std::string text;
    const auto taken = unpacker.Unpack(std::string_view(packed).substr(at, size - at), text);
    if (!taken.ok()) break;
    at += *taken;
    parser.Feed(text, [&](Event event) { events.push_back(std::move(event)); });
  }
  return events;
}

bool CutsAgree(const std::string& path, int cuts) {
  std::ifstream file(path, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(file)), {});
  const std::vector<Event> whole = EventsOf(packed, packed.size());
  std::minstd_rand random(1);
  for (int i = 0; i < cuts; ++i) {
    const std::vector<Event> part = EventsOf(packed, random() % (packed.size() + 1));
    if (part.size() > whole.size() || !std::equal(part.begin(), part.end(), whole.begin())) {
      fmt::print("{}: a prefix gives other events than the whole log\n", path);
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int first = 1;
  int cuts = 0;
  if (argc > 2 && std::string(argv[1]) == "--cuts") {
    cuts = std::atoi(argv[2]);
    first = 3;
  }
  bool is_ok = true;
  for (int i = first; i < argc; ++i) {
    Read(argv[i]);
    if (cuts > 0 && std::filesystem::is_regular_file(argv[i])) is_ok &= CutsAgree(argv[i], cuts);
  }
  return is_ok ? 0 : 1;
}
