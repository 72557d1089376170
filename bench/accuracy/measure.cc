#include "bench/accuracy/measure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/accuracy/group_timer.h"
#include "bench/accuracy/thread_clock.h"
#include "examples/local_mapreduce/file_io.h"
#include "examples/local_mapreduce/spill_file.h"
#include "streaming/key_sample.h"

namespace tidemark::bench {
namespace {

using examples::Job;

// Cheaper groups are rarely observed while half done, and more curves take memory.
constexpr double kCurveShare = 1.0 / 5000;
constexpr std::size_t kCurvesMax = 2000;

// The partitions for one number of reduce tasks, unless the hash determines them.
class Partitions {
 public:
  Partitions(std::unique_ptr<Job> job, std::uint32_t count) : job_(std::move(job)), count_(count) {}

  void Add(std::string_view key, const std::vector<GroupCost>& before) {
    const std::uint32_t partition = job_->Partition(key);
    if (!is_own_) {
      if (partition == OfHash(streaming::HashKey(key))) return;
      is_own_ = true;
      for (const GroupCost& group : before) partitions_.push_back(OfHash(group.key));
    }
    partitions_.push_back(static_cast<std::uint16_t>(partition));
  }
  bool is_own() const { return is_own_; }
  std::uint32_t count() const { return count_; }
  std::vector<std::uint16_t> Take() { return std::move(partitions_); }

 private:
  // Returns the partition that the engine's partitioner would choose with the same hash.
  std::uint16_t OfHash(KeyHash key) const {
    return static_cast<std::uint16_t>(static_cast<std::uint64_t>(key) % count_);
  }

  std::unique_ptr<Job> job_;
  std::uint32_t count_;
  bool is_own_ = false;
  std::vector<std::uint16_t> partitions_;
};

constexpr std::size_t kPassesMin = 3;
// A job of a few milliseconds is scaled by the largest factor, which also scales the disturbances
// of its key groups.
constexpr std::size_t kPassesMax = 9;
constexpr double kShortSeconds = 15;

// Returns the best times. A disturbance can only slow a key group down, and rarely does so in half
// of all passes. Sorts `seconds`.
std::array<float, kTimes> BestTimes(std::vector<float>& seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds[0], seconds[1], seconds[std::min<std::size_t>(2, seconds.size() / 2)]};
}

class Measurement {
 public:
  explicit Measurement(examples::JobPlan plan) : plan_(std::move(plan)) {}

  absl::StatusOr<CostLog> Run() {
    for (const std::uint32_t count : kPartitionCounts) {
      absl::StatusOr<std::unique_ptr<Job>> job = MakeWorkerJob(plan_, count);
      if (!job.ok()) return job.status();
      partitions_.emplace_back(*std::move(job), count);
    }
    for (const examples::Split& split : plan_.splits) {
      log_.map_tasks.push_back(
          {.input_name = plan_.inputs[split.input].name, .input_bytes = split.size_bytes()});
    }
    absl::StatusOr<std::unique_ptr<Job>> job = MakeWorkerJob(plan_, 1);
    if (!job.ok()) return job.status();
    GroupTimer timer(**job);
    Pace pace(timer);
    const double began = ThreadSeconds();
    const auto is_short = [began] { return ThreadSeconds() - began < kShortSeconds; };
    while (seconds_.size() < kPassesMin || (seconds_.size() < kPassesMax && is_short())) {
      if (absl::Status timed = TimeGroups(timer, pace); !timed.ok()) return timed;
    }
    fmt::print(stderr, "  the machine was up to {:.2f} times slower than at its fastest\n",
               pace.Correct(seconds_));
    KeepBestTimes();
    for (Partitions& partitions : partitions_) {
      if (partitions.is_own()) log_.partitions[partitions.count()] = partitions.Take();
    }
    KeepHeaviestCurves();
    return std::move(log_);
  }

 private:
  // Runs one more pass.
  absl::Status TimeGroups(GroupTimer& timer, Pace& pace) {
    const std::size_t pass = seconds_.size();
    std::vector<float>& seconds = seconds_.emplace_back();
    seconds.reserve(log_.groups.size());
    absl::StatusOr<GroupMerge> merge = OpenMapOutputs();
    if (!merge.ok()) return merge.status();
    GroupRecords group;
    for (std::uint32_t index = 0; merge->Next(group); ++index) {
      absl::Status status = pass == 0 ? AddGroup(group, merge->parts()) : absl::OkStatus();
      if (status.ok()) status = pace.Note(pass, index);
      if (!status.ok()) return status;
      GroupCost& cost = log_.groups[index];
      const bool is_drawn = pass == 1 && seconds_[0][index] >= total_seconds_ * kCurveShare;
      absl::StatusOr<GroupTimer::Times> times =
          is_drawn ? timer.TimeAndDraw(group, cost.emitted_bytes) : timer.Time(group);
      if (!times.ok()) return times.status();
      if (pass == 0) {
        pace.Offer(group, times->seconds);
        total_seconds_ += times->seconds;
      }
      seconds.push_back(static_cast<float>(times->seconds));
      cost.emitted_bytes = times->emitted_bytes;
      if (is_drawn) log_.curves[index] = std::move(times->curve);
    }
    return merge->status();
  }

