// Compares the packages that production runs with the advisories of the configured registry. Ends with 1 when one of them is of high or critical
// severity. A registry that cannot be reached, or that has no advisories, is reported and fails nothing: the check is for CI with a network.
import { spawnSync } from 'node:child_process';
import { judgeAudit } from './judge-audit.ts';

const options = ['audit', '--omit', 'dev', '--json', '--fetch-retries=0', '--fetch-timeout=20000'];
const { stdout } = spawnSync('npm', options, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const { ok, lines } = judgeAudit(String(stdout));
for (const line of lines) console.log(line);
process.exitCode = ok ? 0 : 1;
