// Shows the durations of past runs of a job that the master still has, and compares the job with one of them.
import { useEffect, useState } from "preact/hooks";
import { ask, jobPath, reasonOf } from "./api";
import type { ComparisonAnswer, JobAnswer, JobListAnswer } from "./messages";
import { clock } from "./parts";

const RUNS_MAX = 20;
const SIZE = { bar: 5, height: 18 };

export interface Run {
  id: string;
  title: string;
  elapsed: string;
  seconds: number;
  bytes: number; // input of all tasks; 0 if unknown
  start: number; // milliseconds since 1970
}

// Returns a job as a run, or undefined if it has not succeeded.
export function runOf({ snapshot, words }: JobAnswer): Run | undefined {
  const seconds = (Date.parse(snapshot?.ended_at ?? "") - Date.parse(snapshot?.started_at ?? "")) / 1000;
  if (snapshot?.state !== "JOB_STATE_SUCCEEDED" || Number.isNaN(seconds)) return undefined;
  return { id: snapshot.job_id ?? "", title: words?.title ?? "", elapsed: words?.elapsed ?? "", seconds,
    bytes: Number(snapshot.throughput?.bytes_done ?? 0), start: Date.parse(snapshot.started_at ?? "") };
}

// Returns the runs of a job that began before the job, oldest first.
export const runsBefore = (runs: Run[], id: string, startedAt: string | undefined) =>
  runs.filter((run) => run.id !== id && !(run.start > Date.parse(startedAt ?? ""))).sort((a, b) => a.start - b.start).slice(-RUNS_MAX);

const LIKE = 0.05; // like kMentionedShare of console/run_comparison.cc

// Returns the newest of the runs whose input is closest to the job's, or the newest run while the job runs or the inputs are unknown.
export function closest(runs: Run[], { snapshot }: JobAnswer): Run | undefined {
  const bytes = snapshot?.final ? Number(snapshot.throughput?.bytes_done ?? 0) : 0;
  const distance = (run: Run) => Math.abs(Math.log(run.bytes / bytes));
  return runs.reduceRight((best, run) => (distance(run) < distance(best) - LIKE ? run : best), runs[runs.length - 1]);
}

// Draws one bar for each duration, if there are several. The last bar is the job itself if it has succeeded.
export function Sparkline({ runs, own }: { runs: Run[]; own?: Run }) {
  const all = own ? [...runs, own] : runs;
  if (runs.length === 0 || all.length < 2) return null;
  const most = Math.max(...all.map((run) => run.seconds), 0.001);
  const text = `Past runs, oldest first: ${runs.map((run) => run.elapsed).join(", ")}`;
  return (
    <svg class="sparkline" width={SIZE.bar * all.length} height={SIZE.height} role="img" aria-label={text}>
      <title>{text}</title>
      {all.map((run, i) => {
        const height = Math.max(1, (SIZE.height * run.seconds) / most);
        return <rect key={run.id} class={run === own ? "own" : ""} x={SIZE.bar * i} y={SIZE.height - height} width={SIZE.bar - 1} height={height} />;
      })}
    </svg>
  );
}

function usePastRuns(id: string, name: string, startedAt: string | undefined): Run[] {
  const [runs, setRuns] = useState<Run[]>([]);
  useEffect(() => {
    if (!name) return;
    let isWanted = true;
    const query = new URLSearchParams({ "filter.name_prefix": name, "filter.states": "JOB_STATE_SUCCEEDED" });
    ask<JobListAnswer>("GET", `/api/jobs?${query}`).then(({ list, words }) => {
      const all = (list?.snapshots ?? []).filter((snapshot) => snapshot.info?.name === name)
        .map((snapshot) => runOf({ snapshot, words: words?.[snapshot.job_id ?? ""] }));
      if (isWanted) setRuns(runsBefore(all.filter((run) => run !== undefined), id, startedAt));
    }, () => {});
    return () => void (isWanted = false);
  }, [id, name, startedAt]);
  return runs;
}

function Comparison({ id, other }: { id: string; other: string }) {
  const [answer, setAnswer] = useState<ComparisonAnswer>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let isWanted = true;
    setAnswer(undefined);
    setProblem("");
    ask<ComparisonAnswer>("GET", `${jobPath(id)}/comparison?other_job_id=${encodeURIComponent(other)}`).then(
      (compared) => isWanted && setAnswer(compared),
      (error) => isWanted && setProblem(reasonOf(error)),
    );
    return () => void (isWanted = false);
  }, [id, other]);
  if (problem) return <p class="bad" role="alert" dir="auto">{problem}</p>;
  if (!answer) return <p class="quiet">Comparing the runs …</p>;
  return (
    <>
      {answer.sentence && <p dir="auto">{answer.sentence}.</p>}
      <table>
        <thead>
          <tr><th scope="col">Quantity</th><th scope="col">Past run</th><th scope="col">This run</th><th scope="col">Difference</th></tr>
        </thead>
        <tbody>
          {(answer.rows ?? []).map((row) => (
            <tr key={row.what}>
              <th scope="row" dir="auto">{row.what}</th>
              <td data-label="Past run" title="A missing value is unknown, not zero">{row.before}</td>
              <td data-label="This run" title="A missing value is unknown, not zero">{row.after}</td>
              <td data-label="Difference" title="This run minus the past run">{row.difference}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {Number(answer.stages_left_out ?? 0) > 0 && <p class="quiet" title="The stages whose times differ most are shown">{answer.stages_left_out} more {answer.stages_left_out === 1 ? "stage differs" : "stages differ"} less.</p>}
    </>
  );
}

export function PastRuns({ job }: { job: JobAnswer }) {
  const snapshot = job.snapshot ?? {};
  const id = snapshot.job_id ?? "";
  const runs = usePastRuns(id, snapshot.info?.name ?? "", snapshot.started_at);
  const [chosen, setChosen] = useState("");
  const other = chosen || closest(runs, job)?.id;
  if (!other) return null;
  const own = runOf(job);
  return (
    <section class="card past-runs">
      <h2>Past runs</h2>
      {(own || runs.length > 1) && (
        <p class="quiet" title="Oldest first">
          <Sparkline runs={runs} own={own} /> durations of {runs.length === 1 ? "the past run" : `${runs.length} past runs`}{own && " and this run"}
        </p>
      )}
      <p>
        <label>
          Past run{" "}
          <select value={other} onChange={(event) => setChosen(event.currentTarget.value)}>
            {[...runs].reverse().map((run) => <option key={run.id} value={run.id}>{`${run.id}, ${clock(new Date(run.start).toISOString())}, ${run.elapsed}`}</option>)}
          </select>
        </label>{" "}
        <a href={`#/jobs/${encodeURIComponent(other)}`}>Show the past run</a>
      </p>
      {snapshot.final && <Comparison id={id} other={other} />}
    </section>
  );
}
