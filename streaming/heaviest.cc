#include "streaming/heaviest.h"
