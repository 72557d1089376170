// Reads access rights from a file with a token on each line, and checks calls against them.
//
//   # role   jobs       token
//   agent    nightly-*  9XyUq3...              may report these jobs
//   reader   *          sha256:5e88...         may read and watch them
//   admin    *          0hT2bb...              both
//
// `jobs` is a job ID, or a prefix followed by a *. A token has 16..1024 printable characters; the
// file may contain the SHA-256 of its bytes instead. A token may have several lines, whose rights
// add up. Messages never quote the file, since any word of it may be a token.
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

// A SHA-256 digest.
using TokenDigest = std::array<std::uint8_t, 32>;
TokenDigest DigestOf(const std::string& token);

enum class Right : std::uint8_t { kReport, kRead };

// One version of the file. Immutable.
class TokenTable {
 public:
  // Fails with InvalidArgument. The message begins with "FILE:LINE:" and explains the correction.
  static absl::StatusOr<TokenTable> Parse(const std::string& text, const std::string& file);

  bool Contains(const TokenDigest& token) const { return grants_.contains(token); }
  bool Allows(const TokenDigest& token, Right right, const std::string& job_id) const;
  // Returns all IDs that the token allows (name_space.h); empty if none.
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
  // If `file` is empty, all clients have all rights.
  static absl::StatusOr<std::unique_ptr<Tokens>> Load(const std::string& file);

  // Reads the file again if it has changed. Returns true if it has. An error keeps the previous
  // rights and is returned once for each change.
  absl::StatusOr<bool> Refresh();

  bool enabled() const { return !file_.empty(); }
  // Returns the number of the current version of the file.
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

// One client, identified by the metadata of its call. Caches the last result, so only one thread
// may use it at a time.
class Caller {
 public:
  // `authorization` is the value of the metadata "authorization", or empty. `tokens` must outlive
  // the caller.
  Caller(const Tokens& tokens, const std::string& authorization);

  // Returns Unauthenticated for a missing or revoked token, and PermissionDenied if the token
  // lacks the right.
  absl::Status Check(Right right, const std::string& job_id);
  // Checks only the token. Returns Unauthenticated if it is missing or revoked.
  absl::Status CheckToken() const;
  // Returns true if Check() would pass. For lists.
  bool MayRead(const std::string& job_id) const;
  // Returns all IDs for which Check() would pass (name_space.h).
  std::string NameSpaceOf(Right right) const;
  // Returns the reporter of a client at `host` (shares.h). This is the name space that its token
  // may report, which outlives the token, or the host if there are no tokens.
  std::string ReporterAt(const std::string& host) const;
  // Returns the key of the caller's calls (CallPace): its token, or its host if there are no
  // tokens.
  std::string KeyAt(const std::string& host) const;

 private:
  const Tokens& tokens_;
  std::optional<TokenDigest> token_;
  std::uint64_t checked_version_ = 0;  // version at the last Check() that passed
  Right checked_right_ = Right::kReport;
  std::string checked_job_id_;
};

}  // namespace tidemark::service
