import { run } from './dev/bootstrap.mjs';

await run('tools/tools.ts', { readsBuild: true });
