#include "master/service/shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tidemark/limit.h"

namespace tidemark::service {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
// What is multiplied below must not overflow: a thousand terabytes.
constexpr std::uint64_t kCountedMax = std::uint64_t{1} << 50;

std::size_t Index(Resource resource) { return static_cast<std::size_t>(resource); }

bool IsBytes(Resource resource) {
  return resource == Resource::kDiskBytes || resource == Resource::kStateBytes;
}

std::uint64_t Capped(std::uint64_t amount) { return std::min(amount, kCountedMax); }

const char* ReasonOf(Resource resource) {
  switch (resource) {
    case Resource::kJobs:
      return "too few places are left for more running jobs of this token or host";
    case Resource::kWorkflows:
      return "too few places are left for more running workflows of this token or host";
    case Resource::kDiskBytes:
      return "the event logs of this token or host take too much of what is left of the disk";
    case Resource::kStateBytes:
      return "the jobs of this token or host take too much of what is left of the memory";
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
  // A small share of few places would be none at all.
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

absl::Status Shares::Holding::Take(Resource resource, std::uint64_t amount, unsigned slack) {
  if (shares_ == nullptr) return absl::OkStatus();
  if (!shares_->Allows(*account_, resource, amount, slack)) {
    return LimitExceeded(kShareLimit, fmt::format("{}; one may have {} % of it", ReasonOf(resource),
                                                  shares_->options_.percent));
  }
  Hold(resource, held(resource) + amount);
  return absl::OkStatus();
}

void Shares::Holding::Hold(Resource resource, std::uint64_t amount) {
  if (shares_ == nullptr) return;
  const std::size_t i = Index(resource);
  const std::uint64_t more = amount - held_[i];  // modulo 2^64, as the sums are
  held_[i] = amount;
  account_->taken[i] += more;
  shares_->all_.taken[i] += more;
}

}  // namespace tidemark::service
