#include "master/service/gate.h"

#include <fmt/format.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <openssl/sha.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "master/service/connection_table.h"
#include "master/store/name_space.h"
#include "proto/wire/error_details.h"
#include "text/duration_text.h"
#include "tidemark/limit.h"
#include "transport/channel.h"
#include "transport/listen_address.h"
#include "transport/small_file.h"

namespace tidemark::service {
namespace {

constexpr std::size_t kTokenBytesMin = 16;
constexpr std::size_t kTokenBytesMax = 1024;
constexpr char kDigestPrefix[] = "sha256:";
constexpr char kScheme[] = "Bearer ";

std::optional<TokenDigest> ParseDigest(const std::string& hex) {
  TokenDigest digest{};
  if (hex.size() != 2 * digest.size() || !std::ranges::all_of(hex, absl::ascii_isxdigit)) {
    return std::nullopt;
  }
  std::ranges::copy(absl::HexStringToBytes(hex), digest.begin());
  return digest;
}

std::optional<TokenDigest> ParseTokenWord(const std::string& word) {
  const std::string prefix = kDigestPrefix;
  if (word.starts_with(prefix)) return ParseDigest(word.substr(prefix.size()));
  const bool is_token =
      word.size() >= kTokenBytesMin && word.size() <= kTokenBytesMax &&
      std::all_of(word.begin(), word.end(), [](char c) { return c > ' ' && c <= '~'; });
  return is_token ? std::optional(DigestOf(word)) : std::nullopt;
}

}  // namespace

TokenDigest DigestOf(const std::string& token) {
  TokenDigest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

absl::StatusOr<TokenTable> TokenTable::Parse(const std::string& text, const std::string& file) {
  TokenTable table;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string role;
    if (!(words >> role) || role[0] == '#') continue;
    std::string jobs;
    std::string token_word;
    std::string more;
    words >> jobs >> token_word;
    const auto fault = [&](const char* what) {
      return absl::InvalidArgumentError(fmt::format("{}:{}: {}", file, number, what));
    };
    if (role != "agent" && role != "reader" && role != "admin") {
      return fault("expected `ROLE JOBS TOKEN`, where ROLE is agent, reader or admin");
    }
    if (token_word.empty() || words >> more) {
      return fault("expected a role, a job pattern and a token, and nothing else");
    }
    const std::size_t star = jobs.find('*');
    if (star != std::string::npos && star + 1 != jobs.size()) {
      return fault("a job pattern may contain * only at its end");
    }
    const std::optional<TokenDigest> token = ParseTokenWord(token_word);
    if (!token) {
      return fault("a token must be 16 to 1024 printable characters, or sha256: and 64 hex digits");
    }
    table.grants_[*token].push_back(
        {.may_report = role != "reader", .may_read = role != "agent", .jobs = jobs});
  }
  return table;
}

bool TokenTable::Allows(const TokenDigest& token, Right right, const std::string& job_id) const {
  const auto grants = grants_.find(token);
  if (grants == grants_.end()) return false;
  return std::any_of(grants->second.begin(), grants->second.end(), [&](const Grant& grant) {
    return grant.Has(right) && store::Matches(grant.jobs, job_id);
  });
}

std::string TokenTable::NameSpaceOf(const TokenDigest& token, Right right) const {
  const auto grants = grants_.find(token);
  if (grants == grants_.end()) return "";
  std::set<std::string> patterns;
  for (const Grant& grant : grants->second) {
    if (grant.Has(right)) patterns.insert(grant.jobs);
  }
  return absl::StrJoin(patterns, " ");
}

absl::StatusOr<std::unique_ptr<Tokens>> Tokens::Load(const std::string& file) {
  std::unique_ptr<Tokens> tokens(new Tokens(file));
  if (file.empty()) return tokens;
  if (absl::Status status = tokens->Read(); !status.ok()) return status;
  return tokens;
}

absl::Status Tokens::Read() {
  // Read the version before the contents, so that the next check detects a change in between.
  const std::size_t file_version = transport::FileVersion(file_);
  absl::StatusOr<std::string> text = transport::ReadSmallFile(file_);
  if (absl::Status secret = transport::CheckSecretFile(file_); text.ok() && !secret.ok()) {
    text = std::move(secret);
  }
  absl::StatusOr<TokenTable> table =
      text.ok() ? TokenTable::Parse(*text, file_) : absl::StatusOr<TokenTable>(text.status());
  const std::lock_guard lock(mutex_);
  file_version_ = file_version;
  if (!table.ok()) return table.status();
  table_ = std::make_shared<const TokenTable>(*std::move(table));
  version_.fetch_add(1, std::memory_order_release);
  return absl::OkStatus();
}

absl::StatusOr<bool> Tokens::Refresh() {
  if (!enabled()) return false;
  {
    const std::lock_guard lock(mutex_);
    if (transport::FileVersion(file_) == file_version_) return false;
  }
  if (absl::Status status = Read(); !status.ok()) return status;
  return true;
}

std::shared_ptr<const TokenTable> Tokens::table() const {
  const std::lock_guard lock(mutex_);
  return table_;
}

Caller::Caller(const Tokens& tokens, const std::string& authorization) : tokens_(tokens) {
  const std::string scheme = kScheme;
  if (!tokens.enabled() || !authorization.starts_with(scheme)) return;
  if (authorization.size() > scheme.size() + kTokenBytesMax) return;
  token_ = DigestOf(authorization.substr(scheme.size()));
}

absl::Status Caller::CheckToken() const {
  if (!tokens_.enabled()) return absl::OkStatus();
  if (!token_) {
    return absl::UnauthenticatedError(
        "this master requires a token: pass --token-file; other clients send the metadata "
        "`authorization: Bearer TOKEN`");
  }
  if (!tokens_.table()->Contains(*token_)) {
    return absl::UnauthenticatedError("this master rejects the token");
  }
  return absl::OkStatus();
}

absl::Status Caller::Check(Right right, const std::string& job_id) {
  if (!tokens_.enabled()) return absl::OkStatus();
  const std::uint64_t version = tokens_.version();
  if (version == checked_version_ && right == checked_right_ && job_id == checked_job_id_) {
    return absl::OkStatus();
  }
  if (absl::Status status = CheckToken(); !status.ok()) return status;
  if (!tokens_.table()->Allows(*token_, right, job_id)) {
    return absl::PermissionDeniedError(fmt::format(
        "the token may not {} job {}", right == Right::kReport ? "report" : "read", job_id));
  }
  checked_version_ = version;
  checked_right_ = right;
  checked_job_id_ = job_id;
  return absl::OkStatus();
}

bool Caller::MayRead(const std::string& job_id) const {
  return !tokens_.enabled() || (token_ && tokens_.table()->Allows(*token_, Right::kRead, job_id));
}

std::string Caller::ReporterAt(const std::string& host) const {
  return tokens_.enabled() ? NameSpaceOf(Right::kReport) : host;
}

std::string Caller::KeyAt(const std::string& host) const {
  return tokens_.enabled() && token_ ? std::string(token_->begin(), token_->end()) : host;
}

std::string Caller::NameSpaceOf(Right right) const {
  if (!tokens_.enabled()) return store::kAllIds;
  return token_ ? tokens_.table()->NameSpaceOf(*token_, right) : "";
}

namespace {

// A burst of this many seconds' worth of calls is allowed. Chosen by hand; a page that opens with
// a thousand requests is not an attack.
constexpr double kBurstSeconds = 5;
constexpr double kCallsPerSecondOfWork = 1000;
// Precision of a reported wait.
constexpr absl::Duration kTenth = absl::Milliseconds(100);

absl::Status TooManyCalls(double calls_per_second, absl::Duration wait) {
  absl::Status status = LimitExceeded(
      kCallsLimit, fmt::format("too many calls: this master answers {} per second for one token or "
                               "host; try again in {}",
                               calls_per_second, text::ElapsedText(absl::Ceil(wait, kTenth))));
  status.SetPayload(kRetryPayload, absl::Cord(absl::FormatDuration(wait)));
  return status;
}

}  // namespace

absl::Status AddEstimate(transport::TurnQueue& estimates, const std::string& caller,
                         transport::TurnQueue::Work work) {
  constexpr char kLimit[] = "estimates";
  switch (estimates.TryAdd(caller, std::move(work))) {
    case transport::TurnQueue::Result::kAdded:
      return absl::OkStatus();
    case transport::TurnQueue::Result::kStopped:
      return absl::UnavailableError("the master is shutting down; try again later");
    case transport::TurnQueue::Result::kKeyIsFull:
      return LimitExceeded(kLimit, fmt::format("{} estimates for this token or host are pending; "
                                               "send the next request after an answer",
                                               kEstimateLimits.of_key_max));
    case transport::TurnQueue::Result::kIsFull:
      break;
  }
  return LimitExceeded(kLimit, fmt::format("{} estimates are pending; try again later",
                                           kEstimateLimits.waiting_max));
}

absl::Duration RetryDelayOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryPayload);
  absl::Duration wait;
  if (!payload || !absl::ParseDuration(std::string(*payload), &wait)) return absl::ZeroDuration();
  return wait;
}

