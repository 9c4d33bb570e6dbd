import { run } from '../dev/bootstrap.mjs';

await run('tools/bench/bench.ts');
