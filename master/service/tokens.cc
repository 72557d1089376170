#include "master/service/tokens.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "absl/strings/str_join.h"
#include "master/store/name_space.h"
#include "transport/small_file.h"

namespace tidemark::service {
namespace {

constexpr std::size_t kTokenBytesMin = 16;
constexpr std::size_t kTokenBytesMax = 1024;
constexpr char kDigestPrefix[] = "sha256:";
constexpr char kScheme[] = "Bearer ";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<TokenDigest> ParseDigest(const std::string& hex) {
  TokenDigest digest{};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const int high = HexDigit(hex[2 * i]);
    const int low = HexDigit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    digest[i] = static_cast<std::uint8_t>(16 * high + low);
  }
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
      return fault("a job pattern may have * only at its end");
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
  // Read the version before the contents, so that a change in between is detected by the next
  // check.
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

}  // namespace tidemark::service
