// Builds dist/ from src/. With --check it builds in memory instead and says whether dist/ is what
// the sources give, and whether every bundle is small enough.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const TASKS = ["flash", "beep", "pairs", "rate"];
// What a participant on a slow line waits for before the first word appears.
const MOST_GZIPPED_BYTES = 40 * 1024;

const isCheck = process.argv.includes("--check");
const result = await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: [
    ...TASKS.map((task) => ({ in: `src/tasks/${task}.ts`, out: task })),
    { in: "src/page.css", out: "page" },
    { in: "src/review/review.ts", out: "review" },
    { in: "src/review/review.css", out: "review" },
  ],
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome100", "firefox102", "safari15.4"],
  charset: "utf8",
  legalComments: "none",
  write: false,
});

let isSound = true;
if (!isCheck) mkdirSync(`${import.meta.dirname}/dist`, { recursive: true });
for (const file of result.outputFiles) {
  const name = file.path.split("/").pop();
  const n = gzipSync(file.contents, { level: 9 }).length;
  const isSmall = n <= MOST_GZIPPED_BYTES;
  console.log(`${name.padEnd(10)} ${file.contents.length} bytes, ${n} gzipped${isSmall ? "" : ": too large"}`);
  isSound &&= isSmall;
  const target = `${import.meta.dirname}/dist/${name}`;
  if (!isCheck) {
    writeFileSync(target, file.contents);
  } else if (!Buffer.from(file.contents).equals(readFileSync(target))) {
    console.log(`dist/${name} is not what the sources give: npm run build`);
    isSound = false;
  }
}
process.exit(isSound ? 0 : 1);
