// The page of a master: its server, its URLs, and its texts, which are the same as the console's.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "serve/config/serve_config.h"
#include "tidemark/job.h"
#include "tidemark/master.h"
#include "tidemark/v1/explain_service.pb.h"
#include "tidemark/web/v1/web.pb.h"
#include "web/web_server.h"

namespace tidemark::serve {

// Starts the page. REQUIRES: web_address is not empty. The master must outlive the server.
absl::StatusOr<std::unique_ptr<web::WebServer>> StartWeb(const ServeConfig& config,
                                                         const Master& master);

// Returns the URL at which the server listens, such as "http://127.0.0.1:7412/". If it listens on
// all addresses of this host, the URL contains the host name, or 127.0.0.1 if that name has no
// address.
std::string WebUrl(const ServeConfig& config, const web::WebServer& server);
// Returns the URL at which readers reach the page, with a trailing slash: web.public_url, or
// WebUrl().
std::string PublicWebUrl(const ServeConfig& config, const web::WebServer& server);

// Returns "https://tidemark.example/#/jobs/ID" for "https://tidemark.example", with or without a
// trailing slash. The result is printable ASCII if `page_url` is. Pure.
std::string JobPageUrl(const std::string& page_url, const std::string& job_id);

// Returns the words of a job. REQUIRES: the snapshot is whole. O(stages + children).
web::v1::JobWords WebWordsOf(const Snapshot& snapshot);

// Adds the words of the tasks and key groups of a list.
void AddWebTaskWords(web::v1::TasksAnswer& answer);

// Adds the text of an explanation, which names the resources for which the queries of a job waited.
void AddWebExplanationWords(const v1::ExplainQuestion& question,
                            web::v1::ExplanationAnswer& answer);

// Adds the text of the contention of all jobs.
void AddWebContentionWords(web::v1::ContentionAnswer& answer);

// Returns the console's paragraph about the costs of an ended job.
std::string WebSummaryOf(const Snapshot& ended, const absl::StatusOr<v1::Explanation>& waits);

// Compares a job with a past run, in the console's words.
web::v1::ComparisonAnswer WebComparisonOf(const Snapshot& before, const Snapshot& after);

}  // namespace tidemark::serve
