#pragma once
#include <grpcpp/grpcpp.h>
#include <thread>
#include "streaming/summary.h"
#include <chrono>
