import { Failure, runMain } from './dev/failure.ts';

const help = `npm run -s tools -- NAME: tools for developers and operators.

  npm run -s tools -- listen      a webhook receiver on this machine that verifies and prints deliveries
  npm run -s tools -- cli         the command line for integrators: login, listen --forward-to, trigger, webhooks apply
  npm run -s tools -- capacity    predicts latencies and ceilings at a load, from the benchmarks

For the options of a tool: npm run -s tools -- NAME --help`;

/** Each tool is imported only when it is used. */
const tools: Readonly<Record<string, () => Promise<(args: readonly string[]) => void | Promise<void>>>> = {
  capacity: async () => (await import('./capacity/capacity.ts')).predictLatencies,
  cli: async () => (await import('./run-cli.ts')).runCli,
  listen: async () => (await import('./listen/listen.ts')).listen,
};

async function main(): Promise<void> {
  const [name = '--help', ...args] = process.argv.slice(2);
  if (name === '--help' || name === '-h') return console.log(help);
  if (!Object.hasOwn(tools, name)) throw new Failure(`Unknown tool "${name}". All tools: npm run -s tools`);
  const tool = await tools[name]?.();
  await tool?.(args);
}

runMain(main);
