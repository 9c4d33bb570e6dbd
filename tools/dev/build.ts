import { join } from 'node:path';
import { Failure } from './failure.ts';
import { lastLines, type ProcessResult, runProgram } from './run-program.ts';
import { root } from './settings.ts';

const nx = join(root, 'node_modules', 'nx', 'dist', 'bin', 'nx.js');

/** Runs Nx without its daemon and full-screen display, so no process stays behind. */
export function runNx(
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; onLine?: (line: string) => void } = {},
): Promise<ProcessResult> {
  return runProgram(process.execPath, [nx, ...args], {
    cwd: root,
    env: { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false', ...options.env },
    onLine: options.onLine,
  });
}

/** Builds every project; unchanged ones come from Nx's cache. */
export async function buildAll(): Promise<void> {
  const { code, output } = await runNx(['run-many', '--target=build', '--outputStyle=static']);
  if (code !== 0) throw new Failure(`The build failed.\n${lastLines(output, 60)}`);
}

/**
 * Builds the documentation site; an unchanged one comes from Nx's cache. Does not build its dependencies,
 * because that would replace files that services are loading.
 */
export async function buildSite(): Promise<void> {
  const target = ['--target=site', '--projects=@fulfilment/site', '--excludeTaskDependencies'];
  const { code, output } = await runNx(['run-many', ...target, '--outputStyle=static']);
  if (code !== 0) throw new Failure(lastLines(output));
}
