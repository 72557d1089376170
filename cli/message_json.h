// Messages as JSON.
#pragma once

#include <google/protobuf/util/json_util.h>

#include <string>

namespace tidemark::cli {

// In the JSON mapping of protobuf, on one line, with the field names of the .proto file and with
// zeros written out. Equal messages give equal bytes.
inline std::string MessageJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails for no message of ours: the codecs hold times within what JSON can say.
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return "{}";
  return json;
}

}  // namespace tidemark::cli
