// Measures the cost of the page in Debian's Chromium and at a master: node bench.mjs TIDEMARK JOBS [--json FILE]
//
// One running job has 10,000 tasks in 200 stages on 20 hosts. Measures the size of the page, the time until it shows
// content, frames per second while its lanes scroll, and bytes and script time per update. At the master, measures
// processor time for 100 watchers of that job and for watchers of a list of 1,000 jobs.
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { constants, createGunzip } from "node:zlib";
import { canBrowse, finish, launch, startJobs, startMaster, stop, until } from "../../web/page/browser.mjs";

const [tidemark, jobsProgram, ...options] = process.argv.slice(2);
const json = options[0] === "--json" ? options[1] : undefined;
const SECONDS = 20;
const TICKS_PER_SECOND = 100;
const results = {};
const say = (name, value, unit) => {
  results[name] = { value: Number(value.toPrecision(4)), unit };
  console.log(`${name.padEnd(52)} ${results[name].value} ${unit}`);
};
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

function cpuSeconds(child) {
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
async function coreShare(child, doing) {
  const before = cpuSeconds(child);
  await doing;
  return (100 * (cpuSeconds(child) - before)) / SECONDS;
}

function get(url, path, headers = {}) {
  return new Promise((done) => {
    http.get(new URL(path, url), { headers, agent: false }, (response) => {
      let bytes = 0;
      response.on("data", (part) => (bytes += part.length));
      response.on("end", () => done(bytes));
    });
  });
}
// Returns bytes and updates of a stream, requested like a browser does.
function watch(url, path) {
  const watcher = { bytes: 0, updates: 0, close: () => request.destroy() };
  const unzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  unzip.on("data", (part) => (watcher.updates += part.toString("latin1").split("event: update").length - 1));
  unzip.on("error", () => {});
  const request = http.get(new URL(path, url), { agent: false, headers: { "Accept-Encoding": "gzip" } }, (response) => {
    response.on("data", (part) => {
      watcher.bytes += part.length;
      unzip.write(part);
    });
  });
  request.on("error", () => {});
  return watcher;
}

async function paint(browser, master) {
  const times = [];
  const headlines = [];
  for (let i = 0; i < 5; ++i) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setViewport({ width: 1200, height: 800 });
    await page.goto(`${master.url}#/jobs/large`);
    await page.waitForSelector(".headline");
    headlines.push(await page.evaluate(() => performance.now()));
    await until("a paint", () => page.evaluate(() => performance.getEntriesByName("first-contentful-paint").length));
    times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    await context.close();
  }
  say("first paint, median of 5", median(times), "ms");
  say("the job's numbers are there, median of 5", median(headlines), "ms");
}

async function scrolling(page, name) {
  const frames = await page.evaluate(async () => {
    const lanes = [...document.querySelectorAll(".lanes")].pop();
    const stamps = [];
    await new Promise((done) => {
      const began = performance.now();
      const step = (now) => {
        stamps.push(now);
        lanes.scrollTop = ((now - began) * 2) % Math.max(1, lanes.scrollHeight - lanes.clientHeight);
        if (now - began < 5000) requestAnimationFrame(step);
        else done();
      };
      requestAnimationFrame(step);
    });
    return stamps.slice(1).map((stamp, i) => stamp - stamps[i]);
  });
  const sorted = [...frames].sort((a, b) => a - b);
  say(`${name}: frames a second`, (1000 * frames.length) / frames.reduce((a, b) => a + b, 0), "1/s");
  say(`${name}: the 95th of 100 frames`, sorted[Math.floor(0.95 * sorted.length)], "ms");
}

async function updates(page) {
  const session = await page.createCDPSession();
  await session.send("Performance.enable");
  await session.send("Network.enable");
  const sizes = [];
  session.on("Network.eventSourceMessageReceived", (event) => sizes.push(event.data.length));
  const metrics = async () => {
    const { metrics: all } = await session.send("Performance.getMetrics");
    return Object.fromEntries(all.map((metric) => [metric.name, metric.value]));
  };
  const before = await metrics();
  await pause(1000 * SECONDS);
  const after = await metrics();
  const each = (name) => (1000 * (after[name] - before[name])) / Math.max(1, sizes.length);
  say("updates that the page got, a second", sizes.length / SECONDS, "1/s");
  say("script per update", each("ScriptDuration"), "ms");
  say("layout and style per update", each("LayoutDuration") + each("RecalcStyleDuration"), "ms");
  say("characters an update, uncompressed, median", median(sizes), "");
}

