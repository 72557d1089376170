// The address of a job on the page of a master. Pure.
#pragma once

#include <string>

namespace tidemark::cli {

// Returns "https://tidemark.example/#/jobs/ID" for "https://tidemark.example", with or without a
// slash at its end. The result has nothing but printable ASCII if `page_url` has.
std::string JobPageUrl(const std::string& page_url, const std::string& job_id);

}  // namespace tidemark::cli
