// The page of `tidemark serve`.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "serve/config/serve_config.h"
#include "tidemark/master.h"
#include "web/web_server.h"

namespace tidemark::cli {

// REQUIRES: web_address is not empty. The master must outlive the server.
absl::StatusOr<std::unique_ptr<web::WebServer>> StartWeb(const ServeConfig& config,
                                                         const Master& master);

// Returns the address at which the server listens: "http://127.0.0.1:7412/".
std::string WebUrl(const ServeConfig& config, const web::WebServer& server);
// Returns the address of the page for its readers, with a slash at its end: that of the settings,
// or WebUrl().
std::string PublicWebUrl(const ServeConfig& config, const web::WebServer& server);

}  // namespace tidemark::cli
