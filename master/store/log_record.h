// The bytes of an event log: a magic, then framed and checksummed records (docs/event-log.md).
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
#include "tidemark/job_monitor.h"
#include "tidemark/snapshot.h"

namespace tidemark::v1 {
class Envelope;
}

namespace tidemark::store {

inline constexpr std::array<char, 8> kLogMagic = {'T', 'I', 'D', 'E', 'L', 'O', 'G', '1'};
// Length and checksum, before every payload.
inline constexpr std::size_t kFrameBytes = 8;
// A corrupt length must not make a reader allocate the world; envelopes are smaller than this.
inline constexpr std::uint32_t kRecordBytesMax = 64u << 20;

// What is left of a job once it has ended.
struct EndedJob {
  Snapshot final;
  std::vector<AcceptedSequence> sources;
  absl::Time opened_at;
};

struct Frame {
  std::uint32_t length = 0;
  std::uint32_t checksum = 0;
};
// `bytes` holds at least kFrameBytes.
Frame ReadFrame(const char* bytes);
std::uint32_t LogChecksum(absl::string_view payload);

// Any payload with its frame before it.
void EncodeFramed(absl::string_view payload, std::string& out);
// The beginning of every log: the magic and the header record. `name_space`: which ids whoever
// opened the job might report, as patterns with blanks between them; empty: nobody asked.
void EncodeLogStart(const std::string& job_id, const JobMonitorOptions& options,
                    const std::string& name_space, std::string& out);
void EncodeEnvelope(const v1::Envelope& envelope, absl::Time arrived_at, std::string& out);
// The same of an envelope in its serialized form, which is not looked at.
void EncodeEnvelopeBytes(absl::string_view envelope, absl::Time arrived_at, std::string& out);
// An envelope that never became an event; of sequence 0 when it does not say which it is.
void EncodeMalformed(const std::string& reason, const AcceptedSequence& envelope, std::string& out);
void EncodeTick(absl::Time at, std::string& out);
void EncodeRestart(absl::Time at, std::string& out);
void EncodePastRuns(const std::vector<PastRun>& runs, std::string& out);
// The last record of a job, after the tick of its final snapshot.
void EncodeEnd(const EndedJob& job, std::string& out);
// How long the last record of a log is, with its frame, if it is such an end: the last four bytes
// of the log tell.
std::uint32_t EndFrameBytes(const char* last_four_bytes);
// Of the bytes that may be such a record; empty if they are not.
std::optional<EndedJob> DecodeEnd(absl::string_view framed);

}  // namespace tidemark::store
