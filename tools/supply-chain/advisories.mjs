import { run } from '../dev/bootstrap.mjs';

await run('tools/supply-chain/advisories.ts');
