// Writes what a benchmark found where its reader wants it.
#pragma once

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace tidemark::bench {

// To standard output and, if `path` is not empty, to that file. False if it cannot be written.
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
