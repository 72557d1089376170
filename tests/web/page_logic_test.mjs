// Tests the parts of the page that need no browser: node page_logic_test.mjs PAGE
//
// Exits with 77 (skipped) before `npm ci` in PAGE. Timers, answers and streams are fakes.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const page = resolve(process.argv[2]);
if (!existsSync(join(page, "node_modules/esbuild"))) {
  console.log("skipped: no node_modules; run ./dev setup page");
  process.exit(77);
}
const esbuild = createRequire(join(page, "package.json"))("esbuild");
async function load(file) {
  const options = { entryPoints: [join(page, "src", file)], bundle: true, format: "esm", write: false };
  const { outputFiles } = await esbuild.build(options);
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

// Streams and timers of the page.
let sources = [];
let timers = [];
globalThis.window = { setTimeout: (call) => timers.push(call), clearTimeout: () => {} };
globalThis.EventSource = class {
  static CLOSED = 2;
  readyState = 0;
  listeners = {};
  constructor(url) {
    this.url = url;
    sources.push(this);
  }
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }
  close() {
    this.readyState = 2;
  }
  refuse() {
    this.readyState = 2;
    this.listeners.error({});
  }
};
const answer = (status, code, message) => async () => new Response(JSON.stringify({ code, message }), { status });
const settle = () => new Promise((done) => setImmediate(() => setImmediate(() => setImmediate(done))));

const { follow } = await load("live.ts");
function follower() {
  sources = [];
  timers = [];
  const seen = { states: [], updates: [] };
  seen.stop = follow("/api/jobs/j/watch", { deltas: "true" }, "/api/jobs/j", (update) => seen.updates.push(update), (now) => seen.states.push(now));
  return seen;
}

