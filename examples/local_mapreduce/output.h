// The output of a reduce task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/local_mapreduce/run.h"

namespace tidemark::examples {

// Receives formatted text in large pieces.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual absl::Status Write(std::string_view text) = 0;
  virtual absl::Status Close() = 0;
};

// Returns the name of a part file, such as "part-r-00003" or "part-r-00003.deflate". Returns an
// empty name for kCount, which has no part files.
std::string PartName(OutputKind kind, std::uint32_t reduce_task);
absl::StatusOr<std::unique_ptr<OutputSink>> OpenSink(OutputKind kind, const std::string& path);

struct OutputTotals {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;  // sum of the XXH64 of each formatted record
  friend bool operator==(const OutputTotals&, const OutputTotals&) = default;
};

// Formats each record as "KEY<TAB>VALUE\n", counts it, and passes on pieces of 64 KiB. After the
// first error, records are dropped, so a long reduce function should check ok() regularly.
class Output {
 public:
  // `on_emitted` receives the number of bytes that leave the buffer.
  Output(std::unique_ptr<OutputSink> sink, std::function<void(std::uint64_t)> on_emitted);

  void Write(std::string_view key, std::string_view value) {
    char* at = Reserve(key.size() + value.size() + 2);
    at = Put(at, key);
    *at++ = '\t';
    at = Put(at, value);
    *at++ = '\n';
    Commit(at);
  }

  // Returns a buffer for one record of at most `size` bytes, for functions that format records in
  // place.
  char* Reserve(std::size_t size) {
    if (buffer_.size() - used_ < size) Flush(size);
    return buffer_.data() + used_;
  }
  // Commits the record, which ends at `end` and must have the form of Write().
  void Commit(const char* end) {
    const auto size = static_cast<std::size_t>(end - (buffer_.data() + used_));
    totals_.checksum += Checksum(buffer_.data() + used_, size);
    totals_.bytes += size;
    ++totals_.records;
    used_ += size;
  }
  static char* Put(char* at, std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    return at + text.size();
  }

  bool ok() const { return status_.ok(); }
  const OutputTotals& totals() const { return totals_; }
  // Passes the current number of bytes to `on_emitted`.
  void ReportEmitted();
  absl::Status Close();

 private:
  static std::uint64_t Checksum(const char* text, std::size_t size);
  void Flush(std::size_t room);

  std::unique_ptr<OutputSink> sink_;
  std::function<void(std::uint64_t)> on_emitted_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  OutputTotals totals_;
  std::uint64_t reported_bytes_ = 0;
  absl::Status status_;
};

}  // namespace tidemark::examples
