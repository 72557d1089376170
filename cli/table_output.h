// Tables and lists of JSON on standard output.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/progress.h"
#include "console/job_table.h"

namespace tidemark::cli {

inline bool IsJson(TableFormat format) {
  return format == TableFormat::kJson || format == TableFormat::kJsonl;
}

inline console::TableOptions TableOptionsFor(TableFormat format) {
  return {.width = WidthOf(stdout),
          .text = TextOptionsFor(stdout, Environment::OfProcess()),
          .is_wide = format == TableFormat::kWide};
}

inline int PrintLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (!WriteLine(stdout, line)) return kReaderGone;
  }
  return kSuccess;
}

// JSON values: as one list, or one on each line.
inline int PrintJson(std::vector<std::string> values, TableFormat format) {
  if (format == TableFormat::kJsonl) return PrintLines(values);
  std::string list = "[";
  for (const std::string& value : values) list += (list.size() > 1 ? "," : "") + value;
  return PrintLines({list + "]"});
}

}  // namespace tidemark::cli
