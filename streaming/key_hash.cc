#include "streaming/key_hash.h"
