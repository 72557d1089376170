#include "regression/nearest_fit.h"
