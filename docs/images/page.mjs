// Makes the screenshots of the page in README and docs: node page.mjs TIDEMARK ENGINE [FOLDER]
//
// Runs real jobs of the example engine (examples/local_mapreduce) at a separate master, like `./dev demo --web`.
// pages.json lists the labels of each picture and its checksum, so that a test can compare the pictures with the page.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { canBrowse, finish, launch, start, startMaster, until, work } from "../../web/page/browser.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const data = resolve(here, "../../data");
const [tidemark, engine, folder = here] = process.argv.slice(2);
if (!canBrowse) {
  console.log("no Chromium, or no node_modules; run ./dev setup page");
  process.exit(1);
}
const master = await startMaster(tidemark, ["--indicator", "tidemark", "nearestfit", "hadoop", "jobratio", "taskratio"]);
const browser = await launch();

function run(words) {
  return start(tidemark, ["run", ...words, "--master", master.address, "-o", "quiet"]);
}
const graph = (name) => join(data, "graphs", name);
const twoPath = (id, input, more) =>
  run(["example", "two-path", "--input", graph(input), "--job-id", id, "--output-dir", join(work, id),
    "--output-format", "deflate", ...more]);

async function open(path, { width, height, dark = false }) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.emulateTimezone("UTC");
  await page.setViewport({ width, height, deviceScaleFactor: 1.25 });
  await page.goto(master.url + path);
  return page;
}
const described = join(folder, "pages.json");
const pictures = existsSync(described) ? JSON.parse(readFileSync(described, "utf8")) : {}; // other scripts add theirs
async function shoot(page, name) {
  const picture = execFileSync("pngquant", ["96", "-"], { input: await page.screenshot() });
  writeFileSync(join(folder, `page-${name}.png`), picture);
  const labels = await page.$$eval("h2, dt, th[scope=col], .u-label", (all) => all.map((each) => each.innerText.trim()));
  pictures[`page-${name}.png`] = {
    sha256: createHash("sha256").update(picture).digest("hex"),
    labels: [...new Set(labels)].filter(Boolean).sort(),
  };
  console.log(`page-${name}.png`);
}
// Returns the percentage if it is known.
const percentOf = async (id) => {
  const response = await fetch(`${master.url}api/jobs/${id}?view=VIEW_BASIC`);
  const { snapshot, words } = response.ok ? await response.json() : {};
  return snapshot?.final ? 100 : words?.has_percent ? 100 * (snapshot.estimate?.fraction_done ?? 0) : 0;
};

// Shorter than the demo needs.
const DUE = "40s";
const desktop = { width: 1180, height: 1010 };
const first = twoPath("two-path of last night", "wiki-vote.txt.zst", ["--slots", "2", "--reducers", "4", "--deadline", "10m"]);
await first.ended;
const demo = twoPath("two-path", "musae-github.txt.zst", ["--param", "directions=2", "--slots", "2", "--reducers", "4", "--deadline", DUE]);
await until("a third of the demo", async () => (await percentOf("two-path")) > 33, 600_000);
for (const [name, options] of [
  ["job", desktop],
  ["job-dark", { ...desktop, dark: true }],
  ["phone", { width: 390, height: 1150, dark: false }],
]) {
  const page = await open("#/jobs/two-path", options);
  await page.waitForSelector(".chart canvas");
  await pause(3000);
  await shoot(page, name);
}
const workflow = start(engine, ["workflow", "web-log", join(work, "visits"), "id=visits", `master=${master.address}`, "visits=6000000", "slots=1"]);
await until("the workflow's first job", async () => {
  const { snapshot } = await (await fetch(`${master.url}api/jobs/visits`)).json();
  return (snapshot?.counts?.finished_child_count ?? 0) > 0;
}, 600_000);
{
  const page = await open("#/jobs/visits", desktop);
  await page.waitForSelector(".lanes");
  await pause(5000);
  await shoot(page, "workflow");
}
const list = await open("", { width: 1180, height: 520 });
await list.waitForSelector(".jobs tbody tr");
await pause(2000);
await shoot(list, "list");
await demo.ended;
const ended = await open("#/jobs/two-path", desktop);
await ended.waitForSelector(".chart canvas");
await pause(3000);
await shoot(ended, "ended");
writeFileSync(described, `${JSON.stringify(pictures, null, 1)}\n`);
workflow.kill();
await finish(browser);