void CallPace::Empty(Bucket& bucket, absl::Time now) const {
  const double seconds = absl::ToDoubleSeconds(std::max(now - bucket.at, absl::ZeroDuration()));
  bucket.calls = std::max(bucket.calls - seconds * rate_, 0.0);
  bucket.at = std::max(bucket.at, now);
}

void CallPace::Prune(absl::Time now) {
  if (buckets_.size() < pruned_at_) return;
  absl::erase_if(buckets_, [&](auto& bucket) {
    Empty(bucket.second, now);
    return bucket.second.calls == 0;
  });
  pruned_at_ = 2 * buckets_.size() + 1024;
}

CallPace::Bucket& CallPace::BucketOf(const std::string& caller, absl::Time now) {
  Prune(now);
  Bucket& bucket = buckets_[caller];
  Empty(bucket, now);
  return bucket;
}

absl::Status CallPace::Enter(const std::string& caller, absl::Time now) {
  if (rate_ <= 0) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  Bucket& bucket = BucketOf(caller, now);
  const double over = bucket.calls + 1 - rate_ * kBurstSeconds;
  if (over > 0) {
    return TooManyCalls(rate_, absl::Ceil(absl::Seconds(over / rate_), absl::Milliseconds(1)));
  }
  bucket.calls += 1;
  return absl::OkStatus();
}

