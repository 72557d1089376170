// Reads the records of a log in order, and continues after damage.
//
// Damage loses only the damaged records, since the reader searches for the next bytes with valid
// checksums. Checksums depend on the key of the log, so that neither chance nor a sender's payload
// looks like a record. Zeros up to the end of the file result from an interrupted append and are
// not damage. A log of version 1 has no key and ends at its first damage. Byte format:
// docs/internals/event-log.md.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "master/store/log_record.h"
#include "tidemark/job_monitor.h"

namespace tidemark::store {

class RecordReader {
 public:
  enum class Found { kRecord, kDamage, kEnd };

  // Fails with NotFound, PermissionDenied and other codes if the file cannot be opened. Fails with
  // InvalidArgument for a log of another kind or a newer version, and with Unimplemented for
  // version 0.1. Fails with DataLoss if the file ends within its start.
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(const std::string& path,
                                                            const LogKind& kind);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  // Returns the kind of the next item. Fails with DataLoss if the last record is torn, for example
  // by a crash. Any other error means that the file cannot be read. Amortised O(bytes).
  absl::StatusOr<Found> Next();
  // Returns the payload of the last record. It is valid until the next call.
  absl::string_view payload() const { return payload_; }
  // The last damage.
  const LogDamage& damage() const { return damage_; }

  // Returns the position, in bytes, after all complete records and all damage before them. Writers
  // may append at this position.
  std::uint64_t offset() const { return offset_; }
  LogKey key() const { return key_; }
  const std::string& path() const { return path_; }

  // Returns a damage that lost a known number of records.
  static LogDamage DamageOf(std::uint64_t at, std::uint64_t bytes, std::uint64_t records);
  // Returns a description of the damage. `kind` names the log.
  static std::string Describe(const LogKind& kind, const std::string& path,
                              const LogDamage& damage);

 private:
  enum class State {
    kWhole,
    kEnd,
    kCutShort,  // the file ends within the frame
    kTorn,      // the frame is complete, but the file ends within its payload
    kBadPayload,
    kBadFrame
  };
  // position of the next complete record, a torn record, or the end of the file
  struct Search {
    std::uint64_t ends_at = 0;  // position of the first complete frame
    // position of the first record that the end of the file interrupts
    std::optional<std::uint64_t> first_frame_at;
    std::optional<std::uint64_t> torn_at;  // number of complete frames before ends_at
    std::uint64_t frames = 0;              // whether all bytes up to ends_at are zero
    bool is_zeros = true;                  // all bytes up to ends_at are zero
  };

  RecordReader(std::string path, const LogKind& kind, std::FILE* file)
      : path_(std::move(path)), kind_(kind), file_(file) {}
  absl::Status ReadStart();
  absl::StatusOr<std::size_t> ReadAt(std::uint64_t at, char* out, std::size_t bytes);
  absl::StatusOr<State> ReadRecordAt(std::uint64_t at);
  absl::StatusOr<Search> SearchBehind(std::uint64_t from);
  absl::StatusOr<bool> SkipDamage();
  std::uint64_t RecordsIn(std::uint64_t bytes) const;
  std::uint64_t EndOf(std::uint64_t at) const { return at + kFrameBytes + frame_.length; }

  const std::string path_;
  const LogKind kind_;
  std::FILE* const file_;
  std::uint64_t file_at_ = 0;  // frame of the last record read
  LogKey key_ = LogKey::kNone;
  Frame frame_;          // payload of the last record read
  std::string payload_;  // payload of the last record that was read
  LogDamage damage_;
  bool is_start_damaged_ = false;  // true until the damage is reported
  std::uint64_t next_ = 0;         // position of the next record
  std::uint64_t offset_ = 0;
  std::uint64_t records_ = 0;  // number of complete records
  std::uint64_t record_bytes_ = 0;
};

// Returns the key of a log, or nullopt if its first kStartBytes are damaged.
std::optional<LogKey> KeyOf(absl::string_view start, const LogKind& kind);

}  // namespace tidemark::store
