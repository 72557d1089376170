// Admits calls: authenticates the caller, and limits its calls and the streams of its host.
//
// Thread-safe.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/status.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "master/service/acceptor.h"
#include "master/service/clock.h"
#include "master/service/log.h"
#include "master/service/metrics.h"
#include "tidemark/master.h"
#include "transport/turn_queue.h"

namespace tidemark::service {

// Reads access rights from a file with one token per line, and checks calls against these rights.
//
//   # role   jobs       token
//   agent    nightly-*  9XyUq3...              may report these jobs
//   reader   *          sha256:5e88...         may read and watch them
//   admin    *          0hT2bb...              both
//
// `jobs` is a job ID, or a prefix followed by a *. A token has 16..1024 printable characters; the
// file may contain the SHA-256 of its bytes instead. A token may have several lines, whose rights
// add up. Error messages never quote the file, since any word in it may be a token.

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
  // Returns all IDs that the token allows (name_space.h), or an empty string without any.
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

  // Rereads the file if it has changed. Returns true if it has. After an error, the previous rights
  // stay in effect, and the error is returned once per change.
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
  mutable std::mutex mutex_;  // Guards all members below.
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
  // Checks only the token. Returns Unauthenticated if the token is missing or revoked.
  absl::Status CheckToken() const;
  // Returns true if Check() would succeed. For lists.
  bool MayRead(const std::string& job_id) const;
  // Returns all IDs for which Check() would succeed (name_space.h).
  std::string NameSpaceOf(Right right) const;
  // Returns the reporter of a client at `host` (shares.h): the name space that its token may
  // report, which outlives the token, or the host if there are no tokens.
  std::string ReporterAt(const std::string& host) const;
  // Returns the key of the caller's calls (CallPace): its token, or its host if there are no
  // tokens.
  std::string KeyAt(const std::string& host) const;

 private:
  const Tokens& tokens_;
  std::optional<TokenDigest> token_;
  std::uint64_t checked_version_ = 0;  // version at the last successful Check()
  Right checked_right_ = Right::kReport;
  std::string checked_job_id_;
};

// Limits for each caller in the queue of estimates and explanations that clients request. Chosen by
// hand so that a caller may have several windows open.
inline constexpr transport::TurnQueue::Limits kEstimateLimits = {.of_key_max = 4,
                                                                 .waiting_max = 64};
// Adds `work` of `caller` to the queue. If too many estimates of the caller or of all callers are
// pending, returns ResourceExhausted and does not run `work`.
absl::Status AddEstimate(transport::TurnQueue& estimates, const std::string& caller,
                         transport::TurnQueue::Work work);

// Limits the calls per second of one caller, so that calls of other callers are answered in time.
//
// Each caller has a bucket that drains at `calls_per_second`. A call adds one unit, plus one for
// every millisecond of processor time that its answer takes. A caller with a full bucket waits for
// about five seconds at most, so that one long estimate does not block all users of its token.
// Streams of agents do not count.
//
// Thread-safe. Reads no clock. Amortised O(1). Memory: one bucket per recent caller.

// Name of the limit in a rejection (tidemark/limit.h).
inline constexpr char kCallsLimit[] = "calls_per_second";
// Type URL of the payload with the time to wait, formatted by absl::FormatDuration().
inline constexpr char kRetryPayload[] = "tidemark/retry_delay";
// Returns the time to wait, or zero if the Status has no such payload.
absl::Duration RetryDelayOf(const absl::Status& status);

class CallPace {
 public:
  // 0 means no limit.
  explicit CallPace(double calls_per_second) : rate_(calls_per_second) {}

  // Counts a call. Fails with ResourceExhausted if the caller must wait for RetryDelayOf().
  absl::Status Enter(const std::string& caller, absl::Time now);
  // Adds the processor time of an answer.
  void Charge(const std::string& caller, absl::Duration took, absl::Time now);
  std::size_t callers() const;

 private:
  struct Bucket {
    double calls = 0;
    absl::Time at = absl::InfinitePast();
  };
  // Returns the caller's bucket, drained until now. REQUIRES: mutex_ is held.
  Bucket& BucketOf(const std::string& caller, absl::Time now);
  void Prune(absl::Time now);
  void Empty(Bucket& bucket, absl::Time now) const;

  const double rate_;
  mutable std::mutex mutex_;  // Guards all members below.
  absl::flat_hash_map<std::string, Bucket> buckets_;
  std::size_t pruned_at_ = 1024;  // number of buckets at which idle buckets are removed
};

// Converts a Status, including its code and details (proto/wire/error_details.h).
grpc::Status ToGrpc(const absl::Status& status);

// A rejected stream, which ends immediately. `Reactor` is grpc::ServerWriteReactor<...> or
// similar.
template <typename Reactor>
class RefusedStream final : public Reactor {
 public:
  explicit RefusedStream(const absl::Status& status) { this->Finish(ToGrpc(status)); }
  void OnDone() override { delete this; }
};

// Limits the open calls of one host.
//
// Thread-safe. O(1). Memory: one entry per host with an open call.

