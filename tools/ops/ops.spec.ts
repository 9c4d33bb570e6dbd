import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { runProgram } from '../dev/run-program.ts';

it('the option --as without a name is rejected, instead of using the account of this machine', async () => {
  const program = join(import.meta.dirname, 'ops.ts');
  const { code, output } = await runProgram(process.execPath, [program, 'orders', 'republish', '--as'], {
    env: { PATH: process.env.PATH, SUITE_DEV_DIR: '/nonexistent' },
  });
  expect([code, output]).toEqual([1, '--as must be followed by the name of the operator.\n']);
});
