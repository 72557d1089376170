// Prints the OpenAPI document, from which the types of the page are generated.
#include <cstdio>

#include "web/routes.h"

int main() {
  std::puts(tidemark::web::OpenApiDocument(TIDEMARK_VERSION).c_str());
  return 0;
}
