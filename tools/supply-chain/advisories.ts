// Compares the production packages with the advisories of the configured registry. Exits with 1 if one has
// high or critical severity. An unreachable registry, or one without advisories, is reported but does not
// fail the check.
import { spawnSync } from 'node:child_process';
import { evaluateAudit } from './evaluate-audit.ts';

const options = ['audit', '--omit', 'dev', '--json', '--fetch-retries=0', '--fetch-timeout=20000'];
const { stdout } = spawnSync('npm', options, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const { ok, lines } = evaluateAudit(String(stdout));
for (const line of lines) console.log(line);
process.exitCode = ok ? 0 : 1;
