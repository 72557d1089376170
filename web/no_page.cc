#include "web/page_files.h"

namespace tidemark::web {

const std::vector<PageFile>& PageFiles() {
  static const auto* const kFiles = new std::vector<PageFile>{
      {.path = "/",
       .content_type = "text/html; charset=utf-8",
       .bytes = "<!doctype html><html lang=\"en\"><title>Tidemark</title><h1>Tidemark</h1>"
                "<p>This program was built without its page, because Node.js and npm were not "
                "installed. Run <code>./dev setup page</code> and build again. "
                "<a href=\"/api/openapi.json\">The API</a> is available.</p></html>",
       .hash = "none"}};
  return *kFiles;
}

}  // namespace tidemark::web
