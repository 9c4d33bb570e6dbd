import { run } from './bootstrap.mjs';

await run('tools/dev/stack.ts', { evenIfStale: true });
