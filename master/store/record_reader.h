// Reads the records of a log one after the other, and goes on behind damage.
//
// A damaged record costs itself alone: behind it the file is searched for the next bytes whose
// checks hold. These are made with the key of the log, so that neither chance nor a sender's
// payload passes for a record. Nothing but zeros up to the end of the file is what a crash leaves
// of an append, not damage. A log of version 1 has no key; it ends where its damage begins. Byte
// format: docs/event-log.md.
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

  // NotFound, PermissionDenied, ...: the file. InvalidArgument: not such a log, or of a newer
  // version. Unimplemented: of version 0.1. DataLoss: it ends within its start.
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(const std::string& path,
                                                            const LogKind& kind);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  // What comes next. DataLoss: the last record is torn, as a crash leaves it. Other errors: the
  // file cannot be read. Amortised O(bytes).
  absl::StatusOr<Found> Next();
  // Of the record that was found; valid until the next call.
  absl::string_view payload() const { return payload_; }
  // The damage that was found.
  const LogDamage& damage() const { return damage_; }

  // Where a log that goes on may be appended to: behind all that is whole, and behind damage that
  // can be read past. bytes
  std::uint64_t offset() const { return offset_; }
  LogKey key() const { return key_; }
  const std::string& path() const { return path_; }

  // Damage that has cost a known number of records.
  static LogDamage DamageOf(std::uint64_t at, std::uint64_t bytes, std::uint64_t records);
  // About the damage, for people; `kind` names the log.
  static std::string Describe(const LogKind& kind, const std::string& path,
                              const LogDamage& damage);

 private:
  enum class State {
    kWhole,
    kEnd,
    kCutShort,  // the file ends within the frame ...
    kTorn,      // ... or, of a frame that is whole, within the payload
    kBadPayload,
    kBadFrame
  };
  // What was found behind a place without a whole record.
  struct Search {
    std::uint64_t ends_at = 0;                    // the next whole record, a torn one, or the end
    std::optional<std::uint64_t> first_frame_at;  // the first whole frame
    std::optional<std::uint64_t> torn_at;         // the first that the file ends within
    std::uint64_t frames = 0;                     // whole ones before ends_at
    bool is_zeros = true;                         // up to ends_at there is nothing else
  };

  RecordReader(std::string path, const LogKind& kind, std::FILE* file)
      : path_(std::move(path)), kind_(kind), file_(file) {}
  absl::Status ReadStart();
  absl::StatusOr<std::size_t> ReadAt(std::uint64_t at, char* out, std::size_t bytes);
  absl::StatusOr<State> Look(std::uint64_t at);
  absl::StatusOr<Search> SearchBehind(std::uint64_t from);
  absl::StatusOr<bool> PassDamage();
  std::uint64_t RecordsIn(std::uint64_t bytes) const;
  std::uint64_t EndOf(std::uint64_t at) const { return at + kFrameBytes + frame_.length; }

  const std::string path_;
  const LogKind kind_;
  std::FILE* const file_;
  std::uint64_t file_at_ = 0;  // where file_ stands
  LogKey key_ = LogKey::kNone;
  Frame frame_;          // seen by Look()
  std::string payload_;  // likewise
  LogDamage damage_;
  bool is_start_damaged_ = false;  // and not told yet
  std::uint64_t next_ = 0;         // where the next record begins
  std::uint64_t offset_ = 0;
  std::uint64_t records_ = 0;  // that were whole
  std::uint64_t record_bytes_ = 0;
};

// The key of a log, if its first kStartBytes are whole.
std::optional<LogKey> KeyOf(absl::string_view start, const LogKind& kind);

}  // namespace tidemark::store
