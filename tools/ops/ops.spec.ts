import { join } from 'node:path';
import { runProgram } from '../dev/run-program.ts';

function runOps(args: readonly string[]) {
  return runProgram(process.execPath, [join(import.meta.dirname, 'ops.ts'), ...args], {
    env: { PATH: process.env.PATH, SUITE_DEV_DIR: '/nonexistent' },
  });
}

describe('npm run ops', () => {
  it('rejects --as without a name, instead of using the account of this machine', async () => {
    const { code, output } = await runOps(['orders', 'republish', '--as']);
    expect([code, output]).toEqual([1, '--as must be followed by the name of the operator.\n']);
  });

  it.each(['billing-api', 'toString'])('rejects --service %s, which is not a service', async (name) => {
    const { code, output } = await runOps(['doctor', '--service', name]);
    expect([code, output]).toEqual([1, expect.stringMatching(/^--service must be one of store-api, /)]);
  });
});
