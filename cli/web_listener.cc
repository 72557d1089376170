#include "cli/web_listener.h"

#include <fmt/format.h>

#include "cli/web_words.h"
#include "transport/local_address.h"

namespace tidemark::cli {

absl::Status CheckWebAddress(const ServeConfig& config) {
  const MasterOptions& master = config.master;
  if (config.web_address.empty() || master.allow_insecure_remote) return absl::OkStatus();
  const auto refuse = [&](const char* reason) {
    return absl::InvalidArgumentError(fmt::format("web.listen {}: {}", config.web_address, reason));
  };
  if (config.web_address.starts_with("unix")) return refuse("must be host:port");
  if (!master.tls.client_ca_file.empty()) {
    return refuse(
        "the page cannot ask browsers for the certificates that tls.client_ca demands; "
        "leave out one of them");
  }
  const bool has_tokens = !master.tokens_file.empty();
  if (master.listen_address.starts_with("unix") && !has_tokens) {
    return refuse(
        "every user of this host could read what is now for those who may open the unix "
        "socket; set tokens");
  }
  if (transport::IsLocalAddress(config.web_address)) return absl::OkStatus();
  if (master.tls.certificate_file.empty() || !has_tokens) {
    return refuse(
        "other hosts reach it; set tls.certificate and tokens, use a loopback address, or "
        "pass --allow-insecure-remote");
  }
  return absl::OkStatus();
}

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
                     host.empty() ? "127.0.0.1" : host, server.port());
}

}  // namespace tidemark::cli
