#include "master/service/shares.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tidemark/limit.h"
#include "transport/small_file.h"

namespace tidemark::service {

namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
// Larger amounts (above a thousand terabytes) would overflow products.
constexpr std::uint64_t kCountedMax = std::uint64_t{1} << 50;

std::size_t Index(Resource resource) { return static_cast<std::size_t>(resource); }

bool IsBytes(Resource resource) {
  return resource == Resource::kDiskBytes || resource == Resource::kStateBytes;
}

std::uint64_t Capped(std::uint64_t amount) { return std::min(amount, kCountedMax); }

const char* ReasonOf(Resource resource) {
  switch (resource) {
    case Resource::kJobs:
      return "this token or host has too many running jobs for the remaining capacity";
    case Resource::kWorkflows:
      return "this token or host has too many running workflows for the remaining capacity";
    case Resource::kDiskBytes:
      return "the event logs of this token or host take too large a share of the free disk space";
    case Resource::kStateBytes:
      return "the jobs of this token or host take too large a share of the free memory";
  }
  return "";
}

}  // namespace

Shares::Shares(const ShareOptions& options) : options_(options) {
  limits_[Index(Resource::kJobs)] = options.jobs_max;
  limits_[Index(Resource::kWorkflows)] = options.workflows_max;
  limits_[Index(Resource::kDiskBytes)] = kEndless;
  limits_[Index(Resource::kStateBytes)] = options.state_bytes_max;
}

Shares::Holding Shares::Of(const std::string& reporter) {
  const std::lock_guard lock(mutex_);
  if (accounts_.size() >= pruned_at_) {
    absl::erase_if(accounts_, [](const auto& account) { return account.second.expired(); });
    pruned_at_ = 2 * accounts_.size() + 64;
  }
  std::weak_ptr<Account>& known = accounts_[reporter];
  std::shared_ptr<Account> account = known.lock();
  if (account == nullptr) known = account = std::make_shared<Account>();
  return {this, std::move(account)};
}

void Shares::SetFree(Resource resource, std::uint64_t amount) {
  const std::uint64_t taken = all_.taken[Index(resource)];
  limits_[Index(resource)] = amount > kEndless - taken ? kEndless : taken + amount;
}

std::uint64_t Shares::Left(Resource resource) const {
  const std::uint64_t limit = limits_[Index(resource)];
  const std::uint64_t taken = all_.taken[Index(resource)];
  return limit > taken ? limit - taken : 0;
}

bool Shares::Allows(const Account& account, Resource resource, std::uint64_t amount,
                    unsigned slack) const {
  if (options_.percent >= 100 || slack >= 16) return true;
  const std::uint64_t wanted = Capped(account.taken[Index(resource)]) + Capped(amount);
  if (IsBytes(resource) && wanted <= options_.bytes_min) return true;
  // Without this rule, a small share of few slots would be zero.
  if (!IsBytes(resource) && wanted <= 1) return Left(resource) >= amount;
  const std::uint64_t counted = wanted - wanted / 16 * slack;
  return counted * (100 - options_.percent) <= Capped(Left(resource)) * options_.percent;
}

Shares::Holding& Shares::Holding::operator=(Holding&& other) noexcept {
  std::swap(shares_, other.shares_);
  std::swap(account_, other.account_);
  std::swap(held_, other.held_);
  return *this;
}

Shares::Holding::~Holding() {
  for (std::size_t i = 0; i < kResources; ++i) Hold(static_cast<Resource>(i), 0);
}

absl::Status Shares::Holding::Reserve(Resource resource, std::uint64_t amount, unsigned slack) {
  if (shares_ == nullptr) return absl::OkStatus();
  if (!shares_->Allows(*account_, resource, amount, slack)) {
    return LimitExceeded(kShareLimit, fmt::format("{}; each may use {} % of the free remainder",
                                                  ReasonOf(resource), shares_->options_.percent));
  }
  Hold(resource, held(resource) + amount);
  return absl::OkStatus();
}

void Shares::Holding::Hold(Resource resource, std::uint64_t amount) {
  if (shares_ == nullptr) return;
  const std::size_t i = Index(resource);
  const std::uint64_t more = amount - held_[i];  // modulo 2^64, like the sums
  held_[i] = amount;
  account_->taken[i] += more;
  shares_->all_.taken[i] += more;
}

namespace {

// The files of one cgroup hierarchy.
struct MemoryFiles {
  const char* root;  // mount point
  const char* limit;
};
constexpr MemoryFiles kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"};
constexpr MemoryFiles kVersion2 = {"/sys/fs/cgroup", "memory.max"};

// Returns nullopt for "max", which means unlimited in version 2, and for 0, which would allow no
// process.
std::optional<std::uint64_t> ParseLimit(const std::optional<std::string>& text) {
  std::uint64_t bytes = 0;
  if (!text || !absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &bytes) || bytes == 0) {
    return std::nullopt;
  }
  return bytes;
}

std::optional<std::uint64_t> Smaller(std::optional<std::uint64_t> a,
                                     std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// Returns the smallest limit of the cgroup at this path and of its parents. A path outside the
// container, or one that does not exist in it, counts as the root, which is the container's own
// cgroup.
std::optional<std::uint64_t> LimitAlong(std::string cgroup, const MemoryFiles& files,
                                        const ReadFile& read) {
  if (!cgroup.starts_with('/') || cgroup.starts_with("/..")) cgroup.clear();
  std::optional<std::uint64_t> limit;
  for (;;) {
    while (cgroup.ends_with('/')) cgroup.pop_back();
    limit = Smaller(limit, ParseLimit(read(files.root + cgroup + "/" + files.limit)));
    if (cgroup.empty()) return limit;
    cgroup.resize(cgroup.rfind('/'));
  }
}

std::optional<std::uint64_t> HostMemoryBytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

}  // namespace

std::optional<std::uint64_t> CgroupMemoryLimitBytes(const ReadFile& read) {
  std::optional<std::uint64_t> limit;
  const std::vector<std::string> lines =
      absl::StrSplit(read("/proc/self/cgroup").value_or(""), '\n');
  for (const std::string& line : lines) {
    // NUMBER:CONTROLLERS:PATH; version 2 has number 0 and no controllers.
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',');
    const bool is_version2 = fields[0] == "0" && fields[1].empty();
    if (is_version2) limit = Smaller(limit, LimitAlong(fields[2], kVersion2, read));
    if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
      limit = Smaller(limit, LimitAlong(fields[2], kVersion1, read));
    }
  }
  return limit;
}

std::size_t HalfOfTheMemoryBytes() {
  const auto read = [](const std::string& path) -> std::optional<std::string> {
    absl::StatusOr<std::string> text = transport::ReadSmallFile(path);
    if (!text.ok()) return std::nullopt;
    return *std::move(text);
  };
  const auto memory = Smaller(HostMemoryBytes(), CgroupMemoryLimitBytes(read));
  if (!memory) return std::numeric_limits<std::size_t>::max();
  // Half of one byte must not become 0.
  return static_cast<std::size_t>(std::max<std::uint64_t>(*memory / 2, 1));
}

}  // namespace tidemark::service
