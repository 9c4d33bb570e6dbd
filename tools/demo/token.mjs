import { run } from '../dev/bootstrap.mjs';

await run('tools/demo/token.ts', { readsBuild: true });
