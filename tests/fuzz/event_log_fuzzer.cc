// Fuzzes event logs with any content. The first byte modulo four selects the form of the remaining
// bytes, called the rest:
//   0, 2  The rest is the file.
//   1     The pieces of the rest become records with correct lengths and checksums, so that the
//         fuzzer also reaches the code behind these checks.
//   3     As for 1, but the first piece selects bytes of the file to change. Every record that the
//         changes do not touch must be read.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "master/store/event_log.h"
#include "master/store/log_record.h"
#include "master/store/record_reader.h"
#include "master/store/recovery.h"
#include "tests/fuzz/fuzz_input.h"

namespace store = tidemark::store;

namespace {

// Senders never receive the key of a log, so inputs must not contain it. Otherwise, a stored input
// would soon contain frames that the fuzzer has seen in comparisons.
store::LogKey KeyOf(const std::uint8_t* data, std::size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  const std::uint64_t high = store::LogChecksum(input, store::LogKey{1});
  const std::uint64_t low = store::LogChecksum(input, store::LogKey{2});
  return store::LogKey{high << 32 | low | 1};
}

std::string LogOf(tidemark::fuzz::Pieces pieces, store::LogKey key) {
  std::string log;
  store::EncodeStart(store::kEventLog, key, log);
  while (!pieces.empty()) {
    const std::string_view payload = pieces.Next();
    store::EncodeFramed({payload.data(), payload.size()}, key, log);
  }
  return log;
}

// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& contents) : descriptor_(memfd_create("log", 0)) {
    if (descriptor_ < 0 || ftruncate(descriptor_, 0) != 0 ||
        write(descriptor_, contents.data(), contents.size()) !=
            static_cast<ssize_t>(contents.size())) {
      std::abort();
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  const int descriptor_;
};

void ReadAll(const std::string& log) {
  const MemoryFile file(log);
  if (const auto reader = store::EventLogReader::Open(file.path()); reader.ok()) {
    for (auto record = (*reader)->Next(); record.ok() && record->has_value();) {
      record = (*reader)->Next();
    }
    if ((*reader)->offset() > log.size()) std::abort();
  }
  if (const auto job = store::RestoreJob(file.path()); job.ok() && job->log_bytes > log.size()) {
    std::abort();
  }
  store::DecodeEnd({log.data(), log.size()}, store::LogKey{1});
}

// Changes bytes after the start of a log. Each change consists of two bytes for the position and
// one byte for the operation. Aborts unless all other records are read.
void DamageAndRead(tidemark::fuzz::Pieces pieces, store::LogKey key) {
  if (pieces.empty()) return;
  const std::string_view changes = pieces.Next();
  std::string log;
  store::EncodeStart(store::kEventLog, key, log);
  std::vector<std::string> payloads;
  std::vector<std::size_t> ends = {log.size()};
  while (!pieces.empty()) {
    payloads.emplace_back(pieces.Next());
    if (payloads.back().empty()) payloads.back() = "never empty";
    store::EncodeFramed(payloads.back(), key, log);
    ends.push_back(log.size());
  }
  const std::string whole = log;
  for (std::size_t i = 0; i + 2 < changes.size() && log.size() > ends[0]; i += 3) {
    const std::size_t place =
        static_cast<unsigned char>(changes[i]) + 256U * static_cast<unsigned char>(changes[i + 1]);
    log[ends[0] + place % (log.size() - ends[0])] = changes[i + 2];
  }
  std::vector<std::string> expected;
  std::size_t whole_until = ends[0];
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const std::size_t size = ends[i + 1] - ends[i];
    if (log.compare(ends[i], size, whole, ends[i], size) != 0) continue;
    expected.push_back(payloads[i]);
    whole_until = ends[i + 1];
  }
  // Zeros at the end indicate an interrupted append. No other change is an incomplete end.
  const bool may_be_torn = log.find_first_not_of('\0', whole_until) == std::string::npos;
  const MemoryFile file(log);
  const auto reader = store::RecordReader::Open(file.path(), store::kEventLog);
  if (!reader.ok()) std::abort();
  std::vector<std::string> read;
  bool is_told = false;
  while (true) {
    const auto found = (*reader)->Next();
    if (!found.ok()) {
      if (!may_be_torn) std::abort();
      is_told = true;
      break;
    }
    if (*found == store::RecordReader::Found::kEnd) break;
    is_told = is_told || *found == store::RecordReader::Found::kDamage;
    if (*found == store::RecordReader::Found::kRecord) read.emplace_back((*reader)->payload());
  }
  if (read != expected || is_told != (log != whole)) std::abort();
  ReadAll(log);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const tidemark::fuzz::Pieces pieces(data + 1, size - 1);
  switch (data[0] % 4) {
    case 1:
      ReadAll(LogOf(pieces, KeyOf(data, size)));
      break;
    case 3:
      DamageAndRead(pieces, KeyOf(data, size));
      break;
    default:
      ReadAll(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  }
  return 0;
}
