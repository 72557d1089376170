// All settings of `tidemark serve`, in the order of the documentation.
#pragma once

#include <vector>

#include "serve/config/setting.h"

namespace tidemark::cli {

const std::vector<Setting>& AllSettings();

// Null if there is none of that name.
const Setting* FindSetting(const std::string& key);

}  // namespace tidemark::cli
