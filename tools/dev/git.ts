import { runOrThrow } from './run-program.ts';
import { root } from './settings.ts';

/** Runs git in the repository, and returns its output without white space at the ends. @throws Failure */
export async function git(...args: string[]): Promise<string> {
  return (await runOrThrow('git', args, { cwd: root })).trim();
}
