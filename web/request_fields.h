// The words behind the ? of an address as fields of a message. Pure.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace tidemark::web {

// `name` is a field of the .proto file, or the path to one: "page_size", "filter.user". Values are
// written as in the JSON mapping, without quotes: "VIEW_BASIC", "0.5s", "true". A repeated field
// may occur several times. InvalidArgument names the first that is not known or not well written.
absl::Status SetFields(const std::vector<std::pair<std::string, std::string>>& untrusted,
                       google::protobuf::Message& message);

}  // namespace tidemark::web
