#include "regression/delta_neighbourhood.h"
