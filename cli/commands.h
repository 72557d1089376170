// The commands. Each returns an ExitCode.
#pragma once

#include "cli/command_line.h"

namespace tidemark::cli {

int Do(const GetArguments& arguments);
int Do(const WatchArguments& arguments);
int Do(const SubmitArguments& arguments);
int Do(const AttachArguments& arguments);
int Do(const UpdateArguments& arguments);
int Do(const ForgetArguments& arguments);
int Do(const WhatIfArguments& arguments);
int Do(const WhyArguments& arguments);
int Do(const AdviseArguments& arguments);
int Do(const ReplayArguments& arguments);
int Do(const RunArguments& arguments);
int Do(const WorkflowRunArguments& arguments);
int Do(const HadoopRunArguments& arguments);
int Do(const HadoopConfArguments& arguments);
int Do(const HadoopPollArguments& arguments);
int Do(const SparkRunArguments& arguments);
int Do(const SparkConfArguments& arguments);
int Do(const ServeArguments& arguments);
int Do(const DoctorArguments& arguments);
int Do(const ProfileNodeArguments& arguments);
int Do(const CompletionArguments& arguments);

}  // namespace tidemark::cli
