import { operate } from './operate.ts';

it('passes an operator name of any length unchanged: the service rejects it, instead of recording a shorter one', async () => {
  process.env.OPERATOR = 'a'.repeat(101);
  const program = [process.execPath, '-e', 'console.log(JSON.stringify({ name: process.env.OPERATOR }))'];
  const access = { environments: {}, programs: { 'store-api': program } };
  expect(await operate(access, 'store-api', [], '')).toEqual({ name: 'a'.repeat(101) });
});

it('fails if the program cannot be started', async () => {
  const access = { environments: {}, programs: { 'store-api': ['/missing/program'] } };
  await expect(operate(access, 'store-api', [], '')).rejects.toThrow('spawn /missing/program ENOENT');
});
