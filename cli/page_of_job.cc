#include "cli/page_of_job.h"

#include <string_view>

#include "serve/job_page_url.h"
#include "transport/local_address.h"

namespace tidemark::cli {
std::string PageOfJob(const ServerInfo& server, const std::string& master_address,
                      const std::string& job_id) {
  for (const std::string& feature : server.features) {
    if (!feature.starts_with(kPageFeature)) continue;
    const std::string url = feature.substr(std::string_view(kPageFeature).size());
    // What another master says is shown on a terminal.
    for (const char letter : url) {
      if (letter <= ' ' || letter > '~') return "";
    }
    const std::size_t host = url.find("://");
    if (host == std::string::npos || !url.ends_with('/')) return "";
    const std::string address = url.substr(host + 3, url.size() - host - 4);
    if (transport::IsLocalAddress(address) && !transport::IsLocalAddress(master_address)) return "";
    return JobPageUrl(url, job_id);
  }
  return "";
}

std::string PageOfJob(const Client& master, const std::string& job_id) {
  const absl::StatusOr<ServerInfo> server = master.GetServerInfo();
  return server.ok() ? PageOfJob(*server, master.address(), job_id) : "";
}

}  // namespace tidemark::cli
