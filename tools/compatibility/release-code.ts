import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../dev/failure.ts';
import { git } from '../dev/git.ts';
import { runOrThrow } from '../dev/run-program.ts';

/** The subject of the commit that `npm run release` makes. */
export const releaseSubject = 'chore: release';

/** Returns a commit of the last release: the given one, or the newest that `npm run release` has made. */
export async function releasedCommit(given: string | undefined): Promise<string> {
  const reference = given ?? (await newestRelease());
  if (reference === '')
    throw new Failure(
      'The history of this clone has no release. Name a commit: npm run compatibility -- --from COMMIT',
    );
  return git('rev-parse', '--verify', '--quiet', `${reference}^{commit}`).catch(() => {
    throw new Failure(`"${reference}" is no commit of this repository.`);
  });
}

/** Finds the release by the subject of its commit, since a clone need not have the tags. */
function newestRelease(): Promise<string> {
  return git('log', '--max-count=1', '--format=%H', `--grep=^${releaseSubject}$`);
}

/** Checks a commit out into a directory below `parent` and builds it, once. @returns the directory */
export async function buildRelease(commit: string, parent: string): Promise<string> {
  const dir = join(parent, commit);
  const finishedMark = join(dir, 'built'); // missing after an interrupted build
  if (existsSync(finishedMark)) return dir;
  mkdirSync(parent, { recursive: true });
  await git('worktree', 'prune');
  if (!existsSync(dir)) await git('worktree', 'add', '--detach', dir, commit);
  const env = { ...process.env, NX_DAEMON: 'false', NX_TUI: 'false' };
  await runOrThrow('npm', ['ci', '--no-audit', '--no-fund'], { cwd: dir, env });
  const nx = join(dir, 'node_modules', 'nx', 'dist', 'bin', 'nx.js');
  await runOrThrow(process.execPath, [nx, 'run-many', '--target=build', '--outputStyle=static'], {
    cwd: dir,
    env,
  });
  mkdirSync(finishedMark);
  return dir;
}
