#include "streaming/smoothed_points.h"
