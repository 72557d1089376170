// How much of what all have in common each may take: places of running jobs and workflows, the disk
// under the logs, the memory of the jobs.
//
// A reporter is for whom a job or workflow is counted: the name space of the token that opened
// it (name_space.h), or a host where there are no tokens. With a share of 80 %, no reporter is
// given more once what it has exceeds four times what is left: one who takes all it can get leaves
// a fifth, two leave a ninth, so that there always is something for the next. Somebody who is alone
// and takes less never notices (docs/adr/0026-quotas-by-token.md).
//
// Thread-safe. Two who ask at the same moment may both be given the last of it. O(1).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace tidemark::service {

enum class Resource : std::uint8_t { kJobs, kWorkflows, kDiskBytes, kStateBytes };
inline constexpr std::size_t kResources = 4;

// The limit that a refusal names (tidemark/limit.h).
inline constexpr char kShareLimit[] = "share_percent";

struct ShareOptions {
  // Of what is there, at most so much for one reporter. 100: no limit.
  unsigned percent = 80;
  std::size_t jobs_max = std::numeric_limits<std::size_t>::max();  // that run
  std::size_t workflows_max = std::numeric_limits<std::size_t>::max();
  std::size_t state_bytes_max = std::numeric_limits<std::size_t>::max();
  // Of the disk and of the memory, everybody gets so much, whatever is left.
  std::size_t bytes_min = std::size_t{64} << 20;
};

class Shares {
 private:
  struct Account {
    std::array<std::atomic<std::uint64_t>, kResources> taken{};
  };

 public:
  explicit Shares(const ShareOptions& options);

  // What one job or workflow has taken for its reporter, and gives back when it is destroyed. Not
  // thread-safe itself.
  class Holding {
   public:
    Holding() = default;
    Holding(Holding&& other) noexcept { *this = std::move(other); }
    Holding& operator=(Holding&& other) noexcept;
    ~Holding();

    // ResourceExhausted, which says what there is too little of; then nothing was taken. `slack`:
    // what may be taken beyond the share, in sixteenths of it; 16: anything.
    absl::Status Take(Resource resource, std::uint64_t amount, unsigned slack = 0);
    // Sets what it holds, whether or not there is room.
    void Hold(Resource resource, std::uint64_t amount);
    std::uint64_t held(Resource resource) const {
      return held_[static_cast<std::size_t>(resource)];
    }

   private:
    friend class Shares;
    Holding(Shares* shares, std::shared_ptr<Account> account)
        : shares_(shares), account_(std::move(account)) {}
    Shares* shares_ = nullptr;
    std::shared_ptr<Account> account_;
    std::array<std::uint64_t, kResources> held_{};
  };

  // Nothing yet, for `reporter`. The shares must outlive it.
  Holding Of(const std::string& reporter);

  // So much of the disk is free, as somebody has looked; before that, there is no end of it.
  void SetFree(Resource resource, std::uint64_t amount);

 private:
  // taken + amount <= percent / (100 - percent) * what is left
  bool Allows(const Account& account, Resource resource, std::uint64_t amount,
              unsigned slack) const;
  std::uint64_t Left(Resource resource) const;

  const ShareOptions options_;
  Account all_;
  std::array<std::atomic<std::uint64_t>, kResources> limits_;  // of all together
  std::mutex mutex_;                                           // guards all below
  absl::flat_hash_map<std::string, std::weak_ptr<Account>> accounts_;
  std::size_t pruned_at_ = 64;  // accounts
};

}  // namespace tidemark::service
