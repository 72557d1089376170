// Starts a master with a page, jobs for it and Debian's Chromium, for scripts that test the page.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const page = dirname(fileURLToPath(import.meta.url));
export const require = createRequire(join(page, "package.json"));
const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
export const canBrowse = chromium !== undefined && existsSync(join(page, "node_modules/puppeteer-core"));

export const work = mkdtempSync(join(tmpdir(), "tidemark-page-"));
export const processes = new Set();

export function start(program, words, options = {}) {
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "pipe"], ...options });
  child.output = "";
  child.stdout.on("data", (bytes) => (child.output += bytes));
  child.stderr.on("data", (bytes) => (child.output += bytes));
  child.ended = new Promise((done) => child.on("exit", done));
  processes.add(child);
  return child;
}

export async function until(what, condition, withinMs = 20_000) {
  const end = Date.now() + withinMs;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > end) throw new Error(`timed out waiting for: ${what}`);
    await pause(50);
  }
}

export async function stop(child, signal = "SIGTERM") {
  processes.delete(child);
  child.kill(signal);
  await child.ended;
}

export async function startMaster(tidemark, more = [], { listen = "127.0.0.1:0", web = "127.0.0.1:0" } = {}) {
  const master = start(tidemark, ["serve", "--listen", listen, "--set", `web.listen=${web}`, ...more]);
  await until("the master", () => {
    if (master.exitCode !== null) throw new Error(`the master ended: ${master.output}`);
    return /page at \S+/.test(master.output);
  });
  master.address = /listening on (\S+)/.exec(master.output)[1];
  master.url = /page at (\S+)/.exec(master.output)[1];
  return master;
}

export async function startJobs(program, master, words = []) {
  const jobs = start(program, [master.address, ...words]);
  await until("jobs", () => jobs.output.includes("reporting"));
  return jobs;
}

export const launch = () =>
  require("puppeteer-core").launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    userDataDir: join(work, "profile"),
  });

export async function finish(browser) {
  for (const child of processes) await stop(child, "SIGKILL");
  await browser.close();
  rmSync(work, { recursive: true, force: true, maxRetries: 5 });
}
