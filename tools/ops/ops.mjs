import { run } from '../dev/bootstrap.mjs';

await run('tools/ops/ops.ts', { readsBuild: true });