void CallPace::Charge(const std::string& caller, absl::Duration took, absl::Time now) {
  if (rate_ <= 0 || took <= absl::ZeroDuration()) return;
  const std::lock_guard lock(mutex_);
  Bucket& bucket = BucketOf(caller, now);
  bucket.calls = std::min(bucket.calls + absl::ToDoubleSeconds(took) * kCallsPerSecondOfWork,
                          2 * rate_ * kBurstSeconds);
}

std::size_t CallPace::callers() const {
  const std::lock_guard lock(mutex_);
  return buckets_.size();
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
          wire::EncodeErrorDetails(status, ExceededLimit(status), RetryDelayOf(status))};
}

std::string HostOfPeer(const std::string& peer) {
  if (peer.starts_with("unix")) return "unix";
  const std::size_t colon = peer.rfind(':');
  return colon == std::string::npos ? peer : peer.substr(0, colon);
}

absl::StatusOr<PeerLimit::Place> PeerLimit::Enter(const std::string& peer) {
  std::string host = HostOfPeer(peer);
  const std::lock_guard lock(mutex_);
  std::size_t& calls = calls_of_[host];
  if (calls >= calls_max_) {
    return LimitExceeded(
        "streams_per_peer",
        fmt::format("{}: this master allows at most {} streams per host", host, calls_max_));
  }
  ++calls;
  ++calls_;
  return Place(this, std::move(host));
}

void PeerLimit::Leave(const std::string& host) {
  const std::lock_guard lock(mutex_);
  --calls_;
  const auto entry = calls_of_.find(host);
  if (--entry->second == 0) calls_of_.erase(entry);
}

std::size_t PeerLimit::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

namespace {

// Interval at which TLS files are checked for changes.
constexpr unsigned kRefreshSeconds = 2;

}  // namespace

