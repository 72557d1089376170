// The work of a task in units that each have a cost: bytes moved, records handled.
//
// All equations of [SPM] are sums of such amounts times their costs. Hence a phase is a Work, its
// time is Seconds(work, costs), and learning the costs from measured times is a linear problem.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tidemark::phases {

// [SPM] Table 4, with its names in brackets. No equation uses csSpillCPUCost.
enum class Cost : std::uint8_t {
  kInputRead,     // a byte from the file system of the input [csHdfsReadCost]
  kOutputWrite,   // a byte to the file system of the output [csHdfsWriteCost]
  kLocalRead,     // a byte from a local disk [csLocalIOReadCost]
  kLocalWrite,    // a byte to a local disk [csLocalIOWriteCost]
  kNetwork,       // a byte from another executor or to the driver [csNetworkCost]
  kCompute,       // a record through the stage's own functions [csComputeCPUCost]
  kCombine,       // a record into the map of a combiner [csSpillCombCPUCost]
  kMergeCombine,  // a record of merged spills [csMergeCombCPUCost]
  kPartition,     // a record to its partition [csPartitionCPUCost]
  kSort,          // a comparison: n records need n log2 n [csSortCPUCost]
  kCompress,      // a byte before its compression [csIntermComCPUCost]
  kUncompress,    // a compressed byte [csIntermUncomCPUCost]
  kSerialize,     // a byte serialized or deserialized [csSerdeBytesCPUCost, csSerializeCPUCost]
  kSetup,         // the start of a task [csSetupCPUCost]
  kCleanup,       // the end of a task [csCleanupCPUCost]
};
inline constexpr std::size_t kCosts = 15;

inline constexpr std::size_t Index(Cost cost) { return static_cast<std::size_t>(cost); }

// Units by cost.
struct Work {
  std::array<double, kCosts> units{};

  double& operator[](Cost cost) { return units[Index(cost)]; }
  double operator[](Cost cost) const { return units[Index(cost)]; }
  Work& operator+=(const Work& other);
  friend Work operator+(Work a, const Work& b) { return a += b; }
  friend Work operator*(double times, Work work);
  friend bool operator==(const Work&, const Work&) = default;
};

// Seconds per unit, by cost [the cost statistics].
struct CostStatistics {
  std::array<double, kCosts> seconds{};

  double& operator[](Cost cost) { return seconds[Index(cost)]; }
  double operator[](Cost cost) const { return seconds[Index(cost)]; }
  friend bool operator==(const CostStatistics&, const CostStatistics&) = default;
};

double Seconds(const Work& work, const CostStatistics& costs);

// Returns true if the cost is processor time of the task; other costs are waits.
bool IsOfProcessor(Cost cost);

// Returns a name for messages, such as "sort" or "network".
const char* NameOf(Cost cost);

}  // namespace tidemark::phases
