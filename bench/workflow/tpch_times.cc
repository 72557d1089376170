#include "bench/workflow/tpch_times.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/workflow/trace.h"
#include "master/forecast/placement/dag.h"

namespace tidemark::bench {
namespace {

using nlohmann::json;

constexpr double kMillisecond = 1e-3;

void AppendTimes(const json& by_executors, const std::string& executors,
                 std::vector<double>& seconds) {
  const auto times = by_executors.find(executors);
  if (times == by_executors.end()) return;
  for (const json& time : *times) seconds.push_back(time.get<double>() * kMillisecond);
}

// Returns an order of the stages in which parents precede their children, as traces require.
absl::StatusOr<std::vector<std::size_t>> OrderOf(const json& query, placement::Parents& parents) {
  parents.resize(query.at("stages").size());
  for (const json& edge : query.at("edges_parent_child")) {
    parents.at(edge.at(1).get<std::size_t>()).push_back(edge.at(0).get<std::size_t>());
  }
  return placement::TopologicalOrder(parents);
}

std::vector<MeasuredStage> StagesAt(const json& query, const std::vector<std::size_t>& order,
                                    const placement::Parents& parents,
                                    const std::string& executors) {
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<MeasuredStage> stages;
  for (const std::size_t index : order) {
    const json& stage = query.at("stages").at(index);
    MeasuredStage measured = {.name = absl::StrCat("stage ", index)};
    for (const std::size_t parent : parents[index]) measured.parents.push_back(place[parent]);
    AppendTimes(stage.at("first_wave"), executors, measured.seconds);
    AppendTimes(stage.at("rest_wave"), executors, measured.seconds);
    stages.push_back(std::move(measured));
  }
  return stages;
}

// Returns the numbers of executors for which every stage was measured.
std::vector<std::string> MeasuredAt(const json& query) {
  std::vector<std::string> executors;
  for (const auto& [count, times] : query.at("stages").at(0).at("first_wave").items()) {
    const bool everywhere =
        std::all_of(query.at("stages").begin(), query.at("stages").end(), [&](const json& stage) {
          return stage.at("first_wave").contains(count) &&
                 !stage.at("first_wave").at(count).empty();
        });
    if (everywhere) executors.push_back(count);
  }
  return executors;
}

absl::StatusOr<MeasuredQuery> ParseQuery(const std::string& line) {
  try {
    const json query = json::parse(line);
    MeasuredQuery measured = {.size = query.at("size").get<std::string>(),
                              .query = query.at("query").get<int>()};
    placement::Parents parents;
    const auto order = OrderOf(query, parents);
    if (!order.ok()) return order.status();
    for (const std::string& executors : MeasuredAt(query)) {
      measured.by_executors[std::stoi(executors)] = StagesAt(query, *order, parents, executors);
    }
    return measured;
  } catch (const std::exception& error) {  // The JSON library and the lookups throw exceptions.
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace

absl::StatusOr<std::vector<MeasuredQuery>> ReadTpchTimes(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadUnpacked(path);
  if (!text.ok()) return text.status();
  std::vector<MeasuredQuery> queries;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    absl::StatusOr<MeasuredQuery> query = ParseQuery(line);
    if (!query.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ", line ", queries.size() + 1, ": ", query.status().message()));
    }
    queries.push_back(*std::move(query));
  }
  return queries;
}

}  // namespace tidemark::bench
