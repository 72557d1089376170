#include "cli/connector_jar.h"

#include <fmt/format.h>
#include <zip.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_replace.h"
#include "transport/small_file.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

// Why jobs that name these classes would fail with this jar; empty: they would work.
std::string FaultOf(const fs::path& jar, const std::vector<std::string>& classes) {
  int error = 0;
  zip_t* archive = zip_open(jar.c_str(), ZIP_RDONLY, &error);
  if (archive == nullptr) {
    zip_error_t reason;
    zip_error_init_with_code(&reason, error);
    std::string text = fmt::format("not a jar ({})", zip_error_strerror(&reason));
    zip_error_fini(&reason);
    return text;
  }
  std::string fault;
  for (const std::string& name : classes) {
    const std::string entry = absl::StrReplaceAll(name, {{".", "/"}}) + ".class";
    if (fault.empty() && zip_name_locate(archive, entry.c_str(), 0) < 0) {
      fault = fmt::format("not Tidemark's connector: it has no {}", name);
    }
  }
  zip_discard(archive);
  return fault;
}

}  // namespace

std::string InstalledJar(const std::string& module) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return "";
  return (program.parent_path().parent_path() / "share/tidemark/jars" /
          fmt::format("tidemark-{}.jar", module))
      .string();
}

absl::StatusOr<std::string> FindJar(const std::string& given, const std::string& module,
                                    const std::vector<std::string>& classes) {
  const std::string jar = given.empty() ? InstalledJar(module) : given;
  std::error_code missing;
  if (given.empty() && !fs::exists(jar, missing)) {
    return absl::InvalidArgumentError(fmt::format(
        "--jar is missing, and the connector is not installed at {}; build it with `mvn -f "
        "agent/pom.xml -pl {} -am package` and name its tidemark-{}.jar",
        jar, module, module));
  }
  if (const absl::Status readable = transport::CheckRegularFile(jar); !readable.ok()) {
    return absl::InvalidArgumentError(fmt::format("--jar {}", std::string(readable.message())));
  }
  std::error_code error;
  const fs::path path = fs::canonical(jar, error);
  if (error) return absl::InvalidArgumentError(fmt::format("--jar {}: {}", jar, error.message()));
  if (const std::string fault = FaultOf(path, classes); !fault.empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "--jar {}: {}; build the connector with `mvn -f agent/pom.xml -pl {} -am package` "
        "and name its tidemark-{}.jar",
        jar, fault, module, module));
  }
  return path.string();
}

}  // namespace tidemark::cli
