#include "whatif/spark_repeats.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "master/forecast/durations/repeated_stages.h"

namespace tidemark::cli {

std::vector<PlannedStage> Repeated(std::vector<PlannedStage> stages,
                                   const std::vector<std::uint64_t>& works,
                                   const std::map<std::uint64_t, std::uint32_t>& counts) {
  absl::flat_hash_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < stages.size(); ++i) places[stages[i].name] = i;
  std::vector<gray_box::RanStage> ran;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    gray_box::RanStage& stage = ran.emplace_back(gray_box::RanStage{.work = works[i]});
    for (const std::string& parent : stages[i].after) {
      const auto place = places.find(parent);
      if (place != places.end()) stage.after.push_back(place->second);
    }
  }
  std::vector<PlannedStage> repeated;
  const std::vector<gray_box::RepeatedStage> all = gray_box::Repeated(ran, counts);
  for (const gray_box::RepeatedStage& stage : all) {
    PlannedStage& added = repeated.emplace_back(stages[stage.like]);
    if (stage.turns_later > 0) added.name = fmt::format("{} (+{})", added.name, stage.turns_later);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    repeated[i].after.clear();
    for (const std::size_t parent : all[i].after) {
      repeated[i].after.push_back(repeated[parent].name);
    }
  }
  return repeated;
}

}  // namespace tidemark::cli
