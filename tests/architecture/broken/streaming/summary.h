#pragma once
#include <grpcpp/grpcpp.h>
#include <google/protobuf/message.h>
#include <mutex>
#include <string>
#  include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/command.h"
#include "streaming/summary.h"
#include <fstream>
