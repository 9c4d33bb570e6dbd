import { run } from './bootstrap.mjs';

await run('tools/dev/check.ts');
