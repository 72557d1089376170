// The bytes of an event log: a header, then framed records (docs/internals/event-log.md).
//
// Every Encode...() function appends to `out`. Thread-safe. O(size of the record).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/wire/parse_event.h"
#include "tidemark/job.h"
#include "tidemark/job_monitor.h"
#include "tidemark/job_tasks.h"
#include "tidemark/past_run.h"

namespace tidemark::v1 {
class Snapshot;
}
namespace tidemark::storage::v1 {
class LoggedRunProfile;
}

namespace tidemark::store {

// Returns true if the run has stages or named key groups.
bool HasProfile(const PastRun& run);
// Encodes the task times of a run's stages, and its named key groups. Times are rounded to seven
// digits. If a run is too large to store (CanBeKept()), only its slots are written and read.
void EncodeRunProfile(const PastRun& run, tidemark::storage::v1::LoggedRunProfile& message);
// Decodes the result of EncodeRunProfile(). Omits contradictory values, such as a nonexistent
// parent or an invalid time.
PastRun DecodeRunProfile(const tidemark::storage::v1::LoggedRunProfile& message);

// The name of a kind of log in messages, and the first bytes of its files. The last byte is the
// version of the format. Tidemark 0.1 wrote 1 and 2; 4 differs from each in more than one bit.
struct LogKind {
  absl::string_view name;
  absl::string_view magic;
};
inline constexpr LogKind kEventLog = {"event log", "TIDELOG4"};
inline constexpr std::size_t kMagicBytes = 8;

// The key of the checksums of one log. It is chosen at random when the log begins and never sent,
// so that no sender can put a valid record into a payload.
enum class LogKey : std::uint64_t { kNone = 0 };
LogKey NewLogKey();

// Limits the memory that a corrupt length can allocate. Events are smaller.
inline constexpr std::uint32_t kRecordBytesMax = 64u << 20;
// A log begins with its magic and two copies of its key.
inline constexpr std::size_t kStartBytes = kMagicBytes + 2 * sizeof(LogKey);

// The stored state of an ended job.
struct EndedJob {
  Snapshot final;
  std::vector<AcceptedSequence> sources;
  absl::Time opened_at;
  std::string name_space = {};  // as passed to EncodeLogStart()
  std::vector<PastForecast> forecasts = {};
  std::optional<JobWorkflow> workflow = {};  // if the job was the only known job of it
};

// The header of a payload.
struct Frame {
  std::uint32_t length = 0;
  std::uint32_t checksum = 0;  // checksum of the payload
  bool is_guarded = false;     // true if the guard of length and checksum is valid
};
inline constexpr std::size_t kFrameBytes = 12;
// Decodes a frame. `bytes` must contain at least kFrameBytes.
Frame ReadFrame(const char* bytes, LogKey key);
std::uint32_t LogChecksum(absl::string_view payload, LogKey key);
// Returns the two keys after the magic. They are equal unless one is damaged. `start` must contain
// kStartBytes.
std::array<LogKey, 2> ReadKeys(const char* start);

// Encodes a payload with its frame.
void EncodeFramed(absl::string_view payload, LogKey key, std::string& out);
// Encodes magic and keys. REQUIRES: `key` is not kNone.
void EncodeStart(const LogKind& kind, LogKey key, std::string& out);
// Encodes the beginning of an event log: its start and two copies of the header record.
// `name_space` contains patterns of the IDs that the job's reporter may report, separated by
// blanks. It is empty if there are no tokens.
void EncodeLogStart(const std::string& job_id, const JobMonitorOptions& options,
                    const std::string& name_space, LogKey key, std::string& out);
// Encodes an event as received, without parsing it.
void EncodeReceived(const wire::ReceivedEvent& received, absl::Time arrived_at, LogKey key,
                    std::string& out);
// Encodes an event that was not parsed. The event's sequence is 0 if unknown.
void EncodeRefused(const std::string& reason, const AcceptedSequence& event, LogKey key,
                   std::string& out);
void EncodeTick(absl::Time at, LogKey key, std::string& out);
void EncodeRestart(absl::Time at, const JobLimits& limits, LogKey key, std::string& out);
void EncodePastRuns(const std::vector<PastRun>& runs, LogKey key, std::string& out);
// Encodes the last record of a job, after the tick of its final snapshot.
void EncodeEnd(const EndedJob& job, LogKey key, std::string& out);
// Returns the size of the last record, including its frame, if the last four bytes of the log
// belong to the record of an end.
std::uint32_t EndFrameBytes(const char* last_four_bytes);
// Decodes a record of EncodeEnd(). Returns nullopt for other bytes.
std::optional<EndedJob> DecodeEnd(absl::string_view framed, LogKey key);

}  // namespace tidemark::store
