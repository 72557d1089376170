// The console's words for the page (web/words.h).
#pragma once

#include "tidemark/job.h"
#include "tidemark/v1/explain_service.pb.h"
#include "tidemark/web/v1/web.pb.h"

namespace tidemark::cli {

// REQUIRES: the snapshot is whole. O(stages + children).
web::v1::JobWords WebWordsOf(const Snapshot& snapshot);

// Of the tasks and the key groups of a list.
void AddWebTaskWords(web::v1::TasksAnswer& answer);

// Of what the queries of a job waited for.
void AddWebExplanationWords(const v1::ExplainQuestion& question,
                            web::v1::ExplanationAnswer& answer);

}  // namespace tidemark::cli
