#include "streaming/space_saving.h"
