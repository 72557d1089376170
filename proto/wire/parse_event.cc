#include "proto/wire/parse_event.h"
