import { operate } from './operate.ts';

it('passes a long operator name unchanged, so that the service rejects it and no other name is recorded', async () => {
  process.env.OPERATOR = 'a'.repeat(101);
  const program = [process.execPath, '-e', 'console.log(JSON.stringify({ name: process.env.OPERATOR }))'];
  const access = { environments: {}, programs: { 'store-api': program } };
  expect(await operate(access, 'store-api', [], '')).toEqual({ name: 'a'.repeat(101) });
});