// Returns the host of a peer in gRPC's notation, such as "ipv4:10.0.0.7" for "ipv4:10.0.0.7:4711".
// All clients of a unix socket are one host.
std::string HostOfPeer(const std::string& peer);

// Returns the peer of a call in gRPC's notation. The peer of a call by the page is the page's
// client.
std::string PeerOfCall(const grpc::CallbackServerContext& context);

class PeerLimit {
 public:
  // Holds one admitted call's slot.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : limit_(std::exchange(other.limit_, nullptr)), host_(std::move(other.host_)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(limit_, other.limit_);
      std::swap(host_, other.host_);
      return *this;
    }
    ~Place() {
      if (limit_ != nullptr) limit_->Leave(host_);
    }

   private:
    friend class PeerLimit;
    Place(PeerLimit* limit, std::string host) : limit_(limit), host_(std::move(host)) {}
    PeerLimit* limit_ = nullptr;
    std::string host_;
  };

  // Must outlive all admitted calls.
  explicit PeerLimit(std::size_t calls_max) : calls_max_(calls_max) {}

  // Fails with ResourceExhausted (streams_per_peer) if the host has `calls_max` open calls.
  absl::StatusOr<Place> Enter(const std::string& peer);
  std::size_t calls() const;

 private:
  void Leave(const std::string& host);

  const std::size_t calls_max_;
  mutable std::mutex mutex_;  // Guards all members below.
  std::size_t calls_ = 0;
  absl::flat_hash_map<std::string, std::size_t> calls_of_;
};

// Checks the server's TLS files. An error message names the file and its fault, such as "missing",
// "not PEM" or "expired". Returns OK if there is no TLS.
absl::Status CheckTls(const ServerTls& tls);

// Returns credentials that reread the files when they change. If new files are invalid, the old
// credentials stay in effect. REQUIRES: CheckTls() is OK.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const ServerTls& tls);

// An admitted stream. It occupies a slot until it is destroyed.
struct AdmittedStream {
  Caller caller;
  PeerLimit::Place place;
};

class Gate {
 public:
  // Charges the processor time of one thread between construction and destruction to a caller.
  class Meter {
   public:
    Meter(Gate& gate, std::string key)
        : gate_(&gate), key_(std::move(key)), began_(ThreadCpuTime()) {}
    Meter(Meter&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)),
          key_(std::move(other.key_)),
          began_(other.began_) {}
    Meter& operator=(Meter&&) = delete;
    ~Meter() {
      if (gate_ != nullptr) gate_->Charge(key_, ThreadCpuTime() - began_);
    }
    // Returns the key of the caller to which calls are charged.
    const std::string& key() const { return key_; }

   private:
    Gate* gate_;
    std::string key_;
    absl::Duration began_;
  };
  // An admitted query.
  struct AdmittedCall {
    Caller caller;
    Meter meter;
  };

  // All arguments must outlive the gate and its streams. `calls_per_second` limits each caller
  // (CallPace); 0 means no limit.
  Gate(const Tokens& tokens, Acceptor& acceptor, std::size_t streams_per_peer_max, Metrics& metrics,
       Log& log, double calls_per_second = 0)
      : tokens_(tokens),
        acceptor_(acceptor),
        peers_(streams_per_peer_max),
        metrics_(metrics),
        log_(log),
        pace_(calls_per_second),
        refused_(calls_per_second) {}

  // Admits the stream of an agent. Fails with Unauthenticated, or with ResourceExhausted
  // (streams_per_peer).
  absl::StatusOr<AdmittedStream> Admit(const grpc::CallbackServerContext& context);
  // Admits a watcher, whose start is metered like a query. Fails like Admit() and Ask().
  struct AdmittedWatcher {
    AdmittedStream stream;
    Meter meter;
  };
  absl::StatusOr<AdmittedWatcher> AdmitWatcher(const grpc::CallbackServerContext& context);
  // Admits one query. Fails with Unauthenticated, or with ResourceExhausted (calls_per_second).
  absl::StatusOr<AdmittedCall> Ask(const grpc::CallbackServerContext& context);
  // Charges the time that a call of `key` took on another thread.
  void Charge(const std::string& key, absl::Duration took) {
    pace_.Charge(key, took, clock_.Now());
  }

  // Counts and logs a rejection, and returns it.
  absl::Status Refuse(absl::Status status, const std::string& peer);

 private:
  absl::StatusOr<Caller> Identify(const grpc::CallbackServerContext& context);
  // Authenticates a call and counts it. Returns the caller and the key of its bucket.
  absl::StatusOr<std::pair<Caller, std::string>> Count(const grpc::CallbackServerContext& context);

  const Tokens& tokens_;
  Acceptor& acceptor_;  // is notified of authenticated connections
  PeerLimit peers_;
  Metrics& metrics_;
  Log& log_;
  const Clock clock_;
  CallPace pace_;
  CallPace refused_;  // by connection; counts calls that pace_ rejected
};

}  // namespace tidemark::service
