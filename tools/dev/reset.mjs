import { run } from './bootstrap.mjs';

await run('tools/dev/reset.ts', { evenIfStale: true });
