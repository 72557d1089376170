// Where a job can be looked at in a browser.
#pragma once

#include <string>

#include "tidemark/client.h"

namespace tidemark::cli {

// How a master with a page says so among its features.
inline constexpr const char* kPageFeature = "page=";

// "http://127.0.0.1:7412/#/jobs/my-job" by what the master says of itself; empty: it has no page,
// or one that this host does not reach.
std::string PageOfJob(const ServerInfo& server, const std::string& master_address,
                      const std::string& job_id);

// The same, asked of the master; empty, too, if it does not answer.
std::string PageOfJob(const Client& master, const std::string& job_id);

}  // namespace tidemark::cli
