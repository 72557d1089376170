// Made by types.mjs from the OpenAPI document; a test compares. In an answer all numbers, texts and lists are present.

export interface Problem {
  code?: string;
  message?: string;
}

export interface JobListAnswer {
  list?: ListJobsResponse;
  words?: Record<string, JobWords>;
}

export interface ListJobsResponse {
  snapshots?: Array<Snapshot>;
  next_page_token?: string;
}

export interface Snapshot {
  job_id?: string;
  run_uid?: string;
  sequence?: string;
  base_sequence?: string;
  at?: string;
  state?: "JOB_STATE_UNSPECIFIED" | "JOB_STATE_QUEUED" | "JOB_STATE_RUNNING" | "JOB_STATE_SUCCEEDED" | "JOB_STATE_FAILED" | "JOB_STATE_KILLED" | "JOB_STATE_ABANDONED" | "JOB_STATE_UNKNOWN_END";
  final?: boolean;
  message?: string;
  info?: JobInfo;
  started_at?: string;
  ended_at?: string;
  estimate?: Estimate;
  counts?: Counts;
  silent_since?: string;
  notes?: Array<string>;
  deadline_at?: string;
  late_probability?: number;
  stage_infos?: Array<StageInfo>;
  stages?: Array<StageProgress>;
  children?: Array<Child>;
  removed_stages?: Array<StageId>;
  groups?: Array<Group>;
  named_tasks?: Array<NamedTask>;
  indicators?: Array<Indicator>;
  coverage?: Coverage;
  errors?: Array<IndicatorError>;
}

export interface JobInfo {
  name?: string;
  kind?: "JOB_KIND_UNSPECIFIED" | "JOB_KIND_MAPREDUCE" | "JOB_KIND_APPLICATION" | "JOB_KIND_WORKFLOW";
  engine?: string;
  application_id?: string;
  user?: string;
  queue?: string;
  workflow_id?: string;
}

export interface Estimate {
  state?: "ESTIMATE_STATE_UNSPECIFIED" | "ESTIMATE_STATE_WARMING_UP" | "ESTIMATE_STATE_VALID" | "ESTIMATE_STATE_OVERDUE" | "ESTIMATE_STATE_FINAL";
  fraction_done?: number;
  fraction_done_lower?: number;
  fraction_done_upper?: number;
  remaining?: Range;
  basis?: "BASIS_UNSPECIFIED" | "BASIS_GUESS" | "BASIS_EARLIER_RUNS" | "BASIS_THIS_RUN" | "BASIS_DONE";
  known_share?: number;
  indicator?: string;
}

export interface Range {
  median?: string;
  lower?: string;
  upper?: string;
}

export interface Counts {
  stage_count?: number;
  finished_stage_count?: number;
  task_count?: string;
  running_task_count?: string;
  finished_task_count?: string;
  failed_attempt_count?: string;
  child_count?: number;
  finished_child_count?: number;
}

export interface StageInfo {
  id?: StageId;
  attempt?: number;
  name?: string;
  kind?: "STAGE_KIND_UNSPECIFIED" | "STAGE_KIND_MAP" | "STAGE_KIND_REDUCE" | "STAGE_KIND_GENERIC";
  parents?: Array<number>;
  group?: string;
  pool?: string;
}

export interface StageId {
  child?: number;
  stage?: number;
}

export interface StageProgress {
  id?: StageId;
  state?: "STAGE_STATE_UNSPECIFIED" | "STAGE_STATE_PENDING" | "STAGE_STATE_RUNNING" | "STAGE_STATE_DONE" | "STAGE_STATE_SKIPPED" | "STAGE_STATE_EXPECTED" | "STAGE_STATE_FAILED" | "STAGE_STATE_UNKNOWN_END";
  fraction_done?: number;
  task_count?: string;
  running_task_count?: string;
  finished_task_count?: string;
  failed_attempt_count?: string;
  started_at?: string;
  ended_at?: string;
  starts_in?: Range;
  ends_in?: Range;
  task_time?: string;
  bottleneck?: string;
  is_critical?: boolean;
  shuffle?: ShuffleProgress;
  failure?: string;
}

