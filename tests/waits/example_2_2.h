// Example 2.2 of [PX] with the DAG in its Figure 1. The example has no numbers. Those used here are
// from docs/internals/waits.md.
#pragma once

#include <vector>

#include "tests/waits/some_pieces.h"

namespace tidemark::waits {

inline constexpr Query kQ0{0}, kQ1{1}, kQ2{2};
inline constexpr Stage kS0{0}, kS1{1}, kS2{2}, kS3{3}, kS4{4}, kS5{5};  // stages of Q0
inline constexpr Stage kR3{6};                                          // stages of Q1
inline constexpr Stage kU5{7}, kU7{8}, kU9{9};                          // stages of Q2
inline constexpr Host kX{0}, kY{1}, kZ{2};

// s3 starts after s0, s1 and s2; s4 starts after s3, and s5 after s4.
inline std::vector<QueryStage> ExampleStages() {
  return {{.query = kQ0},
          {.query = kQ0},
          {.query = kQ0},
          {.query = kQ0, .parents = {kS0, kS1, kS2}},
          {.query = kQ0, .parents = {kS3}},
          {.query = kQ0, .parents = {kS4}},
          {.query = kQ1},
          {.query = kQ2},
          {.query = kQ2},
          {.query = kQ2}};
}

// s1 waits for memory on X, first while r3 runs and then while u5 runs. s5 waits for its disk on Y
// while u5, u7 and u9 run. The other task of s5 reads alone on X. s3 and s4 run alone.
inline std::vector<Piece> ExamplePieces() {
  constexpr WaitReason kMemory = WaitReason::kMemory;
  constexpr WaitReason kIo = WaitReason::kIo;
  return {Task(kS0, kZ, 0, 60).Computed(60),
          Task(kS2, kZ, 60, 90).Computed(30),
          Task(kS1, kX, 0, 100).Computed(40).Waited(kMemory, 60, 30),
          Task(kR3, kX, 0, 50).Computed(40).Waited(kMemory, 10, 20),
          Task(kU5, kX, 50, 100).Computed(25).Waited(kMemory, 25, 25),
          Task(kS3, kX, 100, 120).Computed(20),
          Task(kS4, kX, 120, 140).Computed(20),
          Task(kS5, kX, 140, 150).Computed(5).Waited(kIo, 5, 50),
          Task(kS5, kY, 140, 200).Computed(15).Waited(kIo, 30, 60),
          Task(kU5, kY, 140, 200).Computed(48).Waited(kIo, 12, 120),
          Task(kU7, kY, 140, 170).Computed(15).Waited(kIo, 15, 30),
          Task(kU9, kY, 170, 200).Computed(0).Waited(kIo, 30, 30)};
}

inline Target CriticalTarget() { return {.query = kQ0, .stages = {kS1, kS3, kS4, kS5}}; }

}  // namespace tidemark::waits
