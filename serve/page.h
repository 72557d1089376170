// The page of a master: its server, its URLs, and its texts, which are the same as the console's.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "serve/config/serve_config.h"
#include "tidemark/job.h"
#include "tidemark/master.h"
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

// Returns the functions that write all texts of the page.
web::PageTexts WebTexts();

}  // namespace tidemark::serve
