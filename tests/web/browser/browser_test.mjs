// Tests the page in Debian's Chromium against a real master: node browser_test.mjs TIDEMARK JOBS PAGE
//
// Exits with 77 (skipped) without a browser, or before `npm ci` in PAGE. Waits are for conditions, and only a
// failure reaches their deadline.
import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [tidemark, jobsProgram, pageFolder, only] = process.argv.slice(2);
const { canBrowse, finish, launch, processes, require, start, startJobs: startJobsOf, startMaster: startMasterOf, stop, until, work } =
  await import(resolve(pageFolder, "browser.mjs"));
if (!canBrowse) {
  console.log("skipped: no Chromium, or no node_modules; run ./dev setup page");
  process.exit(77);
}
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const startMaster = (...options) => startMasterOf(tidemark, ...options);
const startJobs = (master) => startJobsOf(jobsProgram, master);
const browser = await launch();
// The page is high enough for all cards, which load when they are visible.
const ALL_CARDS = { height: 2400 };
// Opens a page that fails the test if it runs injected code or contacts another host.
async function open(url, { height = 800 } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width: 1200, height });
  page.faults = [];
  page.on("dialog", (dialog) => {
    page.faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("pageerror", (error) => page.faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) page.faults.push(message.text());
  });
  page.on("request", (request) => {
    // The browser draws its own controls with images from data: URLs.
    if (!request.url().startsWith(new URL(url).origin) && !request.url().startsWith("data:")) page.faults.push(`asks ${request.url()}`);
  });
  await page.goto(url);
  return page;
}
const textOf = (page) => page.evaluate(() => document.body.innerText);
const shows = (page, text) => until(`"${text}" on the page`, async () => (await textOf(page)).includes(text));
const click = (page, selector, text) =>
  page.evaluate((all, begin) => [...document.querySelectorAll(all)].find((one) => one.innerText.startsWith(begin)).click(), selector, text);
async function close(page) {
  assert.deepEqual(page.faults, []);
  await page.browserContext().close();
}
async function endJobs(jobs) {
  jobs.stdin.end();
  await jobs.ended;
}
// Returns a test of a page of a master with jobs.
const besideJobs = (address, options, test) => async () => {
  const master = await startMaster();
  const jobs = await startJobs(master);
  const page = await open(`${master.url}${address}`, options);
  await test({ master, jobs, page });
  await close(page);
  await endJobs(jobs);
  await stop(master);
};
async function checkAxe(page, where) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document));
  const serious = result.violations.filter((each) => ["serious", "critical"].includes(each.impact));
  const found = serious.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
  assert.deepEqual(found, [], where);
}
// Checks that every number except in names and headings has an explanation.
async function checkNumbersAreExplained(page, where) {
  const found = await page.evaluate(() => {
    const bare = [];
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const isBare = /\d/.test(walker.currentNode.data) && !element.closest("[title], [dir=auto], th, h1, h2, summary, option, label, .u-legend, svg, [role=status], code");
      if (isBare) bare.push(element.outerHTML.slice(0, 150));
    }
    return bare;
  });
  assert.deepEqual(found, [], where);
}
async function checkNoSidewaysScroll(page, where) {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 360, `${where} is ${width} pixels wide`);
}