export interface ShuffleProgress {
  fraction_done?: number;
  running_task_count?: string;
  finished_task_count?: string;
}

export interface Child {
  number?: number;
  name?: string;
  job_id?: string;
  state?: "CHILD_STATE_UNSPECIFIED" | "CHILD_STATE_PENDING" | "CHILD_STATE_AWAITED" | "CHILD_STATE_RUNNING" | "CHILD_STATE_SUCCEEDED" | "CHILD_STATE_RETRYABLE" | "CHILD_STATE_FAILED" | "CHILD_STATE_CANCELLED";
  estimate?: Estimate;
  started_at?: string;
  ended_at?: string;
  starts_in?: Range;
  is_critical?: boolean;
  failed_attempt_count?: number;
  message?: string;
  after?: Array<number>;
}

export interface Group {
  group?: string;
  name?: string;
  state?: "JOB_STATE_UNSPECIFIED" | "JOB_STATE_QUEUED" | "JOB_STATE_RUNNING" | "JOB_STATE_SUCCEEDED" | "JOB_STATE_FAILED" | "JOB_STATE_KILLED" | "JOB_STATE_ABANDONED" | "JOB_STATE_UNKNOWN_END";
  message?: string;
  fraction_done?: number;
  started_at?: string;
  ended_at?: string;
  ends_in?: Range;
}

export interface NamedTask {
  attempt?: TaskAttemptId;
  child?: number;
  host?: string;
  remaining?: Range;
  explicit_groups_left?: string;
  heaviest_group_bytes?: string;
  heaviest_group_share?: number;
  in_heaviest_group?: boolean;
  reason?: string;
  waits_for_slot?: boolean;
}

export interface TaskAttemptId {
  stage?: number;
  stage_attempt?: number;
  index?: number;
  attempt?: number;
}

export interface Indicator {
  estimate?: Estimate;
  last_stage_fraction_done?: number;
  evidence?: Evidence;
}

export interface Evidence {
  own_neighbours?: number;
  own_fit?: number;
  other_neighbours?: number;
  other_fit?: number;
  ratio?: number;
}

export interface Coverage {
  newest_event_at?: string;
  lost_events?: string;
  dropped_events?: string;
  dropped_points?: string;
  anomalies?: string;
  rejected_events?: string;
  map_profiles?: number;
  silent_tasks?: number;
  missing_task_ends?: string;
  tasks_beyond_slots?: number;
}

export interface IndicatorError {
  indicator?: string;
  last_stage_avg_points?: number;
  last_stage_max_points?: number;
  job_avg_points?: number;
  job_max_points?: number;
  interval_coverage?: number;
  interval_width?: number;
}

export interface JobWords {
  title?: string;
  state?: string;
  percent?: string;
  shown_fraction?: number;
  remaining?: string;
  remaining_detail?: string;
  step?: string;
  straggler?: string;
  warnings?: Array<string>;
  accuracy?: string;
  stages?: Array<StageWords>;
  children?: Array<ChildWords>;
  tasks?: Array<TaskWords>;
  ends_at?: string;
  ends_at_lower?: string;
  ends_at_upper?: string;
  has_percent?: boolean;
  indicators?: Array<IndicatorWords>;
  due_before?: string;
  due_after?: string;
  is_likely_late?: boolean;
}

export interface StageWords {
  id?: StageId;
  name?: string;
  state?: string;
}

export interface ChildWords {
  number?: number;
  name?: string;
  state?: string;
  percent?: string;
}

export interface TaskWords {
  name?: string;
  remaining?: string;
}

export interface IndicatorWords {
  name?: string;
  percent?: string;
  remaining?: string;
  accuracy?: string;
}

export interface JobAnswer {
  snapshot?: Snapshot;
  words?: JobWords;
}

export interface JobUpdate {
  update?: WatchJobResponse;
  words?: JobWords;
}

export interface WatchJobResponse {
  snapshot?: Snapshot;
  skipped_snapshots?: string;
  resume_token?: string;
  restarted?: boolean;
}

