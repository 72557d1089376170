// What an application was told to do, by settings that mean nothing to Spark.
//
//   spark.tidemark.param.k=80
//
// Pure.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace tidemark::spark {

// What the names of these settings begin with.
inline constexpr std::string_view kParameterPrefix = "spark.tidemark.param.";
// The first of more, by their names.
inline constexpr std::size_t kParametersMax = 64;

// By name, without the prefix. `properties`: those of Spark, as its event log has them.
std::map<std::string, std::string> ParametersIn(const nlohmann::json& properties);

}  // namespace tidemark::spark
