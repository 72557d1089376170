#include "streaming/size_histogram.h"
