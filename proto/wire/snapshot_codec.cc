#include "proto/wire/snapshot_codec.h"
