// Limits the use of common resources by one reporter: slots for running jobs and workflows, the
// disk under the logs, and the memory of the jobs.
//
// A reporter is the account of a job or workflow: the name space of the token that opened it
// (name_space.h) or, if there are no tokens, a host. With a share of 80 %, a reporter gets no more
// once its use exceeds four times the free amount. One greedy reporter leaves a fifth free, and two
// leave a ninth, so there is always space for another reporter. A reporter that uses less is never
// limited (docs/internals/adr/0023).
//
// Thread-safe. Two concurrent calls may both get the last free amount. O(1).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace tidemark::service {

enum class Resource : std::uint8_t { kJobs, kWorkflows, kDiskBytes, kStateBytes };
inline constexpr std::size_t kResources = 4;

// Name of the limit in a rejection (tidemark/limit.h).
inline constexpr char kShareLimit[] = "share_percent";

struct ShareOptions {
  // Largest share of one reporter. 100 means no limit.
  unsigned percent = 80;
  std::size_t jobs_max = std::numeric_limits<std::size_t>::max();  // limit of running jobs
  std::size_t workflows_max = std::numeric_limits<std::size_t>::max();
  std::size_t state_bytes_max = std::numeric_limits<std::size_t>::max();
  // Bytes of disk and of memory that every reporter may use, regardless of free space.
  std::size_t bytes_min = std::size_t{64} << 20;
};

class Shares {
 private:
  struct Account {
    std::array<std::atomic<std::uint64_t>, kResources> taken{};
  };

 public:
  explicit Shares(const ShareOptions& options);

  // The resources of one job or workflow. Destroying the object releases them. Not thread-safe.
  class Holding {
   public:
    Holding() = default;
    Holding(Holding&& other) noexcept { *this = std::move(other); }
    Holding& operator=(Holding&& other) noexcept;
    ~Holding();

    // Takes the whole amount or nothing. Fails with ResourceExhausted, which names the resource.
    // `slack` is the allowed excess over the share, in sixteenths; 16 means no limit.
    absl::Status Reserve(Resource resource, std::uint64_t amount, unsigned slack = 0);
    // Sets the held amount, even beyond the share.
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

  // Returns an empty holding of `reporter`. The shares must outlive it.
  Holding Of(const std::string& reporter);

  // Sets the measured free amount of a resource. Before the first call, the free amount is
  // unlimited.
  void SetFree(Resource resource, std::uint64_t amount);

 private:
  // Returns true if taken + amount <= percent / (100 - percent) * free.
  bool Allows(const Account& account, Resource resource, std::uint64_t amount,
              unsigned slack) const;
  std::uint64_t Left(Resource resource) const;

  const ShareOptions options_;
  Account all_;
  std::array<std::atomic<std::uint64_t>, kResources> limits_;  // limits for all reporters together
  std::mutex mutex_;                                           // Guards all members below.
  absl::flat_hash_map<std::string, std::weak_ptr<Account>> accounts_;
  std::size_t pruned_at_ = 64;  // number of accounts at which unused accounts are removed
};

// Returns the contents of a file, or nullopt if it cannot be read.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

// Returns the smallest memory limit of the cgroups of this process and their parents, or nullopt
// if none is known. Supports versions 1 and 2 below /sys/fs/cgroup. Pure, except for `read`.
// Source: cgroups(7), /proc/[pid]/cgroup.
std::optional<std::uint64_t> CgroupMemoryLimitBytes(const ReadFile& read);

// Returns half of the host's memory, or half of the cgroup limit if that is smaller. Returns the
// largest number if neither is known. Reads files. Thread-safe.
std::size_t HalfOfTheMemoryBytes();

}  // namespace tidemark::service