absl::Status CheckTls(const ServerTls& tls) {
  if (tls.certificate_file.empty() != tls.key_file.empty()) {
    return absl::InvalidArgumentError(
        "tls.certificate and tls.key go together: set both or neither");
  }
  if (tls.certificate_file.empty()) {
    if (tls.client_ca_file.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("tls.client_ca needs tls.certificate and tls.key too");
  }
  const absl::Time now = absl::Now();
  absl::Status status = transport::CertificateEnd(tls.certificate_file, now).status();
  if (status.ok()) status = transport::CheckKey(tls.certificate_file, tls.key_file);
  if (status.ok()) status = transport::CheckSecretFile(tls.key_file);
  if (status.ok() && !tls.client_ca_file.empty()) {
    status = transport::CertificateEnd(tls.client_ca_file, now).status();
  }
  return status;
}

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const ServerTls& tls) {
  if (tls.certificate_file.empty()) return grpc::InsecureServerCredentials();
  namespace tls_api = grpc::experimental;
  tls_api::TlsServerCredentialsOptions options(
      std::make_shared<tls_api::FileWatcherCertificateProvider>(
          tls.key_file, tls.certificate_file, tls.client_ca_file, kRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  if (tls.client_ca_file.empty()) {
    options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  } else {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return tls_api::TlsServerCredentials(options);
}

namespace {

std::string MetadataOf(const grpc::CallbackServerContext& context, const char* key) {
  const auto& metadata = context.client_metadata();
  const auto entry = metadata.find(key);
  if (entry == metadata.end()) return "";
  return {entry->second.data(), entry->second.size()};
}

}  // namespace

std::string PeerOfCall(const grpc::CallbackServerContext& context) {
  std::string peer = context.peer();
  // Only calls within the process, whose peer has no colon, may name a client. Connections have a
  // peer such as "ipv4:...", "ipv6:..." or "unix:...".
  if (peer.find(':') != std::string::npos) return PlainPeer(std::move(peer));
  std::string client = MetadataOf(context, transport::kPeerMetadata);
  return client.empty() ? peer : client;
}

absl::StatusOr<Caller> Gate::Identify(const grpc::CallbackServerContext& context) {
  Caller caller(tokens_, MetadataOf(context, "authorization"));
  if (absl::Status known = caller.CheckToken(); !known.ok()) {
    return Refuse(std::move(known), PeerOfCall(context));
  }
  acceptor_.OnAuthenticated(context.peer());
  return caller;
}

absl::StatusOr<AdmittedStream> Gate::Admit(const grpc::CallbackServerContext& context) {
  absl::StatusOr<Caller> caller = Identify(context);
  if (!caller.ok()) return caller.status();
  absl::StatusOr<PeerLimit::Place> place = peers_.Enter(PeerOfCall(context));
  if (!place.ok()) return Refuse(place.status(), PeerOfCall(context));
  return AdmittedStream{*std::move(caller), *std::move(place)};
}

absl::StatusOr<std::pair<Caller, std::string>> Gate::Count(
    const grpc::CallbackServerContext& context) {
  absl::StatusOr<Caller> caller = Identify(context);
  if (!caller.ok()) return caller.status();
  std::string key = caller->KeyAt(HostOfPeer(PeerOfCall(context)));
  if (absl::Status paced = pace_.Enter(key, clock_.Now()); !paced.ok()) {
    // A rejected call takes memory until its client reads the answer.
    if (!refused_.Enter(context.peer(), clock_.Now()).ok()) acceptor_.CutOff(context.peer());
    return Refuse(std::move(paced), PeerOfCall(context));
  }
  return std::pair(*std::move(caller), std::move(key));
}

absl::StatusOr<Gate::AdmittedCall> Gate::Ask(const grpc::CallbackServerContext& context) {
  auto counted = Count(context);
  if (!counted.ok()) return counted.status();
  return AdmittedCall{std::move(counted->first), Meter(*this, std::move(counted->second))};
}

absl::StatusOr<Gate::AdmittedWatcher> Gate::AdmitWatcher(
    const grpc::CallbackServerContext& context) {
  auto call = Ask(context);
  if (!call.ok()) return call.status();
  auto stream = Admit(context);
  if (!stream.ok()) return stream.status();
  return AdmittedWatcher{*std::move(stream), std::move(call->meter)};
}

absl::Status Gate::Refuse(absl::Status status, const std::string& peer) {
  const char* what = "a call failed";
  if (absl::IsUnauthenticated(status)) {
    metrics_.calls_unauthenticated.fetch_add(1, std::memory_order_relaxed);
    what = "rejected a call without a valid token";
  } else if (absl::IsPermissionDenied(status)) {
    metrics_.calls_denied.fetch_add(1, std::memory_order_relaxed);
    what = "rejected a call: its token lacks the permission";
  } else if (absl::IsResourceExhausted(status)) {
    metrics_.calls_refused_by_limit.fetch_add(1, std::memory_order_relaxed);
    what = "rejected a call: a limit was reached";
  }
  log_.WarnRarely(what, absl::Now(), "", {{"peer", HostOfPeer(peer)}});
  return status;
}

}  // namespace tidemark::service
