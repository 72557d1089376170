// What runs of a program tell of their data: what each read, and what they show of the data of
// stages for runs that do not show it, how well they are compressed, where one run compressed them
// and another did not, and what a record takes in memory. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "whatif/phases/ran_application.h"
#include "whatif/phases/ran_stage.h"

namespace tidemark::phases {

// Of all stages that read and fetch nothing.
double InputBytes(const RanApplication& run);

// By the name of a stage; all names are there.
std::map<std::string, SeenElsewhere> SeenByStage(const std::vector<RanApplication>& runs);

}  // namespace tidemark::phases
