// Writes the results of a benchmark.
#pragma once

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace tidemark::bench {

// Writes the report to standard output and, if `path` is not empty, to that file. Returns false if
// the file cannot be written.
template <typename Json>
bool WriteJson(const Json& report, const std::string& path) {
  std::cout << report.dump(2) << std::endl;
  if (path.empty()) return true;
  std::ofstream file(path);
  file << report.dump(2) << "\n";
  file.close();
  if (!file) std::cerr << "cannot write " << path << "\n";
  return !file.fail();
}

}  // namespace tidemark::bench
