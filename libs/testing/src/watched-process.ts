import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Ends the program with SIGTERM when the standard input closes, and deletes its directory. */
const watched = `"$@" & program=$!; read -r _; kill -TERM "$program"; wait "$program"; rm -rf "$PROGRAM_DIR"`;
/** PATH, and the folders in which Debian and Homebrew install nginx. */
const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin:/usr/local/bin`;

/**
 * Starts a program that ends with this process, even if this process is killed.
 * @param dir directory of its files, deleted at the end
 * @returns a function that ends the program
 */
export function watchedProcess(dir: string, command: readonly string[]): () => Promise<void> {
  const child = spawn('sh', ['-c', watched, 'watched', ...command], {
    env: { PATH: path, PROGRAM_DIR: dir },
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true, // Ctrl-C in a terminal must only reach the tests, which end the program
  });
  const ended = once(child, 'exit');
  return async () => {
    child.stdin.end();
    await ended;
  };
}
