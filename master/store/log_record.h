// The bytes of an event log: its start, then framed and checksummed records (docs/event-log.md).
//
// Every Encode...() appends to `out`. Thread-safe: functions of their arguments. O(size of the
// record).
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

namespace tidemark::v1 {
class Snapshot;
}

namespace tidemark::store {

// What a log is called in messages, and the first bytes of its file. The last of them is the
// version of the format. Tidemark 0.1 wrote 1 and 2; 4 is more than one flipped bit away from them.
struct LogKind {
  absl::string_view name;
  absl::string_view magic;
};
inline constexpr LogKind kEventLog = {"event log", "TIDELOG4"};
inline constexpr std::size_t kMagicBytes = 8;

// What the checks in the frames of one log are made with. It is drawn when the log begins and no
// sender learns it, so that nothing a sender puts into a payload can pass for a record.
enum class LogKey : std::uint64_t { kNone = 0 };
LogKey NewLogKey();

// Bounds what a corrupt length can make a reader allocate; events are smaller than this.
inline constexpr std::uint32_t kRecordBytesMax = 64u << 20;
// A log begins with its magic and twice its key.
inline constexpr std::size_t kStartBytes = kMagicBytes + 2 * sizeof(LogKey);

// What is left of a job once it has ended.
struct EndedJob {
  Snapshot final;
  std::vector<AcceptedSequence> sources;
  absl::Time opened_at;
  std::string name_space = {};  // as EncodeLogStart() was given it
  std::vector<PastForecast> forecasts = {};
};

// Before every payload.
struct Frame {
  std::uint32_t length = 0;
  std::uint32_t checksum = 0;  // of the payload
  bool is_guarded = false;     // whether the two above are what was written
};
inline constexpr std::size_t kFrameBytes = 12;
// `bytes` holds at least kFrameBytes.
Frame ReadFrame(const char* bytes, LogKey key);
std::uint32_t LogChecksum(absl::string_view payload, LogKey key);
// The two keys behind the magic, which are the same unless one is damaged. `start`
// holds kStartBytes.
std::array<LogKey, 2> ReadKeys(const char* start);

// Any payload with its frame before it.
void EncodeFramed(absl::string_view payload, LogKey key, std::string& out);
// Magic and keys. REQUIRES: not kNone.
void EncodeStart(const LogKind& kind, LogKey key, std::string& out);
// The beginning of every event log: its start and, twice, the header record. `name_space`: which
// ids the job's reporter may report, as patterns with blanks between them; empty: nobody
// asked.
void EncodeLogStart(const std::string& job_id, const JobMonitorOptions& options,
                    const std::string& name_space, LogKey key, std::string& out);
// Writes an event as it was received, without parsing it.
void EncodeReceived(const wire::ReceivedEvent& received, absl::Time arrived_at, LogKey key,
                    std::string& out);
// An event that could not be understood; of sequence 0 when it does not say which it is.
void EncodeRefused(const std::string& reason, const AcceptedSequence& event, LogKey key,
                   std::string& out);
void EncodeTick(absl::Time at, LogKey key, std::string& out);
void EncodeRestart(absl::Time at, const JobLimits& limits, LogKey key, std::string& out);
void EncodePastRuns(const std::vector<PastRun>& runs, LogKey key, std::string& out);
// The last record of a job, after the tick of its final snapshot.
void EncodeEnd(const EndedJob& job, LogKey key, std::string& out);
// How long the last record of a log is, with its frame, if it is such an end: the last four bytes
// of the log tell.
std::uint32_t EndFrameBytes(const char* last_four_bytes);
// Of the bytes that may be such a record; empty if they are not.
std::optional<EndedJob> DecodeEnd(absl::string_view framed, LogKey key);

}  // namespace tidemark::store
