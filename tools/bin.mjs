// The commands of package.json: `node tools/bin.mjs NAME …` runs a TypeScript file (dev/bootstrap.mjs).
import { run } from './dev/bootstrap.mjs';

const programs = {
  start: ['dev/start.ts'],
  stop: ['dev/stop.ts', { evenIfStale: true }],
  reset: ['dev/reset.ts', { evenIfStale: true }],
  stack: ['dev/stack.ts', { evenIfStale: true }],
  test: ['dev/test-run/test.ts'],
  check: ['dev/test-run/check.ts'],
  bench: ['bench/bench.ts'],
  chaos: ['chaos/chaos.ts'],
  'restore-drill': ['restore-drill/restore-drill.ts'],
  compatibility: ['compatibility/compatibility.ts'],
  images: ['images/images.ts'],
  demo: ['demo/demo.ts', { readsBuild: true }],
  token: ['demo/token.ts', { readsBuild: true }],
  ops: ['ops/ops.ts', { readsBuild: true }],
  release: ['release/release.ts'],
  tools: ['tools.ts', { readsBuild: true }],
  advisories: ['supply-chain/advisories.ts'],
};

const [name] = process.argv.splice(2, 1); // the program sees only its own arguments
const [file, needs] = programs[name];
await run(`tools/${file}`, needs);
