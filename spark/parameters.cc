#include "spark/parameters.h"

#include <nlohmann/json.hpp>

namespace tidemark::spark {

std::map<std::string, std::string> ParametersIn(const nlohmann::json& properties) {
  std::map<std::string, std::string> parameters;
  if (!properties.is_object()) return parameters;
  for (const auto& [name, value] : properties.items()) {
    if (parameters.size() == kParametersMax) break;
    if (!name.starts_with(kParameterPrefix) || !value.is_string()) continue;
    const std::string own = name.substr(kParameterPrefix.size());
    if (!own.empty()) parameters[own] = value.get<std::string>();
  }
  return parameters;
}

}  // namespace tidemark::spark
