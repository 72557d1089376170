// Fuzzes history files of MapReduce jobs with any content. The lowest bit of the first byte selects
// the form of the remaining bytes. They are either the file itself, or pieces that become the lines
// after the first. Aborts if time decreases, or if the sequence numbers of the events are not 1, 2,
// 3, ...
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

#include "hadoop/history_log.h"
#include "tests/fuzz/fuzz_input.h"
#include "tidemark/job_monitor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text = data[0] % 2 == 1
                               ? "Avro-Json\n{}\n" + tidemark::fuzz::LinesOf(data + 1, size - 1)
                               : std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto configuration = tidemark::hadoop::ParseConfiguration(text);
  const auto log =
      tidemark::hadoop::HistoryLog::Read(std::make_unique<std::istringstream>(text), configuration);
  if (!log.ok()) return 0;
  tidemark::JobMonitor monitor("job", {});
  absl::Time before = absl::InfinitePast();
  std::uint64_t sequence = 0;
  for (auto event = (*log)->Next(); event.ok() && *event; event = (*log)->Next()) {
    if ((*event)->arrived_at < before || (*event)->sequence != ++sequence) std::abort();
    before = (*event)->arrived_at;
    monitor.Apply(**event).IgnoreError();
  }
  if (sequence > 0) monitor.Tick(before);
  (*log)->Remarks(0);
  return 0;
}
