// Reads the events of a history file, which the application master of a MapReduce job writes
// (job_ID-....jhist). Its first line names its form, and its second line has the Avro schema of the
// events. Text has one event per line (Avro-Json); Hadoop 3 writes binary values (Avro-Binary).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "hadoop/avro.h"

namespace tidemark::hadoop {

// Returns true if the file begins with the first line of a history file.
bool IsHistoryFile(const std::string& path);

// Returns true once a reader should stop. Must be fast. An empty function never stops the
// reader.
using IsStopped = std::function<bool()>;

struct HistoryRecord {
  std::string type;       // such as "MAP_ATTEMPT_FINISHED"
  nlohmann::json fields;  // fields of the event, as in Avro's JSON encoding
};

// Not thread-safe. Memory: O(event).
class HistoryFile {
 public:
  // Events that are larger are skipped in text, and end a binary file.
  static constexpr std::size_t kRecordBytesMax = std::size_t{4} << 20;

  // Fails with InvalidArgument if the first two lines do not begin a history file, with Unavailable
  // if they cannot be read, and with Cancelled if `is_stopped` returns true.
  static absl::StatusOr<std::unique_ptr<HistoryFile>> Open(std::unique_ptr<std::istream> input,
                                                           IsStopped is_stopped = nullptr);

  // Returns the next event, or nullopt at the end. Skips lines that are not events. Fails with
  // DataLoss if the remaining binary values are damaged, with Unavailable if the file cannot be
  // read, and with Cancelled if `is_stopped` returns true.
  absl::StatusOr<std::optional<HistoryRecord>> Next();

  // Returns the number of skipped lines, and the number of the first such line, counted from 1.
  std::uint64_t broken_lines() const { return broken_lines_; }
  std::uint64_t first_broken_line() const { return first_broken_line_; }
  // Returns true if the file ends within an event.
  bool is_cut() const { return is_cut_; }

 private:
  HistoryFile(std::unique_ptr<std::istream> input, IsStopped is_stopped)
      : input_(std::move(input)), is_stopped_(std::move(is_stopped)) {}
  enum class Line : std::uint8_t { kNone, kWhole, kLast, kTooLong };
  Line ReadLine(std::string& line);
  absl::StatusOr<std::optional<HistoryRecord>> NextLine();
  absl::StatusOr<std::optional<HistoryRecord>> NextValue();
  void CountBroken(bool is_last);
  absl::Status CheckInput() const;

  const std::unique_ptr<std::istream> input_;
  const IsStopped is_stopped_;
  std::optional<AvroSchema> schema_;  // of binary values
  std::uint64_t line_ = 0;            // number of the last line that was read
  std::uint64_t values_ = 0;          // number of binary values that were read
  std::uint64_t broken_lines_ = 0;
  std::uint64_t first_broken_line_ = 0;
  bool is_cut_ = false;
};

}  // namespace tidemark::hadoop
