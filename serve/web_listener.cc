#include "serve/web_listener.h"

#include <fmt/format.h>

#include "serve/web_words.h"

namespace tidemark::cli {

absl::StatusOr<std::unique_ptr<web::WebServer>> StartWeb(const ServeConfig& config,
                                                         const Master& master) {
  return web::WebServer::Start({.address = config.web_address,
                                .certificate_file = config.master.tls.certificate_file,
                                .key_file = config.master.tls.key_file,
                                .master = master.InProcessChannel(),
                                .has_tokens = !config.master.tokens_file.empty(),
                                .words_of = &WebWordsOf,
                                .add_task_words = &AddWebTaskWords,
                                .add_explanation_words = &AddWebExplanationWords,
                                .version = TIDEMARK_VERSION});
}

std::string WebUrl(const ServeConfig& config, const web::WebServer& server) {
  const std::string host = config.web_address.substr(0, config.web_address.rfind(':'));
  return fmt::format("{}://{}:{}/", config.master.tls.certificate_file.empty() ? "http" : "https",
                     host, server.port());
}

std::string PublicWebUrl(const ServeConfig& config, const web::WebServer& server) {
  if (config.page_url.empty()) return WebUrl(config, server);
  return config.page_url + (config.page_url.ends_with('/') ? "" : "/");
}

}  // namespace tidemark::cli
