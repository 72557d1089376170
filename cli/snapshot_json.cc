#include "cli/snapshot_json.h"

#include <google/protobuf/util/json_util.h>

#include "proto/wire/snapshot_codec.h"
#include "tidemark/v1/progress.pb.h"

namespace tidemark::cli {

std::string SnapshotJson(const Snapshot& snapshot) {
  v1::Snapshot message;
  wire::EncodeSnapshot(snapshot, message);
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails for no snapshot: the codec holds times within what JSON can say.
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return "{}";
  return json;
}

}  // namespace tidemark::cli
