// The files of the page, which are compiled into the program.
#pragma once

#include <string_view>
#include <vector>

namespace tidemark::web {

struct PageFile {
  std::string_view path;  // "/app.js"
  std::string_view content_type;
  std::string_view bytes;  // compressed with gzip if `is_gzip`
  std::string_view hash;   // hash of `bytes`, for caches
  bool is_gzip = false;
};

// Returns the files, including one for "/". If the page was not built, the file for "/" states the
// reason.
const std::vector<PageFile>& PageFiles();

}  // namespace tidemark::web
