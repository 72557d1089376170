// The task times of a run's stages, as they are stored on the disk.
#pragma once

#include "tidemark/stage_profile.h"
#include "tidemark/storage/v1/event_log.pb.h"

namespace tidemark::store {

// Times are rounded to seven digits. Of a run too large to be kept (CanBeKept()) only the slots are
// written, and only they are read.
void EncodeRunProfile(const RunProfile& run, tidemark::storage::v1::LoggedRunProfile& message);
// What contradicts itself (a parent that does not exist, a time that is none) is left out.
RunProfile DecodeRunProfile(const tidemark::storage::v1::LoggedRunProfile& message);

}  // namespace tidemark::store
