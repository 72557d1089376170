// The reasons for which tasks wait, and a table of their names and properties.
//
// Agents report waits as totals since the start of an attempt (TimeUse of event.h). The answers of
// ExplainService and `tidemark why` attribute them to other queries (explanation.h).
//
// All code that maps, lists or reports wait reasons iterates over this table.
// docs/internals/adding-a-wait-reason.md describes how to add a reason. Plain values; all functions
// are constexpr, pure and thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tidemark {

// The resource for which a task waits, in the order in which a task encounters the waits. Columns
// of tables have the same order. Each value equals that of v1::WaitedResource minus one, so reasons
// may only be appended.
enum class WaitReason : std::uint8_t { kSlots, kProcessor, kMemory, kNetwork, kIo, kScan };

// The names and properties of one reason. All texts are ASCII and never empty.
struct WaitReasonInfo {
  WaitReason reason = WaitReason::kSlots;
  // One word in lower case, used unchanged in options and JSON, and in upper case in table
  // headings. Must not change after a release.
  std::string_view name;
  // Follows the verb "waited" in a sentence, such as "for a slot".
  std::string_view phrase;
  // A noun phrase for a change of the cluster that shortens the wait, such as "more slots".
  std::string_view remedy;
  // True if tasks wait on a particular host. Slots belong to no single host.
  bool is_on_host = true;
  // True if the wait includes the time in which the resource serves the task, such as the time of a
  // fetch or a read. Then only the excess over the undisturbed time of a unit is a delay.
  bool includes_service = false;
};

// The table, indexed by WaitReason, with one row per reason in the order of the enum. proto/wire
// checks the order at compile time.
inline constexpr std::array<WaitReasonInfo, 6> kWaitReasonTable = {{
    // Waits for a slot of the scheduler, before the attempt starts.
    {WaitReason::kSlots, "slots", "for a slot", "more slots", false, false},
    // Time in the kernel's run queue.
    {WaitReason::kProcessor, "processor", "for CPU", "more CPUs", true, false},
    // Garbage collection, spilling and paging.
    {WaitReason::kMemory, "memory", "for garbage collection", "more memory", true, false},
    // Fetches from other hosts, such as the fetches of a shuffle.
    {WaitReason::kNetwork, "network", "for shuffle data", "a faster network", true, true},
    // A disk or a file system.
    {WaitReason::kIo, "io", "for shuffle writes", "faster disks", true, true},
    // Reads of the job's input from storage. Decoding is excluded.
    {WaitReason::kScan, "scan", "for input data", "faster storage", true, true},
}};

inline constexpr std::size_t kWaitReasonCount = kWaitReasonTable.size();

// Returns the row of a reason.
constexpr const WaitReasonInfo& InfoOf(WaitReason reason) {
  return kWaitReasonTable[static_cast<std::size_t>(reason)];
}

// All reasons, in the order of the table.
inline constexpr std::array<WaitReason, kWaitReasonCount> kWaitReasons = [] {
  std::array<WaitReason, kWaitReasonCount> reasons{};
  for (std::size_t i = 0; i < kWaitReasonCount; ++i) reasons[i] = kWaitReasonTable[i].reason;
  return reasons;
}();

// One value for each reason.
//
//   PerWaitReason<double> seconds = {{WaitReason::kIo, 2.5}};
//   seconds[WaitReason::kSlots] = 1;
//
// Reasons that the initializer does not name are value-initialized. Not thread-safe for writes.
template <typename T>
class PerWaitReason {
 public:
  // An element of the initializer. If a reason occurs twice, its last value counts.
  struct Entry {
    WaitReason reason;
    T value;
  };

  constexpr PerWaitReason() = default;
  constexpr PerWaitReason(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) (*this)[entry.reason] = entry.value;
  }

  // O(1). `reason` must be a value of the enum.
  constexpr T& operator[](WaitReason reason) { return values_[static_cast<std::size_t>(reason)]; }
  constexpr const T& operator[](WaitReason reason) const {
    return values_[static_cast<std::size_t>(reason)];
  }
  friend bool operator==(const PerWaitReason&, const PerWaitReason&) = default;

 private:
  std::array<T, kWaitReasonCount> values_{};  // by WaitReason
};

}  // namespace tidemark
