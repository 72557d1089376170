// Event logs with anything in them. An even first byte: the rest is the file. An odd one: the rest
// is in pieces that become records with right lengths and checksums, so that what is behind those
// is reached, too.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "master/store/event_log.h"
#include "master/store/log_record.h"
#include "master/store/restore.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

namespace store = tidemark::store;

void AppendLittleEndian(std::uint32_t number, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(number >> shift);
}

std::string Framed(const std::uint8_t* data, std::size_t size) {
  std::string log(store::kLogMagic.begin(), store::kLogMagic.end());
  for (tidemark::fuzz::Pieces pieces(data, size); !pieces.empty();) {
    const std::string_view payload = pieces.Next();
    AppendLittleEndian(static_cast<std::uint32_t>(payload.size()), log);
    AppendLittleEndian(store::LogChecksum({payload.data(), payload.size()}), log);
    log += payload;
  }
  return log;
}

// A file that is in memory only.
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string log = data[0] % 2 == 1
                              ? Framed(data + 1, size - 1)
                              : std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
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
  store::DecodeEnd({log.data(), log.size()});
  return 0;
}
