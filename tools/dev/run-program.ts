import { spawn } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { Failure } from './failure.ts';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly user?: UserIds;
  /** Sends SIGTERM to the program after this time; by default never. */
  readonly timeoutMs?: number;
  /** Keeps the program running when the suite stops: a package installation must not be interrupted. */
  readonly uninterrupted?: boolean;
  /** Makes `stopRunningPrograms` wait for its end, because it removes what it created. */
  readonly cleansUp?: boolean;
  /** Keeps the input of the program open until the promise resolves. Without it, there is no input. */
  readonly inputEnds?: Promise<void>;
  /** Called with each line of output. */
  readonly onLine?: (line: string) => void;
}

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

export interface ProcessResult {
  readonly code: number;
  readonly output: string;
}

/** The status of a program that could not be started, as a shell reports it. */
export const exitCodeNotStarted = 127;
/** The status of an interrupted program, as a shell reports it: 128 + SIGINT (2). */
export const exitCodeInterrupted = 130;

const running = new Set<number>();
const cleaningUp = new Set<Promise<ProcessResult>>();
process.once('exit', endRunning);

/** Stops the programs of `runProgram` with their children. Resolves when those with `cleansUp` have ended. */
export async function stopRunningPrograms(): Promise<void> {
  endRunning();
  await Promise.all(cleaningUp);
}

/** Runs a program in a separate process group. Does not reject for a non-zero exit status. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<ProcessResult> {
  const result = start(program, args, options);
  if (options.cleansUp === true) {
    cleaningUp.add(result);
    void result.then(() => cleaningUp.delete(result));
  }
  return result;
}

function start(program: string, args: readonly string[], options: RunOptions): Promise<ProcessResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env,
      uid: options.user?.uid,
      gid: options.user?.gid,
      stdio: [options.inputEnds === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true,
      timeout: options.timeoutMs,
    });
    void options.inputEnds?.then(() => child.stdin?.end());
    const { pid } = child;
    if (pid !== undefined && options.uninterrupted !== true) running.add(pid);
    const chunks: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
      if (options.onLine !== undefined) eachLine(stream, options.onLine);
    }
    const end = (code: number, error = ''): void => {
      if (pid !== undefined) running.delete(pid);
      resolve({ code, output: chunks.join('') + error });
    };
    child.once('error', (error) => end(exitCodeNotStarted, error.message));
    child.once('close', (code) => end(code ?? 1));
  });
}

/** Runs a program that must succeed. @throws Failure with the end of its output */
export async function runOrThrow(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { code, output } = await runProgram(program, args, options);
  if (code !== 0) {
    throw new Failure(`${program} ${args.join(' ')} ended with status ${code}.\n${lastLines(output)}`);
  }
  return output;
}

export function lastLines(text: string, count = 30): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

function endRunning(): void {
  for (const pid of running) {
    try {
      process.kill(-pid, 'SIGTERM');
    } catch {
      // It has already ended.
    }
  }
}

/**
 * Calls back with each line of a stream of text. node:readline would also split at U+2028 and U+2029, which
 * JSON does not escape.
 */
export function eachLine(input: Readable, onLine: (line: string) => void): void {
  let rest = '';
  input.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line.replace(/\r$/, ''));
  });
  input.once('end', () => {
    if (rest !== '') onLine(rest);
  });
}

/** Folders of server programs that are often missing in PATH. */
const serverFolders = ['/usr/sbin', '/usr/local/sbin', '/sbin', '/opt/homebrew/bin', '/usr/local/bin'];

/** Finds an executable in the extra folders, then in PATH, then in the usual folders of servers. */
export function findProgram(name: string, extraFolders: readonly string[] = []): string | undefined {
  const folders = [...extraFolders, ...(process.env.PATH ?? '').split(delimiter), ...serverFolders];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Names in a folder; empty if it does not exist. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
