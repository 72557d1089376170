#include "streaming/bursting.h"
