#include "bench/service/serve.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tidemark/master.h"

namespace tidemark::bench {

bool WantsToServe(int argc, char** argv) { return argc > 1 && std::string(argv[1]) == "serve"; }

int Serve(int argc, char** argv) {
  MasterOptions options;
  // All agents and readers are on this host.
  options.streams_per_peer_max = std::size_t{1} << 20;
  options.share_percent = 100;
  options.calls_per_second = 0;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--listen") options.listen_address = argv[i + 1];
    if (option == "--data-dir") options.data_dir = argv[i + 1];
  }
  options.on_notice = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  const auto master = Master::Start(options);
  if (!master.ok()) {
    fmt::print(stderr, "{}\n", master.status().ToString());
    return 1;
  }
  fmt::print(stderr, "listening on {}\n", (*master)->address());
  while (true) pause();
}

}  // namespace tidemark::bench
