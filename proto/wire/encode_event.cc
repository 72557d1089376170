#include "proto/wire/encode_event.h"
