import { run } from './bootstrap.mjs';

await run('tools/dev/start.ts');