export interface JobListUpdate {
  update?: WatchJobsResponse;
  words?: Record<string, JobWords>;
}

export interface WatchJobsResponse {
  snapshots?: Array<Snapshot>;
  removed_job_ids?: Array<string>;
  resume_token?: string;
  synced?: boolean;
  restarted?: boolean;
}

export interface TasksAnswer {
  list?: ListTasksResponse;
  remaining?: Array<string>;
  heavy_groups?: Array<HeavyGroupWords>;
}

export interface ListTasksResponse {
  at?: string;
  began_at?: string;
  hosts?: Array<HostTasks>;
  hosts_left_out?: string;
  tasks?: Array<TaskProgress>;
  tasks_left_out?: string;
  heavy_groups?: Array<HeavyGroup>;
}

export interface HostTasks {
  host?: string;
  running_count?: string;
  finished_count?: string;
  failed_count?: string;
  busy?: Array<number>;
}

export interface TaskProgress {
  attempt?: TaskAttemptId;
  state?: "ATTEMPT_STATE_UNSPECIFIED" | "ATTEMPT_STATE_QUEUED" | "ATTEMPT_STATE_STARTED" | "ATTEMPT_STATE_SHUFFLED" | "ATTEMPT_STATE_FINISHED" | "ATTEMPT_STATE_FAILED" | "ATTEMPT_STATE_KILLED" | "ATTEMPT_STATE_OBSOLETE" | "ATTEMPT_STATE_LOST";
  host?: string;
  started_at?: string;
  ended_at?: string;
  remaining?: Range;
  is_speculative?: boolean;
  failure?: string;
}

export interface HeavyGroup {
  attempt?: TaskAttemptId;
  size_bytes?: string;
  time?: string;
  share?: number;
  is_running?: boolean;
}

export interface HeavyGroupWords {
  size?: string;
  time?: string;
  share?: string;
}

export interface ForecastsAnswer {
  list?: ListForecastsResponse;
}

export interface ListForecastsResponse {
  forecasts?: Array<PastForecast>;
  ended_at?: string;
}

export interface PastForecast {
  at?: string;
  ends_at?: string;
  ends_at_lower?: string;
  ends_at_upper?: string;
  fraction_done?: number;
  fraction_done_lower?: number;
  fraction_done_upper?: number;
}

export interface ExplanationAnswer {
  explanation?: Explanation;
  queries?: Array<QueryWaitsWords>;
  sentences?: Array<string>;
}

export interface Explanation {
  job_id?: string;
  run_uid?: string;
  at?: string;
  since?: string;
  is_partial?: boolean;
  queries?: Array<QueryWaits>;
  queries_left_out?: number;
  hosts?: Array<string>;
  has_ended?: boolean;
  more_to_come?: boolean;
}

export interface QueryWaits {
  query?: string;
  seconds?: number;
  waits?: Array<ResourceWait>;
  culprits?: Array<Culprit>;
  skew_seconds?: number;
  data_growth?: DataGrowth;
  longest_task?: LongestTask;
}

export interface ResourceWait {
  resource?: "WAITED_RESOURCE_UNSPECIFIED" | "WAITED_RESOURCE_SLOTS" | "WAITED_RESOURCE_PROCESSOR" | "WAITED_RESOURCE_MEMORY" | "WAITED_RESOURCE_NETWORK" | "WAITED_RESOURCE_IO";
  seconds?: number;
  is_least?: boolean;
}

export interface Culprit {
  job_id?: string;
  query?: string;
  jobs?: number;
  resource?: "WAITED_RESOURCE_UNSPECIFIED" | "WAITED_RESOURCE_SLOTS" | "WAITED_RESOURCE_PROCESSOR" | "WAITED_RESOURCE_MEMORY" | "WAITED_RESOURCE_NETWORK" | "WAITED_RESOURCE_IO";
  host?: string;
  seconds?: number;
  seconds_lower?: number;
  seconds_upper?: number;
  sooner_seconds?: number;
  sooner_seconds_lower?: number;
  sooner_seconds_upper?: number;
}

