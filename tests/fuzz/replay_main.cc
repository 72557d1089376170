// Runs a fuzz target on every file of a corpus and on some changed copies of each file, without a
// fuzzer. Earlier findings can therefore be repeated with every compiler. Deterministic.
//
// usage: NAME CORPUS [CHANGES-OF-EACH]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

void Run(const Bytes& input) { LLVMFuzzerTestOneInput(input.data(), input.size()); }

// Returns the input with flipped, removed, doubled or swapped bytes.
Bytes Changed(Bytes input, const Bytes& other, std::minstd_rand& random) {
  const auto below = [&random](std::size_t n) { return random() % std::max<std::size_t>(n, 1); };
  for (std::size_t changes = 1 + below(4); changes > 0 && !input.empty(); --changes) {
    const auto at = input.begin() + static_cast<std::ptrdiff_t>(below(input.size()));
    switch (below(4)) {
      case 0:
        *at = static_cast<std::uint8_t>(random());
        break;
      case 1:
        input.erase(at, at + static_cast<std::ptrdiff_t>(
                                 below(static_cast<std::size_t>(input.end() - at))));
        break;
      case 2:
        input.insert(at, static_cast<std::uint8_t>(random()));
        break;
      default:
        std::copy_n(other.begin(),
                    std::min(other.size(), static_cast<std::size_t>(input.end() - at)), at);
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int changes = argc > 2 ? std::atoi(argv[2]) : 0;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.push_back(Bytes(std::istreambuf_iterator<char>(file), {}));
  }
  std::minstd_rand random(1);
  Run({});
  for (const Bytes& input : corpus) {
    Run(input);
    for (int i = 0; i < changes; ++i) {
      Run(Changed(input, corpus[random() % corpus.size()], random));
    }
  }
  std::printf("%zu files, %d changes of each\n", corpus.size(), changes);
  return corpus.empty() ? 1 : 0;
}
