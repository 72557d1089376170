// Mappings of a YAML file whose fields are all asked for, with words for those that are wrong.
#pragma once

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "text/did_you_mean.h"

namespace tidemark::cli {

// InvalidArgument: "WHERE: WHAT".
inline absl::Status Wrong(const std::string& where, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

// One mapping of the file: hands out its fields and objects to those that nobody asked for.
class Fields {
 public:
  static absl::StatusOr<Fields> Of(const YAML::Node& node, std::string where) {
    if (!node.IsMap()) return Wrong(where, "must be a mapping of fields to values");
    return Fields(node, std::move(where));
  }

  bool Has(const char* name) const { return static_cast<bool>(node_[name]); }
  const std::string& where() const { return where_; }

  YAML::Node Get(const char* name) {
    known_.emplace_back(name);
    return node_[name];
  }

  // A number of at least `least`, and at most `most`.
  double Number(const char* name, double otherwise, double least = 0, double most = 1e18) {
    const YAML::Node node = Get(name);
    if (!node) return otherwise;
    double value = NAN;
    if (!YAML::convert<double>::decode(node, value) || !std::isfinite(value)) {
      Fail(absl::StrCat(name, " must be a finite number"));
      return otherwise;
    }
    if (value < least || value > most) {
      Fail(most < 1e18
               ? fmt::format("{} must be from {:.12g} to {:.12g}, not {:.12g}", name, least, most,
                             value)
               : fmt::format("{} must be at least {:.12g}, not {:.12g}", name, least, value));
      return otherwise;
    }
    return value;
  }

  std::string Text(const char* name, const std::string& otherwise) {
    const YAML::Node node = Get(name);
    if (!node) return otherwise;
    if (node.IsScalar()) return node.Scalar();
    Fail(absl::StrCat(name, " must be text"));
    return otherwise;
  }

  void Fail(const std::string& what) {
    if (status_.ok()) status_ = Wrong(where_, what);
  }

  // What was wrong first; fields nobody asked for last.
  absl::Status Done() {
    if (!status_.ok()) return status_;
    for (const auto& field : node_) {
      const std::string name = field.first.IsScalar() ? field.first.Scalar() : "(a list)";
      if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
        return Wrong(where_, absl::StrCat("unknown field ", name, text::DidYouMean(name, known_)));
      }
    }
    return absl::OkStatus();
  }

 private:
  Fields(YAML::Node node, std::string where) : node_(std::move(node)), where_(std::move(where)) {}

  YAML::Node node_;
  std::string where_;
  std::vector<std::string> known_;
  absl::Status status_;
};

// Names with a number each, such as the shares of queues.
inline absl::StatusOr<std::vector<std::pair<std::string, double>>> ReadShares(
    const YAML::Node& node, const std::string& where) {
  std::vector<std::pair<std::string, double>> shares;
  const absl::Status wrong = Wrong(where, "must be a mapping of names to numbers above 0");
  if (!node.IsMap()) return wrong;
  for (const auto& entry : node) {
    double share = 0;
    const bool is_share = entry.first.IsScalar() &&
                          YAML::convert<double>::decode(entry.second, share) &&
                          std::isfinite(share) && share > 0;
    if (!is_share) return wrong;
    shares.emplace_back(entry.first.Scalar(), share);
  }
  return shares;
}

}  // namespace tidemark::cli