export interface DataGrowth {
  task_seconds?: number;
  task_seconds_lower?: number;
  task_seconds_upper?: number;
  read_bytes?: number;
  earlier_read_bytes?: number;
  all_task_seconds?: number;
}

export interface LongestTask {
  attempt?: TaskAttemptId;
  kind?: "STAGE_KIND_UNSPECIFIED" | "STAGE_KIND_MAP" | "STAGE_KIND_REDUCE" | "STAGE_KIND_GENERIC";
  host?: string;
  seconds?: number;
  mean_seconds?: number;
  group_bytes?: string;
  group_seconds?: number;
}

export interface QueryWaitsWords {
  query?: string;
  lasted?: string;
  waits?: Array<string>;
}

export interface EstimateJobRequest {
  job_id?: string;
  plan?: Plan;
  scenarios?: Array<Scenario>;
}

export interface Plan {
  id?: string;
  name?: string;
  jobs?: Array<PlannedJob>;
  cluster?: Cluster;
  retry_within?: string;
  deadline_at?: string;
}

export interface PlannedJob {
  name?: string;
  job_id?: string;
  history_name?: string;
  after?: Array<string>;
  queue?: string;
  map_task_count?: number;
  reduce_task_count?: number;
  input_bytes?: string;
  profile?: JobProfile;
  stages?: Array<PlannedStage>;
  profiled_slots?: number;
}

export interface JobProfile {
  slots?: number;
  map_task_count?: number;
  reduce_task_count?: number;
  split_bytes?: number;
  map_selectivity?: number;
  reduce_selectivity?: number;
  map_task_time?: string;
  reduce_task_time?: string;
  map_task_variation?: number;
  reduce_task_variation?: number;
}

export interface PlannedStage {
  name?: string;
  after?: Array<string>;
  task_count?: string;
  lag?: string;
  task_times?: Array<string>;
  first_task_times?: Array<string>;
  fresh_task_times?: Array<string>;
  last_task_times?: Array<string>;
  task?: TaskData;
  slots_per_task?: number;
  memory_bytes_per_task?: string;
  owner?: string;
  queue?: string;
}

export interface TaskData {
  load?: string;
  input_bytes?: string;
  shuffle_read_bytes?: string;
  shuffle_write_bytes?: string;
  output_bytes?: string;
  core_bytes_per_second?: number;
}

export interface Cluster {
  slots?: number;
  nodes?: number;
  policy?: "SCHEDULING_POLICY_UNSPECIFIED" | "SCHEDULING_POLICY_FIFO" | "SCHEDULING_POLICY_FAIR" | "SCHEDULING_POLICY_DRF" | "SCHEDULING_POLICY_CAPACITY";
  queues?: Array<Queue>;
  node?: ResourceProfile;
  memory_bytes?: string;
}

export interface Queue {
  name?: string;
  share?: number;
}

export interface ResourceProfile {
  disk_read_bytes_per_second?: number;
  disk_write_bytes_per_second?: number;
  file_system_read_bytes_per_second?: number;
  file_system_write_bytes_per_second?: number;
  network_bytes_per_second?: number;
  cores?: number;
}

export interface Scenario {
  slots?: number;
  data_factor?: number;
  policy?: "SCHEDULING_POLICY_UNSPECIFIED" | "SCHEDULING_POLICY_FIFO" | "SCHEDULING_POLICY_FAIR" | "SCHEDULING_POLICY_DRF" | "SCHEDULING_POLICY_CAPACITY";
  executors?: number;
}

export interface EstimateAnswer {
  estimate?: EstimateJobResponse;
  words?: Array<JobWords>;
}

export interface EstimateJobResponse {
  outcomes?: Array<Outcome>;
}

export interface Outcome {
  snapshot?: Snapshot;
  busy_share?: number;
  slots?: number;
  executors?: number;
}

export interface Session {
  version?: string;
  instance?: string;
  has_tokens?: boolean;
}

export interface SignInRequest {
  token?: string;
}
