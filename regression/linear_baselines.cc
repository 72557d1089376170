#include "regression/linear_baselines.h"