async function watchers(master, path, count, name) {
  const all = Array.from({ length: count }, () => watch(master.url, path));
  await until(`${count} watchers`, () => all.every((each) => each.updates > 0), 60_000);
  await pause(3000); // the first, whole updates
  for (const each of all) each.bytes = each.updates = 0;
  const share = await coreShare(master, pause(1000 * SECONDS));
  const total = (what) => all.reduce((sum, each) => sum + each[what], 0);
  const [bytes, updates] = [total("bytes"), total("updates")];
  for (const each of all) each.close();
  say(`${name}: of a core`, share, "%");
  say(`${name}: updates a second to one`, updates / SECONDS / count, "1/s");
  say(`${name}: bytes an update, compressed`, bytes / Math.max(1, updates), "B");
  await pause(1000);
}

// The page requests tasks while their card is visible.
async function showHosts(page) {
  const card = () => [...document.querySelectorAll("h2")].find((title) => title.innerText === "Tasks on hosts");
  await page.waitForFunction(card);
  await page.evaluate(`(${card})().scrollIntoView()`);
}

if (!canBrowse) {
  console.log("no Chromium, or no node_modules; run ./dev setup page");
  process.exit(1);
}
const browser = await launch();
{
  const master = await startMaster(tidemark);
  const jobs = await startJobs(jobsProgram, master);
  const gzip = { "Accept-Encoding": "gzip" };
  let bundle = 0;
  for (const path of ["/", "/app.js", "/app.css"]) bundle += await get(master.url, path, gzip);
  say("page, compressed", bundle, "B");
  await paint(browser, master);
  const page = await browser.newPage();
  await page.setViewport({ width: 1200, height: 800 });
  await page.goto(`${master.url}#/jobs/large`);
  await showHosts(page);
  await page.waitForSelector(".hosts");
  await updates(page);
  await scrolling(page, "200 stages");
  await showHosts(page);
  await page.waitForSelector(".hosts button");
  await page.evaluate(() => document.querySelector(".hosts button").click());
  await page.waitForSelector(".lanes[aria-label*='slots']");
  await page.goto("about:blank");
  await page.goto(`${master.url}#/jobs/stages`);
  await page.waitForSelector(".lanes");
  await scrolling(page, "2,000 stages");
  await page.close();
  say("tasks of all hosts, as the page asks every 2 s", await get(master.url, "/api/jobs/large/tasks"), "B");
  say("the master alone, with that job: of a core", await coreShare(master, pause(1000 * SECONDS)), "%");
  const job = "/api/jobs/large/watch?deltas=true&interval_min=1s";
  await watchers(master, job, 1, "1 watcher of the job, with it");
  await watchers(master, job, 100, "100 watchers of the job, with it");
  await stop(jobs);
  await stop(master);
}
{
  // One host reports all tasks.
  const master = await startMaster(tidemark, ["--set", "limits.share_percent=100"]);
  const jobs = await startJobs(jobsProgram, master, ["1000"]);
  await until("1,000 jobs", async () => {
    const list = await (await fetch(`${master.url}api/jobs?page_size=1000`)).json();
    return list.list?.snapshots?.length === 1000;
  }, 60_000);
  say("the master alone, with 1,000 jobs: of a core", await coreShare(master, pause(1000 * SECONDS)), "%");
  const list = "/api/watch?interval_min=1s";
  await watchers(master, list, 1, "1 watcher of 1,000 jobs, with them");
  const page = await browser.newPage();
  await page.goto(master.url);
  await until("rows", async () => (await page.$$(".jobs tbody tr")).length === 100);
  const session = await page.createCDPSession();
  await session.send("Performance.enable");
  await session.send("Network.enable");
  let events = 0;
  session.on("Network.eventSourceMessageReceived", () => ++events);
  const script = async () =>
    (await session.send("Performance.getMetrics")).metrics.find((metric) => metric.name === "ScriptDuration").value;
  const before = await script();
  await pause(1000 * SECONDS);
  say("1,000 jobs: script per update of the list", (1000 * ((await script()) - before)) / Math.max(1, events), "ms");
  await stop(jobs);
  await stop(master);
}
await finish(browser);
if (json) writeFileSync(json, `${JSON.stringify(results, null, 1)}\n`);
