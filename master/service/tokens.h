// Who may do what: a file with a token on each line, and the checks of calls against it.
//
//   # role   jobs       token
//   agent    nightly-*  9XyUq3...              may report these jobs
//   reader   *          sha256:5e88...         may ask for them and watch them
//   admin    *          0hT2bb...              both
//
// `jobs` is a job id, or the beginning of one and a *. A token has 16..1024 printable characters;
// instead of it the file may have the SHA-256 of its bytes. The same token may have several lines,
// whose rights add up. Messages never quote the file, since any word of it may be a token.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tidemark::service {

// SHA-256.
using TokenDigest = std::array<std::uint8_t, 32>;
TokenDigest DigestOf(const std::string& token);

enum class Right : std::uint8_t { kReport, kRead };

// One version of the file. Immutable.
class TokenTable {
 public:
  // InvalidArgument: "FILE:LINE: what to write".
  static absl::StatusOr<TokenTable> Parse(const std::string& text, const std::string& file);

  bool Knows(const TokenDigest& token) const { return grants_.contains(token); }
  bool Allows(const TokenDigest& token, Right right, const std::string& job_id) const;
  // All ids that it allows (name_space.h); empty: none.
  std::string NameSpaceOf(const TokenDigest& token, Right right) const;
  std::size_t size() const { return grants_.size(); }

 private:
  struct Grant {
    bool Has(Right right) const { return right == Right::kReport ? may_report : may_read; }

    bool may_report = false;
    bool may_read = false;
    std::string jobs;  // a pattern
  };
  absl::flat_hash_map<TokenDigest, std::vector<Grant>> grants_;
};

// The newest version of the file. Thread-safe.
class Tokens {
 public:
  // An empty path: all clients may do everything.
  static absl::StatusOr<std::unique_ptr<Tokens>> Load(const std::string& file);

  // Reads the file again if it has changed; whether it has. An error leaves the rights as they
  // were; it comes once for each change.
  absl::StatusOr<bool> Refresh();

  bool enabled() const { return !file_.empty(); }
  // Counts the versions of the file.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  std::shared_ptr<const TokenTable> table() const;

 private:
  explicit Tokens(std::string file) : file_(std::move(file)) {}
  absl::Status Read();

  const std::string file_;
  std::atomic<std::uint64_t> version_{0};
  mutable std::mutex mutex_;  // guards all below
  std::size_t file_version_ = 0;
  std::shared_ptr<const TokenTable> table_;
};

// One client, as the metadata of its call names it. Remembers the last answer: one thread at a
// time.
class Caller {
 public:
  // `authorization` is the value of that metadata, empty if there is none. `tokens` must outlive
  // the caller.
  Caller(const Tokens& tokens, const std::string& authorization);

  // Unauthenticated: no token, or one that is not known any more. PermissionDenied: a right that it
  // does not have.
  absl::Status Check(Right right, const std::string& job_id);
  // Unauthenticated as above, whatever the job.
  absl::Status CheckKnown() const;
  // Whether Check() would pass, for lists.
  bool MayRead(const std::string& job_id) const;
  // All ids for which Check() would pass (name_space.h).
  std::string NameSpaceOf(Right right) const;
  // For whom a client at `host` is counted (shares.h): the name space of what its token may report,
  // which outlives the token, or the host where there are no tokens.
  std::string ReporterAt(const std::string& host) const;
  // Whose calls its calls are (call_pace.h): its token's, or its host's where there are none.
  std::string KeyAt(const std::string& host) const;

 private:
  const Tokens& tokens_;
  std::optional<TokenDigest> token_;
  std::uint64_t checked_version_ = 0;  // of the last Check() that passed
  Right checked_right_ = Right::kReport;
  std::string checked_job_id_;
};

}  // namespace tidemark::service