const tests = {
  "the page follows a live job to its end, with the texts of the API": besideJobs("", {}, async ({ master, jobs, page }) => {
    await shows(page, "10,000 tasks");
    await click(page, "a", "10,000 tasks");
    await shows(page, "of 10,000 tasks done");
    await until("the live mark", () => page.$(".note.live"));
    const first = await page.$eval(".bar", (bar) => bar.getAttribute("aria-valuetext"));
    assert.ok(first.length > 3, first);
    jobs.stdin.write("\n");
    await shows(page, "the job has ended");
    const { words, snapshot } = await (await fetch(`${master.url}api/jobs/large`)).json();
    assert.equal(snapshot.final, true);
    const text = await textOf(page);
    for (const shown of [words.title, words.state, words.percent, words.accuracy].filter(Boolean)) {
      assert.ok(text.includes(shown), `the page does not show: ${shown}`);
    }
    assert.match(text, /Table \(\d+ of \d+ stages done[,)]/);
  }),

  async "a MapReduce job shows its method, and other estimators live beside it"() {
    const master = await startMaster(["--indicator", "tidemark", "nearestfit", "hadoop"]);
    const job = start(tidemark, ["run", "example", "synthetic", "--param", "n=60000", "--slots", "1", "--reducers", "2",
      "--master", master.address, "--job-id", "compared", "-o", "quiet"]);
    const page = await open(`${master.url}#/jobs/compared`, ALL_CARDS);
    const rows = () => page.$$eval("details[open] > table tbody tr", (all) => all.map((row) => row.innerText));
    await until("the same end in the headline and below the chart", () => page.evaluate(() => {
      const shown = document.querySelector(".end strong")?.innerText ?? "";
      return shown !== "" && document.querySelector('[aria-label^="The predicted end"] .u-legend')?.innerText.includes(shown);
    }), 60_000);
    await until("a live comparison", async () => {
      const [shown, nearestfit] = await rows();
      return /^tidemark \(key groups\)/.test(shown) && /^nearestfit\s+≈ \d+ % .*left/.test(nearestfit);
    }, 60_000);
    await shows(page, "Method");
    await until("the chart", () => page.$('[aria-label^="Progress by each estimator"] canvas'));
    await checkAxe(page, "comparison");
    await checkNumbersAreExplained(page, "comparison");
    await job.ended;
    await until("errors of the ended job", async () => /^nearestfit\s+100 %/.test((await rows())[1]));
    await close(page);
    await stop(master);
  },

  "the address of the list contains its filter and order": besideJobs("#/?filter=succeeded", {}, async ({ page }) => {
    await shows(page, "No jobs match.");
    await click(page, "button", "Show all jobs");
    await shows(page, "10,000 tasks");
    await click(page, "thead button", "Job");
    assert.equal(await page.evaluate(() => location.hash), "#/?order=name");
    await page.type("[type=search]", "2,000");
    await until("one row", async () => (await page.$$("tbody tr")).length === 1);
    assert.match(await page.evaluate(() => location.hash), /search=2%2C000/);
    await page.reload();
    await until("one row", async () => (await page.$$("tbody tr")).length === 1);
    await checkAxe(page, "a filtered list");
    // Safari rejects more than 100 changes of the address within 30 seconds.
    await page.evaluate(() => {
      history.replaceState = () => {
        throw new DOMException("too many calls", "SecurityError");
      };
    });
    await page.type("[type=search]", " none");
    await shows(page, "No jobs match.");
  }),

  async "the command beside an empty list starts a job on this master"() {
    const master = await startMaster();
    const page = await open(master.url);
    await shows(page, "No job has reported yet");
    const [example] = await page.$eval("pre", (pre) => pre.innerText.split("\n"));
    const command = example.replace("HOST:PORT", master.address);
    const job = start(tidemark, [...command.split(" ").slice(1), "-o", "quiet"]);
    await page.waitForSelector("tbody tr");
    await stop(job);
    await close(page);
    await stop(master);
  },

  "a reader who may report a job sets its deadline": besideJobs("#/jobs/stages", {}, async ({ page }) => {
    await page.waitForSelector(".deadline summary");
    await click(page, ".deadline summary", "Set a deadline");
    await page.$eval(".deadline input", (input) => (input.value = "2031-01-01T06:00"));
    await click(page, ".deadline button", "Set");
    await shows(page, "The deadline is set.");
    await until("the deadline", async () => /2031/.test(await page.$eval(".due", (due) => due.innerText).catch(() => "")));
    await shows(page, "Change the deadline");
    await checkAxe(page, "a deadline");
  }),

  async "a second run links the first, and the list shows both durations"() {
    const master = await startMaster();
    for (const id of ["first", "second"]) {
      const run = start(tidemark, ["run", "example", "synthetic", "--param", "n=2000", "--slots", "1", "--reducers", "1",
        "--master", master.address, "--job-id", id, "-o", "quiet"]);
      assert.equal(await run.ended, 0, run.output);
    }
    const page = await open(`${master.url}#/jobs/second`, ALL_CARDS);
    await shows(page, "Past runs");
    await shows(page, "Duration");
    await shows(page, "This run took");
    await checkAxe(page, "past runs");
    await checkNumbersAreExplained(page, "past runs");
    await click(page, ".past-runs a", "Show the past run");
    await until("the first run", async () => (await page.evaluate(() => location.hash)) === "#/jobs/first");
    await page.goto(`${master.url}#/?order=start`);
    await page.waitForSelector(".jobs .sparkline");
    await checkNumbersAreExplained(page, "the list of both runs");
    await close(page);
    await stop(master);
  },

  async "a workflow and its jobs link each other, and its chart remains after its end and a restart"() {
    const data = join(work, "workflow");
    const plan = join(work, "plan.yaml");
    const job = "profile: {maps: 4, reduces: 1, map_task_seconds: 1, reduce_task_seconds: 1}";
    writeFileSync(plan, `id: nightly\ncluster: {slots: 2}\njobs:\n  - {name: parse, job_id: parse-1, ${job}}\n  - {name: count, after: [parse], job_id: count-1, ${job}}\n`);
    let master = await startMaster(["--data-dir", data]);
    const submit = start(tidemark, ["submit", plan, "--master", master.address]);
    assert.equal(await submit.ended, 0, submit.output);
    for (const id of ["parse-1", "count-1"]) {
      const run = start(tidemark, ["run", "example", "synthetic", "--param", "n=20000", "--slots", "1", "--reducers", "1",
        "--master", master.address, "--job-id", id, "-o", "quiet"]);
      assert.equal(await run.ended, 0, run.output);
    }
    let page = await open(`${master.url}#/jobs/nightly`, ALL_CARDS);
    await shows(page, "the workflow has ended");
    await shows(page, "2 of 2 jobs done");
    await until("two linked boxes", async () => (await page.$$(".dag a")).length === 2);
    await checkAxe(page, "a workflow");
    await page.click(".dag a");
    await until("the first job", async () => (await page.evaluate(() => location.hash)) === "#/jobs/parse-1");
    await shows(page, "Part of");
    await click(page, "dd a", "nightly");
    await until("the workflow", async () => (await page.evaluate(() => location.hash)) === "#/jobs/nightly");
    await close(page);
    const forecasts = async () => (await (await fetch(`${master.url}api/jobs/nightly/forecasts`)).json()).list.forecasts;
    const before = await forecasts();
    assert.ok(before.length > 1, before.length);
    await stop(master);
    master = await startMaster(["--data-dir", data]);
    assert.deepEqual(await forecasts(), before);
    page = await open(`${master.url}#/jobs/nightly`, ALL_CARDS);
    await page.waitForSelector(".chart canvas");
    await close(page);
    await stop(master);
  },

  "a job that the master no longer has keeps its last state on the page": besideJobs("#/jobs/large", {}, async ({ page, master, jobs }) => {
    await shows(page, "of 10,000 tasks done");
    const { address, url } = master;
    await endJobs(jobs);
    await stop(master, "SIGKILL");
    const other = await startMaster([], { listen: address, web: new URL(url).host });
    await shows(page, "The master no longer has this job");
    await checkAxe(page, "a removed job");
    await stop(other);
  }),

  async "a job that does not exist is named at once, with a link to the list, and shown once it reports"() {
    const master = await startMaster();
    const page = await open(`${master.url}#/jobs/large`);
    await shows(page, "There is no such job on this master");
    await checkAxe(page, "no job");
    const jobs = await startJobs(master);
    await shows(page, "of 10,000 tasks done");
    await page.goto(`${master.url}#/jobs/none`);
    await shows(page, "There is no such job on this master");
    await click(page, "a", "See all jobs");
    await shows(page, "10,000 tasks");
    await page.evaluate(() => [...document.querySelectorAll("a")].find((a) => a.innerText === "Contention").click());
    await page.waitForSelector("main > p[dir=auto]");
    await checkAxe(page, "contention");
    await checkNumbersAreExplained(page, "contention");
    await close(page);
    await endJobs(jobs);
    await stop(master);
  },

  "a card whose request fails shows the reason": besideJobs("#/jobs/large", ALL_CARDS, async ({ page }) => {
    await page.setRequestInterception(true);
    const busy = { status: 503, contentType: "application/json", body: '{"message":"the master is busy"}' };
    page.on("request", (request) => (request.url().endsWith("/explanation") ? request.respond(busy) : request.continue()));
    await shows(page, "The waits are unavailable: the master is busy.");
    await checkAxe(page, "a failed request");
  }),

  async "a page recovers after a crash and restart of the master"() {
    const data = join(work, "data");
    let master = await startMaster(["--data-dir", data]);
    const { address, url } = master;
    const jobs = await startJobs(master);
    const page = await open(`${url}#/jobs/large`);
    await shows(page, "of 10,000 tasks done");
    await stop(master, "SIGKILL");
    await shows(page, "not live since");
    master = await startMaster(["--data-dir", data], { listen: address, web: new URL(url).host });
    await until("the live mark", () => page.$(".note.live"));
    const before = await page.$eval(".counts", (counts) => counts.innerText);
    await until("new counts", async () => (await page.$eval(".counts", (counts) => counts.innerText)) !== before);
    await close(page);
    await endJobs(jobs);
    await stop(master);
  },

  async "a wrong token is reported, and a valid one signs in without appearing in an address"() {
    const tokens = join(work, "tokens");
    writeFileSync(tokens, "reader * reader-0123456789abcdef\n");
    chmodSync(tokens, 0o600);
    const master = await startMaster(["--set", `tokens=${tokens}`]);
    const page = await open(master.url);
    const urls = [];
    page.on("request", (request) => urls.push(request.url()));
    await page.waitForSelector("#token");
    await checkAxe(page, "signing in");
    await page.type("#token", "wrong-0123456789abcde");
    await page.keyboard.press("Enter");
    await shows(page, "rejects the token");
    await page.type("#token", "reader-0123456789abcdef");
    await page.keyboard.press("Enter");
    await shows(page, "No job has reported yet");
    assert.ok(!urls.some((url) => url.includes("0123456789")));
    assert.equal(await page.evaluate(() => document.cookie), "");
    assert.ok(!master.output.includes("0123456789"));
    await click(page, "button", "Sign out");
    await page.waitForSelector("#token");
    await close(page);
    await stop(master);
  },

  "hostile names are text, the page fits a phone, and axe finds no serious fault": besideJobs("", {}, async ({ page }) => {
    await shows(page, "<script>alert(1)</script>");
    await shows(page, "2,000 stages");
    const addresses = await page.$$eval("tbody a", (links) => links.map((link) => link.hash));
    assert.equal(addresses.length, 6);
    for (const scheme of ["light", "dark"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await checkAxe(page, `the list, ${scheme}`);
    }
    await page.setViewport({ width: 360, height: 740 });
    await checkNoSidewaysScroll(page, "the list");
    for (const address of addresses) {
      await page.evaluate((hash) => (location.hash = hash), address);
      await page.waitForSelector(".headline");
      await page.waitForSelector(".lanes");
      await checkNoSidewaysScroll(page, address);
    }
    for (const scheme of ["light", "dark"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await checkAxe(page, `a job, ${scheme}`);
    }
  }),

  "a job of 10,000 tasks shows its hosts, and the tasks of a chosen host": besideJobs("#/jobs/large", ALL_CARDS, async ({ page }) => {
    await until("20 hosts", async () => (await page.$$(".hosts tbody tr")).length === 20);
    await checkAxe(page, "hosts");
    await click(page, ".hosts button", "host-7");
    await page.waitForSelector(".card .lanes[aria-label*='slots']");
    await shows(page, "All hosts");
    await checkAxe(page, "a host");
  }),

  "a late job comes first, and its page predicts the end with other slots": besideJobs("", ALL_CARDS, async ({ page }) => {
    await shows(page, "% likely late");
    await click(page, "thead button", "Due");
    await until("the late one first", async () => (await page.$eval("tbody tr th a", (a) => a.innerText)) === "10,000 tasks");
    await checkNumbersAreExplained(page, "the list");
    await page.click("tbody tr th a");
    await page.waitForSelector(".due");
    const due = await page.$eval(".due", (element) => element.innerText);
    assert.match(due, /^due .*\d\d:\d\d(:\d\d)?, (\d+|over 99|under 1)\s% likely late$/);
    await page.waitForSelector(".what-if input");
    await page.$eval(".what-if input", (input) => {
      input.value = "120";
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await until("another end", () => page.$eval(".what-if", (card) => /With this change: .+ left/.test(card.innerText)));
    await page.waitForSelector(".hosts tbody tr");
    await checkNumbersAreExplained(page, "a job");
  }),

  async "an ended job shows its tasks, forecasts and waits, also after a restart of the master"() {
    const data = join(work, "ended");
    let master = await startMaster(["--data-dir", data]);
    const jobs = await startJobs(master);
    jobs.stdin.write("\n");
    let before;
    for (const isRestarted of [false, true]) {
      if (isRestarted) {
        await stop(master);
        master = await startMaster(["--data-dir", data]);
      }
      const page = await open(`${master.url}#/jobs/large`, ALL_CARDS);
      await shows(page, "the job has ended");
      await page.waitForSelector(".card .lanes[aria-label*='slots']");
      await shows(page, "Slots of tasks are not reported");
      await until("the waits", async () => !(await textOf(page)).includes("…"));
      const cards = () => page.$$eval(".card h2", (headings) => headings.map((heading) => heading.innerText).sort());
      before ??= await cards();
      assert.deepEqual(await cards(), before);
      await checkNumbersAreExplained(page, "a job that has ended");
      await checkAxe(page, "a job that has ended");
      await close(page);
      if (isRestarted) continue;
      await endJobs(jobs);
    }
    await stop(master);
  },

  "page, console, jobs, REST and gRPC agree on each sequence number": besideJobs("#/jobs/large", {}, async ({ master, jobs, page }) => {
    await page.waitForSelector(".headline");
    // Reads updates through gRPC, like the console, and from the stream of the page.
    const console_ = start(tidemark, ["watch", "large", "--master", master.address, "-o", "jsonl"]);
    const stream = await fetch(`${master.url}api/jobs/large/watch?interval_min=0s`);
    const rest = new Map();
    (async () => {
      let text = "";
      for await (const bytes of stream.body) {
        text += Buffer.from(bytes).toString();
        const events = text.split("\n\n");
        text = events.pop();
        for (const event of events) {
          const data = /^data: (.*)$/m.exec(event)?.[1];
          const update = data && JSON.parse(data);
          if (update?.update) rest.set(update.update.snapshot.sequence, update);
        }
      }
    })().catch(() => {});
    const readPage = () =>
      page.evaluate(() => {
        const text = (selector) => document.querySelector(selector)?.innerText.replace(/\s+/g, " ").trim() ?? "";
        return {
          sequence: document.querySelector(".headline").dataset.sequence,
          percent: text(".big"),
          remaining: text(".remaining"),
          counts: text(".counts"),
        };
      });
    const grpc = (sequence) =>
      console_.output.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}")).map((line) => JSON.parse(line))
        .find((snapshot) => snapshot.sequence === sequence);
    const plain = (value) => JSON.parse(JSON.stringify(value, (_, each) => (each === 0 || each === "" || each === "0" || each === false ? undefined : each)));
    let compared = 0;
    await until("three sequence numbers from all sources", async () => {
      const shown = await readPage();
      const update = rest.get(shown.sequence);
      const snapshot = grpc(shown.sequence);
      if (!update || !snapshot) return false;
      assert.equal(shown.percent, `${update.words.percent} ${update.words.percent_bounds ?? ""}`.trim());
      assert.equal(shown.remaining, `${update.words.remaining ?? ""}${update.words.remaining_detail ?? ""}`.replace(/\s+/g, " ").trim());
      assert.ok(shown.counts.replaceAll(",", "").startsWith(`${snapshot.counts.finished_task_count ?? 0} of ${snapshot.counts.task_count} tasks done`), shown.counts);
      assert.deepEqual(plain(update.update.snapshot.estimate), plain(snapshot.estimate));
      assert.deepEqual(plain(update.update.snapshot.counts), plain(snapshot.counts));
      return ++compared === 3;
    });
    jobs.stdin.write("\n");
    await shows(page, "the job has ended");
    const { words, snapshot } = await (await fetch(`${master.url}api/jobs/large`)).json();
    const shown = await readPage();
    assert.equal(shown.sequence, snapshot.sequence);
    assert.equal(shown.percent, words.percent);
    await console_.ended;
    assert.ok(grpc(snapshot.sequence).final);
    const table = start(tidemark, ["get", "jobs", "--master", master.address]);
    await table.ended;
    const row = table.output.split("\n").find((line) => line.startsWith("large "));
    assert.ok(row.includes(words.state) && row.includes(words.percent), row);
  }),

  async "tidemark run prints the address of the job's page"() {
    const master = await startMaster();
    const input = join(work, "text");
    writeFileSync(input, "to be or not to be\n".repeat(100));
    const job = ["run", "example", "word-count", "--input", input, "--slots", "1", "--reducers", "1", "--master", master.address];
    const run = start(tidemark, [...job, "--job-id", "a job", "-o", "plain"]);
    assert.equal(await run.ended, 0, run.output);
    const url = /job page: (\S+)/.exec(run.output)?.[1];
    assert.equal(url, `${master.url}#/jobs/a%20job`);
    const page = await open(url);
    await shows(page, "word-count");
    await shows(page, "ended at");
    await close(page);
    const quiet = start(tidemark, [...job, "-o", "quiet"]);
    assert.equal(await quiet.ended, 0, quiet.output);
    assert.ok(!quiet.output.includes("job page"), quiet.output);
    await stop(master);
  },

  "only visible ones of thousands of stages are drawn, and keys reach the rest": besideJobs("#/jobs/stages", {}, async ({ page }) => {
    await page.waitForSelector(".lanes");
    await shows(page, "With 2000 stages, the dependencies are not drawn");
    const canvas = await page.$eval(".lanes canvas", (element) => element.height);
    assert.ok(canvas <= 2 * 14 * 26, `the canvas is ${canvas} pixels high`);
    await page.focus(".lanes");
    await page.keyboard.press("End");
    await until("the end of the lanes", () => page.$eval(".lanes", (lanes) => lanes.scrollTop > 10_000));
  }),
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (only && !name.includes(only)) continue;
  const began = Date.now();
  try {
    await test();
    console.log(`ok     ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    ++failed;
    console.log(`FAILED ${name}: ${error.stack}`);
    for (const child of processes) await stop(child, "SIGKILL");
  }
}
await finish(browser);
process.exit(failed ? 1 : 0);
