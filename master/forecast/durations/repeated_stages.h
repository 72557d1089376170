// The stages of a program that repeats some of them more or less often than in the run that is
// known ([GB] 4.1: iterations are stages of PageRank, jobs of K-Means). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace tidemark::gray_box {

// Where there would be more stages, or where those that are added wait for more, all stay as they
// are.
inline constexpr std::size_t kRepeatedStagesMax = 10'000;
inline constexpr std::size_t kAddedEdgesMax = 100'000;

// A stage that did something in the run that is known.
struct RanStage {
  std::uint64_t work = 0;          // equal for those that did the same; 0: not known
  std::vector<std::size_t> after;  // indexes of stages that it waited for
};

struct RepeatedStage {
  std::size_t like = 0;            // the index of the stage that it is, or that it does the same as
  std::size_t turns_later = 0;     // 0: it is that very stage
  std::vector<std::size_t> after;  // indexes of the result
};

// `ran`: in the order in which they ran. `counts`: how often stages of each work are to be there;
// those of works that are not in it, that no stage did, or of work 0 stay. What is added does what
// the last of its work did and waits for the stages that follow those that this one waited for;
// what waited for the last of a work waits for the new last one. At least one of each work remains.
// The first are those that ran, in their order, then come the added ones. O(stages + edges).
std::vector<RepeatedStage> Repeated(const std::vector<RanStage>& ran,
                                    const std::map<std::uint64_t, std::uint32_t>& counts);

}  // namespace tidemark::gray_box
