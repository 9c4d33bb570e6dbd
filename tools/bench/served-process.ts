import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../dev/failure.ts';
import { eachLine } from '../dev/run-program.ts';
import { root, toolArguments } from '../dev/settings.ts';
import { treeCpuMs } from '../dev/supervisor/process-tree.ts';
import type { PausableServer } from './rounds.ts';

const portLine = z.object({ port: z.number() });
const readyTimeoutMs = 60_000;
const pollIntervalMs = 20;
/** Number of the last lines of output that the error of an ended process shows. */
const shownLineCount = 20;

/** Running processes, which are killed at the exit, so that they do not outlive a failed benchmark. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A server under measurement, in a separate process, which ends with this one. */
export class ServedProcess implements PausableServer {
  private readonly child: ChildProcess;
  private readonly startedAtMs = performance.now();
  private printedFirst: string | undefined;
  private readonly lastLines: string[] = [];

  /** Starts a program of the benchmarks. @param file its path in tools/bench */
  static script(file: string, env: Readonly<Record<string, string>> = {}, ...args: string[]): ServedProcess {
    return new ServedProcess(toolArguments(`bench/${file}`, ...args), env);
  }

  constructor(args: readonly string[], env: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, args, {
      cwd: root,
      env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(this.child);
    this.child.once('exit', () => running.delete(this.child));
    for (const stream of [this.child.stdout, this.child.stderr]) {
      if (stream === null) continue;
      eachLine(stream, (line) => {
        if (stream === this.child.stdout) this.printedFirst ??= line;
        this.lastLines.push(line);
        if (this.lastLines.length > shownLineCount) this.lastLines.shift();
      });
    }
  }

  /** Waits for the first line that it prints, and returns it. */
  async waitForFirstLine(): Promise<string> {
    return this.poll(() => Promise.resolve(this.printedFirst));
  }

  /** Returns the origin of a server that prints its port as JSON. */
  async origin(): Promise<string> {
    return `http://127.0.0.1:${portLine.parse(JSON.parse(await this.waitForFirstLine())).port}`;
  }

  /** Waits until a GET of the URL succeeds. @returns seconds since the process started */
  async waitUntilReady(url: string): Promise<number> {
    return this.poll(async () => {
      const response = await fetch(url, { signal: AbortSignal.timeout(readyTimeoutMs) }).catch(
        () => undefined,
      );
      await response?.body?.cancel();
      return response?.ok === true ? (performance.now() - this.startedAtMs) / 1000 : undefined;
    });
  }

  /**
   * Polls until the function returns a value.
   * @throws Failure when the process has ended, or after a minute
   */
  private async poll<Result>(read: () => Promise<Result | undefined>): Promise<Result> {
    const endsAtMs = performance.now() + readyTimeoutMs;
    while (performance.now() < endsAtMs && this.isRunning()) {
      const result = await read();
      if (result !== undefined) return result;
      await sleep(pollIntervalMs);
    }
    const problem = this.isRunning() ? `is not ready after ${readyTimeoutMs / 1000} s` : 'has ended';
    throw new Failure(`A server under measurement ${problem}.\n${this.lastLines.join('\n')}`);
  }

  /** Peak memory in MB of 1024 kB; undefined if the system does not report it (proc(5), VmHWM). */
  peakMemoryMb(): number | undefined {
    try {
      const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
      const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1];
      return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
    } catch {
      return undefined;
    }
  }

  /** Processor time so far, in ms; undefined if the system does not report it. */
  cpuMs(): number | undefined {
    return this.child.pid === undefined ? undefined : treeCpuMs(this.child.pid);
  }

  pause(): void {
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    if (!this.isRunning()) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    this.resume(); // a paused process does not receive the signal
    await exit;
  }

  private isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }
}