const tests = {
  async "an unknown job is missing at once, and appears with its first report"() {
    globalThis.fetch = answer(404, "NOT_FOUND", "no job j");
    const seen = follower();
    assert.ok(!sources[0].url.includes("wait_for_job"), sources[0].url);
    sources[0].refuse();
    await settle();
    assert.deepEqual(seen.states, [{ state: "missing", why: "no job j" }]);
    timers.pop()();
    sources[1].listeners.open({});
    sources[1].listeners.update({ lastEventId: "1-1", data: "{}" });
    assert.equal(seen.states.at(-1).state, "live");
    assert.equal(seen.updates.length, 1);
  },

  async "an unreachable master does not make a job missing"() {
    globalThis.fetch = async () => {
      throw new TypeError("no connection");
    };
    const seen = follower();
    sources[0].refuse();
    await settle();
    assert.equal(seen.states.at(-1).state, "broken");
    assert.equal(timers.length, 1);
  },

  async "a rejection shows the message of the master"() {
    globalThis.fetch = answer(400, "INVALID_ARGUMENT", "job_id: is too long");
    const seen = follower();
    sources[0].refuse();
    await settle();
    assert.equal(seen.states.at(-1).state, "broken");
    assert.equal(seen.states.at(-1).why, "job_id: is too long");
  },

  async "a reader without permission is refused and stops polling"() {
    globalThis.fetch = answer(401, "UNAUTHENTICATED", "no token");
    const seen = follower();
    sources[0].refuse();
    await settle();
    assert.equal(seen.states.at(-1).state, "refused");
    assert.equal(timers.length, 0);
  },

  async "a closed page reports nothing"() {
    globalThis.fetch = answer(404, "NOT_FOUND", "no job j");
    const seen = follower();
    sources[0].refuse();
    seen.stop();
    await settle();
    assert.deepEqual(seen.states, []);
  },

  async "the summary of an ended job counts finished parts"() {
    const { summaryOf } = await load("stage_summary.ts");
    const looks = (...all) => all.map((look) => ({ look, isCritical: false }));
    assert.equal(summaryOf(looks("done", "done"), "stages", true), "2 of 2 stages done");
    assert.equal(summaryOf(looks("done", "failed", "waiting"), "stages", true), "1 of 3 stages done, 1 failed, 1 not run");
    const killed = [...looks("done"), { look: "failed", isCritical: false, state: "not finished" }];
    assert.equal(summaryOf(killed, "stages", true), "1 of 2 stages done, 1 not finished");
    assert.equal(summaryOf(looks("running", "running"), "stages", true), "0 of 2 stages done, 2 without a reported end");
    assert.equal(summaryOf(looks("done", "running", "waiting"), "jobs", false), "1 of 3 jobs running");
  },

  async "the address of the list contains its filter, order and search"() {
    const { addressOf, queryOf } = await load("list_query.ts");
    const usual = { filter: "all", order: "state", descending: false, search: "" };
    for (const address of ["", "#/", "#/?filter=none&order=x", "#/?order=-toString", "#/contention"]) {
      assert.deepEqual(queryOf(address), usual, address);
    }
    assert.equal(addressOf(usual), "#/");
    const query = { filter: "late", order: "end", descending: true, search: "a&b=ü %" };
    assert.equal(addressOf({ ...query, search: "" }), "#/?filter=late&order=-end");
    assert.deepEqual(queryOf(addressOf(query)), query);
  },

  async "past runs are succeeded runs before this one, oldest first"() {
    const { runOf, runsBefore } = await load("past_runs.tsx");
    const job = (id, start, seconds, state = "JOB_STATE_SUCCEEDED") => ({
      snapshot: { job_id: id, state, started_at: new Date(start).toISOString(), ended_at: new Date(start + 1000 * seconds).toISOString() },
      words: { title: "nightly", elapsed: `${seconds} s` },
    });
    assert.equal(runOf(job("a", 0, 40, "JOB_STATE_FAILED")), undefined);
    assert.equal(runOf({ snapshot: { job_id: "a", state: "JOB_STATE_SUCCEEDED" } }), undefined);
    const runs = [job("c", 3000, 30), job("a", 1000, 10), job("b", 2000, 20)].map(runOf);
    assert.equal(runs[0].seconds, 30);
    assert.deepEqual(runsBefore(runs, "c", "1970-01-01T00:00:03Z").map((run) => run.id), ["a", "b"]);
    const many = Array.from({ length: 30 }, (_, i) => runOf(job(`${i}`, i, 1)));
    assert.equal(runsBefore(many, "x", "1970-01-01T01:00:00Z").length, 20);
  },

  async "the compared run has the closest input, or is the newest"() {
    const { closest } = await load("past_runs.tsx");
    const idOf = (inputs, own) =>
      closest(inputs.map((bytes, i) => ({ id: `${i}`, bytes })), { snapshot: { final: true, throughput: { bytes_done: `${own}` } } })?.id;
    assert.equal(idOf([1000, 900, 2], 1000), "0");
    assert.equal(idOf([1000, 1001, 2], 1000), "1");
    assert.equal(idOf([1000, 2], 0), "1");
    assert.equal(idOf([1000, 0], 1000), "0");
    assert.equal(idOf([0, 0], 1000), "1");
    assert.equal(idOf([], 1000), undefined);
  },

  async "the chart of predicted ends contains all medians, and cuts off far bounds"() {
    const { reachOf } = await load("reach.ts");
    const point = (at, end, endUpper) => ({ at, end, endLower: end, endUpper });
    const points = [point(0, 900, 9000), point(100, 250, 260)];
    assert.deepEqual(reachOf(points), { low: 0, high: 1350, isCut: true });
    assert.deepEqual(reachOf(points, 200), { low: 200, high: 1350, isCut: true });
    assert.deepEqual(reachOf(points.slice(1)), { low: 100, high: 260, isCut: false });
  },

  async "the end of a wide interval is its upper bound"() {
    const { endWords } = await load("parts.tsx");
    const at = (seconds) => new Date(1000 * seconds).toISOString();
    const words = { ends_at: at(60), ends_at_lower: at(10), ends_at_upper: at(180) };
    const narrow = endWords({ at: at(0) }, words);
    const wide = endWords({ at: at(0) }, { ...words, is_end_wide: true });
    assert.deepEqual([narrow.before, wide.before], ["ends about", "ends by"]);
    assert.notEqual(narrow.at, wide.at);
    assert.deepEqual(endWords({ at: at(0) }, {}), { before: "", at: "-", title: "No forecast of the end yet" });
    assert.equal(endWords({ at: at(9), ended_at: at(9) }, { ends_at: at(60) }).before, "ended at");
  },

  async "the names of boxes have two lines, and long names keep their ends"() {
    const { linesOf } = await load("dag.tsx");
    assert.deepEqual(linesOf("scan"), ["scan"]);
    assert.deepEqual(linesOf("scan parquet warehouse.store_sales"), ["scan parquet", "warehouse.store_sales"]);
    assert.deepEqual(linesOf("x".repeat(30)), ["x".repeat(26), "xxxx"]);
    const [first, second] = linesOf(`application_1732790000000_0042 ${"é".repeat(60)} stage 7`);
    assert.match(first, /^application_1732790000000/);
    assert.match(second, / stage 7$/);
    assert.ok(`${first}${second}`.includes("…"));
    assert.ok([...first].length <= 26 && [...second].length <= 26, `${first}, ${second}`);
  },

  async "the zones of a bar equal the shared vectors"() {
    const { zonesOf } = await load("zones.ts");
    const vectors = JSON.parse(readFileSync(new URL("../vectors/shown_progress.json", import.meta.url), "utf8"));
    for (const { name, shown: [lower, number, upper], bar } of vectors) {
      const zones = zonesOf({ shown_lower: lower, shown_fraction: number, shown_upper: upper });
      const columns = Array.from(bar, (_, i) => {
        const zone = zones.find(({ left, width }) => left + width >= 5 * (i + 1) - 1e-9);
        return { sure: "█", likely: "▓", possible: "▒" }[zone?.name] ?? "░";
      });
      assert.equal(columns.join(""), bar, name);
    }
  },

  async "the critical path appears only if it is known"() {
    const { criticalText, hasCriticalPath } = await load("stage_summary.ts");
    const part = (look, isCritical) => ({ look, isCritical });
    assert.equal(hasCriticalPath([part("done", false), part("done", false)], true), false);
    assert.equal(hasCriticalPath([part("done", true), part("waiting", true)], true), false);
    assert.equal(hasCriticalPath([part("running", false)], false), false);
    assert.equal(hasCriticalPath([part("done", false), part("running", true)], false), true);
    assert.deepEqual(
      [part("done", true), part("running", true), part("waiting", false)].map(criticalText),
      ["-", "yes", "no"],
    );
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log(`ok: ${name}`);
}
