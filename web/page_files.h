// The page, compiled into the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::web {

struct PageFile {
  std::string_view path;  // "/app.js"
  std::string_view content_type;
  std::string_view bytes;  // compressed with gzip if `is_gzip`
  std::string_view hash;   // of the bytes, for the cache of the browser
  bool is_gzip = false;
};

// With one for "/". Without Node at build time that one says why there is no page.
const std::vector<PageFile>& PageFiles();

}  // namespace tidemark::web
