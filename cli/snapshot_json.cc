#include "cli/snapshot_json.h"

#include "cli/message_json.h"
#include "proto/wire/snapshot_codec.h"
#include "tidemark/v1/progress.pb.h"

namespace tidemark::cli {

std::string SnapshotJson(const Snapshot& snapshot) {
  v1::Snapshot message;
  wire::EncodeSnapshot(snapshot, message);
  return MessageJson(message);
}

}  // namespace tidemark::cli