  absl::StatusOr<GroupMerge> OpenMapOutputs() const {
    std::vector<examples::SegmentReader> readers;
    for (std::uint32_t i = 0; i < plan_.splits.size(); ++i) {
      const auto map = examples::ReadResult(plan_.map_result(i));
      if (!map.ok()) return map.status();
      auto file = examples::InputFileHandle::Open(plan_.map_output(i));
      if (!file.ok()) return file.status();
      const examples::Segment& segment = map->segments.front();
      readers.emplace_back(std::make_shared<const examples::InputFileHandle>(*std::move(file)),
                           segment.offset, segment.size_bytes);
    }
    return GroupMerge(std::move(readers));
  }

  absl::Status AddGroup(const GroupRecords& records, const std::vector<GroupMerge::Part>& parts) {
    if (absl::Status added = AddShares(parts); !added.ok()) return added;
    for (Partitions& partitions : partitions_) partitions.Add(records.group_key(), log_.groups);
    GroupCost& group = log_.groups.emplace_back();
    group.key = streaming::HashKey(records.group_key());
    group.size_bytes = records.size_bytes();
    group.values = static_cast<std::uint32_t>(records.count());
    return absl::OkStatus();
  }

  absl::Status AddShares(const std::vector<GroupMerge::Part>& parts) {
    constexpr std::size_t kMax = std::numeric_limits<std::uint32_t>::max();
    if (log_.groups.size() >= kMax) return absl::ResourceExhaustedError("too many key groups");
    const auto index = static_cast<std::uint32_t>(log_.groups.size());
    for (const GroupMerge::Part& part : parts) {
      if (part.size_bytes > kMax) {
        return absl::ResourceExhaustedError("a map task emits more than 4 GiB for one key");
      }
      log_.map_tasks[part.map_task].shares.push_back(
          {index, static_cast<std::uint32_t>(part.size_bytes)});
    }
    return absl::OkStatus();
  }

  void KeepBestTimes() {
    std::vector<float> seconds(seconds_.size());
    for (std::size_t group = 0; group < log_.groups.size(); ++group) {
      for (std::size_t pass = 0; pass < seconds_.size(); ++pass) {
        seconds[pass] = seconds_[pass][group];
      }
      log_.groups[group].seconds = BestTimes(seconds);
    }
  }

  void KeepHeaviestCurves() {
    if (log_.curves.size() <= kCurvesMax) return;
    std::vector<double> seconds;
    for (const auto& [group, curve] : log_.curves) {
      seconds.push_back(log_.groups[group].mean_seconds());
    }
    const auto last = seconds.begin() + kCurvesMax;
    std::nth_element(seconds.begin(), last, seconds.end(), std::greater<>());
    std::erase_if(log_.curves, [&](const auto& curve) {
      return log_.groups[curve.first].mean_seconds() < *last;
    });
  }

  const examples::JobPlan plan_;
  std::vector<Partitions> partitions_;
  std::vector<std::vector<float>> seconds_;  // measured times by pass and group
  double total_seconds_ = 0;                 // total of the first pass
  CostLog log_;
};

absl::StatusOr<CostLog> MapAndTime(const JobInputs& inputs, const std::string& directory) {
  absl::StatusOr<examples::JobPlan> mapped = RunMapTasks(inputs, directory);
  if (!mapped.ok()) return mapped.status();
  return Measurement(*std::move(mapped)).Run();
}

// Holds a lock during measurements, so that two processes do not disturb each other or measure the
// same log.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ >= 0) ::flock(fd_, LOCK_EX);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() {
    if (fd_ >= 0) ::close(fd_);
  }

 private:
  int fd_;
};

bool IsMeasured(const std::string& identity, const std::string& path) {
  const absl::StatusOr<std::string> known = ReadCostLogIdentity(path);
  return known.ok() && *known == identity;
}

absl::Status MeasureInto(const JobInputs& inputs, const std::string& path) {
  const auto before = std::chrono::steady_clock::now();
  fmt::print(stderr, "measuring {} ...\n", std::filesystem::path(path).stem().string());
  absl::StatusOr<CostLog> log = MeasureJob(inputs, path + ".work");
  if (!log.ok()) return log.status();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - before;
  fmt::print(stderr, "  {} key groups of {:.3g} s in all, {} with curves; took {:.1f} s\n",
             log->groups.size(), log->total_seconds(), log->curves.size(), elapsed.count());
  return SaveCostLog(*log, path);
}

}  // namespace

absl::StatusOr<CostLog> MeasureJob(const JobInputs& inputs, const std::string& directory) {
  absl::StatusOr<std::string> identity = IdentityOf(inputs);
  if (!identity.ok()) return identity.status();
  absl::StatusOr<CostLog> log = MapAndTime(inputs, directory);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  if (log.ok()) log->identity = *std::move(identity);
  return log;
}

absl::Status EnsureMeasured(const JobInputs& inputs, const std::string& path, bool remeasure) {
  absl::StatusOr<std::string> identity = IdentityOf(inputs);
  if (!identity.ok()) return identity.status();
  if (!remeasure && IsMeasured(*identity, path)) return absl::OkStatus();
  const FileLock lock(std::filesystem::path(path).replace_filename("measuring.lock"));
  if (!remeasure && IsMeasured(*identity, path)) return absl::OkStatus();
  return MeasureInto(inputs, path);
}

}  // namespace tidemark::bench
