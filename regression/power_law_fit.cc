#include "regression/power_law_fit.h"
