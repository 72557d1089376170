// The console's words for the page (web/words.h).
#pragma once

#include "tidemark/job.h"
#include "tidemark/web/v1/web.pb.h"

namespace tidemark::cli {

// REQUIRES: the snapshot is whole. O(stages + children).
web::v1::JobWords WebWordsOf(const Snapshot& snapshot);

}  // namespace tidemark::cli
