// Plans for tests. Each program reads a file, filters, aggregates and filters again.
#pragma once

#include <string>

#include "whatif/advise/past_plan.h"

namespace tidemark::advise {

// Returns the plan as Spark 3.5 runs it; `first` is the number of its first column. Stage 1 reads
// and partially aggregates for 100 s from `begin`. Stage 2 ends 10 s later. The plan has 1e6
// records of 100 bytes, 1e5 after the filter, and 1000 at the end.
inline PastPlan Condensing(const std::string& application, double begin, int first = 1,
                           const std::string& threshold = "5") {
  const std::string site = "site#" + std::to_string(first);
  const std::string tone = "tone#" + std::to_string(first + 1);
  const std::string mean = "avg(tone)#" + std::to_string(first + 2);
  const std::string id = std::to_string(first);
  return {.application = application,
          .program = "gdelt",
          .execution = "sql/0",
          .line = "count at Gdelt.scala:12",
          .begin = begin,
          .operators =
              {{.name = "WholeStageCodegen (2)", .text = "WholeStageCodegen (2)", .inputs = {1}},
               {.name = "Filter",
                .text = "Filter (" + mean + " > " + threshold + ")",
                .inputs = {2},
                .stages = {2},
                .records = 50},
               {.name = "HashAggregate",
                .text = "HashAggregate(keys=[" + site + "], functions=[avg(" + tone + ")])",
                .inputs = {3},
                .stages = {2},
                .records = 1000},
               {.name = "AQEShuffleRead",
                .text = "AQEShuffleRead coalesced",
                .inputs = {4},
                .stages = {2}},
               {.name = "Exchange",
                .text = "Exchange hashpartitioning(" + site + ", 200), [plan_id=" + id + "]",
                .inputs = {5},
                .stages = {1},
                .records = 2000,
                .bytes = 64000},
               {.name = "HashAggregate",
                .text = "HashAggregate(keys=[" + site + "], functions=[partial_avg(" + tone + ")])",
                .inputs = {6},
                .stages = {1},
                .records = 2000},
               {.name = "Project", .text = "Project [" + site + ", " + tone + "]", .inputs = {7}},
               {.name = "Filter",
                .text = "Filter isnotnull(" + tone + ")",
                .inputs = {8},
                .stages = {1},
                .records = 1e5},
               {.name = "Scan csv ",
                .text = "FileScan csv [" + site + "," + tone + "]",
                .table = "file:/data/events",
                .stages = {1},
                .records = 1e6,
                .bytes = 1e8}},
          .stages = {{1,
                      {.begin = begin,
                       .end = begin + 100,
                       .task_seconds = 200,
                       .shuffle_write_seconds = 4,
                       .read_bytes = 1e8}},
                     {2, {.begin = begin + 100, .end = begin + 110, .task_seconds = 20}}}};
}

}  // namespace tidemark::advise
