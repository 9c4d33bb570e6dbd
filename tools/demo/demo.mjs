import { run } from '../dev/bootstrap.mjs';

await run('tools/demo/demo.ts', { readsBuild: true });
