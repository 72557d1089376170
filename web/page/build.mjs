// Bundles the page and writes it as C++. Usage: node build.mjs OUTPUT.cc
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];
const COMPRESSED_BYTES_MAX = 150_000;

const { outputFiles } = await esbuild.build({
  entryPoints: [join(here, "src/app.tsx")],
  outdir: join(here, "out"),
  bundle: true,
  minify: true,
  write: false,
  target: "es2020",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
});
const files = [
  { path: "/", type: "text/html; charset=utf-8", bytes: readFileSync(join(here, "index.html")) },
  ...outputFiles.map((file) => ({
    path: file.path.endsWith(".css") ? "/app.css" : "/app.js",
    type: file.path.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
    bytes: Buffer.from(file.contents),
  })),
];

let total = 0;
let arrays = "";
let table = "";
files.forEach((file, i) => {
  const bytes = gzipSync(file.bytes, { level: 9 });
  total += bytes.length;
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  arrays += `constexpr unsigned char kBytes${i}[] = {${[...bytes].join(",")}};\n`;
  table += `      {.path = "${file.path}", .content_type = "${file.type}",
       .bytes = {reinterpret_cast<const char*>(kBytes${i}), sizeof(kBytes${i})},
       .hash = "${hash}", .is_gzip = true},\n`;
});
if (total > COMPRESSED_BYTES_MAX) {
  console.error(`the page has ${total} bytes, more than ${COMPRESSED_BYTES_MAX}`);
  process.exit(1);
}
console.error(`the page has ${total} bytes, compressed`);
writeFileSync(output, `#include "web/page_files.h"

namespace tidemark::web {
namespace {
${arrays}
}  // namespace

const std::vector<PageFile>& PageFiles() {
  static const auto* const kFiles = new std::vector<PageFile>{
${table}  };
  return *kFiles;
}

}  // namespace tidemark::web
`);
