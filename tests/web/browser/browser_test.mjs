// The page in Debian's Chromium, against a real master: node browser_test.mjs TIDEMARK JOBS PAGE
//
// Ends with 77 (skipped) without a browser, or without what `npm ci` puts into PAGE. Waits are for
// conditions, with a deadline that only a failure reaches.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const [tidemark, jobsProgram, pageFolder, only] = process.argv.slice(2);
const require = createRequire(join(pageFolder, "package.json"));
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
if (!chromium || !existsSync(join(pageFolder, "node_modules/puppeteer-core"))) {
  console.log("skipped: no Chromium, or no node_modules; run ./dev setup");
  process.exit(77);
}
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const DEADLINE_MS = 20_000;

const work = mkdtempSync(join(tmpdir(), "tidemark-page-"));
const processes = new Set();
function start(program, words, options = {}) {
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "pipe"], ...options });
  child.said = "";
  child.stdout.on("data", (bytes) => (child.said += bytes));
  child.stderr.on("data", (bytes) => (child.said += bytes));
  child.ended = new Promise((done) => child.on("exit", done));
  processes.add(child);
  return child;
}
async function until(what, condition) {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited in vain for: ${what}`);
    await pause(50);
  }
}
async function stop(child, signal = "SIGTERM") {
  processes.delete(child);
  child.kill(signal);
  await child.ended;
}
async function startMaster(more = [], { listen = "127.0.0.1:0", web = "127.0.0.1:0" } = {}) {
  const master = start(tidemark, ["serve", "--listen", listen, "--set", `web.listen=${web}`, ...more]);
  await until("the master", () => {
    if (master.exitCode !== null) throw new Error(`the master ended: ${master.said}`);
    return /page at \S+/.test(master.said);
  });
  master.address = /listening on (\S+)/.exec(master.said)[1];
  master.url = /page at (\S+)/.exec(master.said)[1];
  return master;
}
async function startJobs(master) {
  const jobs = start(jobsProgram, [master.address]);
  await until("jobs", () => jobs.said.includes("reporting"));
  return jobs;
}

const browser = await puppeteer.launch({
  executablePath: chromium,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  userDataDir: join(work, "profile"),
});
// A page that fails the test when it runs what it should not, or asks another host.
async function open(url, width = 1200) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport({ width, height: 800 });
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
    if (!request.url().startsWith(new URL(url).origin)) page.faults.push(`asks ${request.url()}`);
  });
  await page.goto(url);
  return page;
}
const textOf = (page) => page.evaluate(() => document.body.innerText);
const shows = (page, text) => until(`"${text}" on the page`, async () => (await textOf(page)).includes(text));
async function close(page) {
  assert.deepEqual(page.faults, []);
  await page.browserContext().close();
}
async function checkAxe(page, where) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document));
  const serious = result.violations.filter((each) => ["serious", "critical"].includes(each.impact));
  const found = serious.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
  assert.deepEqual(found, [], where);
}
async function checkNoSidewaysScroll(page, where) {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 360, `${where} is ${width} pixels wide`);
}

const tests = {
  async "a live job is followed to its end, in the words of the API"() {
    const master = await startMaster();
    const jobs = await startJobs(master);
    const page = await open(master.url);
    await shows(page, "10,000 tasks");
    await page.evaluate(() => [...document.querySelectorAll("a")].find((a) => a.innerText === "10,000 tasks").click());
    await shows(page, "of 10000 tasks done");
    await until("the live mark", () => page.$(".live.live"));
    const first = await page.$eval(".bar", (bar) => bar.getAttribute("aria-valuetext"));
    assert.ok(first.length > 3, first);
    jobs.stdin.write("\n");
    await shows(page, "the job has ended");
    const { words, snapshot } = await (await fetch(`${master.url}api/jobs/large`)).json();
    assert.equal(snapshot.final, true);
    const text = await textOf(page);
    for (const said of [words.title, words.state, words.percent, words.accuracy].filter(Boolean)) {
      assert.ok(text.includes(said), `the page does not say: ${said}`);
    }
    await close(page);
    jobs.stdin.end();
    await jobs.ended;
    await stop(master);
  },

  async "a page goes on after the master was killed and started again"() {
    const data = join(work, "data");
    let master = await startMaster(["--data-dir", data]);
    const { address, url } = master;
    const jobs = await startJobs(master);
    const page = await open(`${url}#/jobs/large`);
    await shows(page, "of 10000 tasks done");
    await stop(master, "SIGKILL");
    await shows(page, "not live since");
    master = await startMaster(["--data-dir", data], { listen: address, web: new URL(url).host });
    await until("the live mark", () => page.$(".live.live"));
    const before = await page.$eval(".counts", (counts) => counts.innerText);
    await until("news", async () => (await page.$eval(".counts", (counts) => counts.innerText)) !== before);
    await close(page);
    jobs.stdin.end();
    await jobs.ended;
    await stop(master);
  },

  async "a wrong token is told so, a right one lets in and is in no address"() {
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
    await shows(page, "does not know the token");
    await page.type("#token", "reader-0123456789abcdef");
    await page.keyboard.press("Enter");
    await shows(page, "No job has reported yet");
    assert.ok(!urls.some((url) => url.includes("0123456789")));
    assert.equal(await page.evaluate(() => document.cookie), "");
    assert.ok(!master.said.includes("0123456789"));
    await page.evaluate(() => [...document.querySelectorAll("button")].find((b) => b.innerText === "Sign out").click());
    await page.waitForSelector("#token");
    await close(page);
    await stop(master);
  },

  async "hostile names are text, a phone shows all, and axe finds nothing serious"() {
    const master = await startMaster();
    const jobs = await startJobs(master);
    const page = await open(master.url);
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
    await close(page);
    jobs.stdin.end();
    await jobs.ended;
    await stop(master);
  },

  async "thousands of stages are drawn as far as they are in sight, and reached by keys"() {
    const master = await startMaster();
    const jobs = await startJobs(master);
    const page = await open(`${master.url}#/jobs/stages`);
    await page.waitForSelector(".lanes");
    await shows(page, "2000 stages are too many to draw");
    const canvas = await page.$eval(".lanes canvas", (element) => element.height);
    assert.ok(canvas <= 2 * 14 * 26, `the canvas is ${canvas} pixels high`);
    await page.focus(".lanes");
    await page.keyboard.press("End");
    await until("the end of the lanes", () => page.$eval(".lanes", (lanes) => lanes.scrollTop > 10_000));
    await close(page);
    jobs.stdin.end();
    await jobs.ended;
    await stop(master);
  },
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
await browser.close();
rmSync(work, { recursive: true, force: true, maxRetries: 5 });
process.exit(failed ? 1 : 0);
