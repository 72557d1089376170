// The commands. Each returns an ExitCode.
#pragma once

#include "cli/command_line.h"

namespace tidemark::cli {

int Run(const RunArguments& arguments);
int Serve(const ServeArguments& arguments);
int Doctor(const DoctorArguments& arguments);
int ListJobs(const JobsArguments& arguments);
int Watch(const WatchArguments& arguments);
int Replay(const ReplayArguments& arguments);
int HadoopConf(const HadoopConfArguments& arguments);
int HadoopPoll(const HadoopPollArguments& arguments);
int HadoopRun(const HadoopRunArguments& arguments);
int EstimateWorkflowFile(const WorkflowEstimateArguments& arguments);
int WhatIfWorkflow(const WorkflowWhatIfArguments& arguments);
int SubmitWorkflowFile(const WorkflowSubmitArguments& arguments);
int AttachWorkflowJob(const WorkflowAttachArguments& arguments);
int ProfileNode(const ProfileNodeArguments& arguments);
int RunWorkflow(const WorkflowRunArguments& arguments);
int WatchWorkflow(const WorkflowWatchArguments& arguments);

}  // namespace tidemark::cli
