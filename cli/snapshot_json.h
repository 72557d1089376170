// Snapshots as JSON.
#pragma once

#include <string>

#include "tidemark/snapshot.h"

namespace tidemark::cli {

// tidemark.v1.Snapshot in the JSON mapping of protobuf, on one line, with the field names of the
// .proto file and with zeros written out. Equal snapshots give equal bytes.
std::string SnapshotJson(const Snapshot& snapshot);

}  // namespace tidemark::cli
