import { run } from './bootstrap.mjs';

await run('tools/dev/stop.ts', { evenIfStale: true });
