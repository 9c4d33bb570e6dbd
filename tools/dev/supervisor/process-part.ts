import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../failure.ts';
import { eachLine, exitCodeNotStarted, type UserIds } from '../run-program.ts';
import type { PartStatus } from './part.ts';
import { signalTree } from './process-tree.ts';

export interface ProcessPlan {
  readonly name: string;
  readonly kind: PartStatus['kind'];
  /** Whether the status omits it, because it only serves another part. */
  readonly hidden?: boolean;
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user?: UserIds;
  readonly stopSignal?: NodeJS.Signals;
  readonly stopTimeoutMs?: number;
  readonly readyTimeoutMs?: number;
  /** Runs before each start, for example to remove the lock file of a killed server. */
  readonly prepare?: () => Promise<void>;
  /** Whether it is ready. A rejection means no. */
  readonly ready: () => Promise<boolean>;
  /** How to kill, pause and resume a container, which signals to this process do not reach. */
  readonly signalOverrides?: Readonly<Record<'kill' | 'pause' | 'resume', () => Promise<void>>>;
}

export interface PartEvents {
  /** Called with each line of output. */
  readonly line: (part: Pick<ProcessPlan, 'name' | 'kind'>, line: string) => void;
  /** Called with notices for the terminal. */
  readonly notice: (name: string, text: string) => void;
  /** Called when the set of running processes changed. */
  readonly changed: () => void;
}

const probeIntervalMs = 100;
const defaultReadyTimeoutMs = 60_000;
const defaultStopTimeoutMs = 10_000;
const [minRestartDelayMs, maxRestartDelayMs] = [500, 5_000];
/** A process that ran this long was healthy, so its next restart has the minimum delay. */
const healthyAfterMs = 30_000;
/** Number of the last lines of output that the error of a failed start shows. */
const shownLineCount = 15;

/** The failure of a start during which `stop` was called. */
class StoppedDuringStart extends Failure {}

/** A supervised process in a separate group. Restarts it when it dies unexpectedly. */
export class ProcessPart {
  readonly name: string;
  readonly hidden: boolean;
  private readonly plan: ProcessPlan;
  private readonly events: PartEvents;
  private child: ChildProcess | undefined;
  private spawning: Promise<void> | undefined;
  private state: PartStatus['state'] = 'stopped';
  /** Whether the current process has been ready. */
  private wasReady = false;
  private spawnedAtMs = 0;
  private restarts = 0;
  private earlyDeaths = 0;
  private restartTimer: NodeJS.Timeout | undefined;
  private lastLines: string[] = [];
  /** Resolves when the current process is ready for the first time or has ended. */
  private startOutcome: Promise<'ready' | 'ended'> = Promise.resolve('ended');

  constructor(plan: ProcessPlan, events: PartEvents) {
    this.plan = plan;
    this.events = events;
    this.name = plan.name;
    this.hidden = plan.hidden ?? false;
  }

  status(): PartStatus {
    const alive = this.child !== undefined;
    return {
      name: this.name,
      kind: this.plan.kind,
      state: this.state,
      pid: this.child?.pid ?? null,
      uptime_seconds: alive ? Math.floor((Date.now() - this.spawnedAtMs) / 1000) : null,
      restarts: this.restarts,
    };
  }

  /** Starts it and waits until it is ready. */
  async start(): Promise<void> {
    clearTimeout(this.restartTimer);
    if (this.state === 'stopping') await this.stop();
    if (this.state === 'paused') await this.resume();
    if (this.child === undefined) await this.spawnOnce();
    const timeoutMs = this.plan.readyTimeoutMs ?? defaultReadyTimeoutMs;
    const late = sleep(timeoutMs, 'late' as const, { ref: false });
    const outcome = await Promise.race([this.startOutcome, late]);
    if (outcome === 'ready') return;
    const problem =
      outcome === 'late' ? `did not become ready within ${timeoutMs / 1000} s` : 'exited during start-up';
    throw new Failure(`${this.name} ${problem}:\n${this.lastLines.join('\n')}`);
  }

  /** Stops it gracefully, or by force after a timeout. It is not restarted. */
  async stop(): Promise<void> {
    clearTimeout(this.restartTimer);
    const child = this.child;
    if (child?.pid === undefined) {
      this.state = 'stopped';
      return;
    }
    const wasPaused = this.state === 'paused';
    this.state = 'stopping';
    const exit = once(child, 'exit');
    if (wasPaused) await this.signal('resume', 'SIGCONT');
    // Signal only the root: PostgreSQL and nginx stop their children in order.
    child.kill(this.plan.stopSignal ?? 'SIGTERM');
    const inTime = await Promise.race([
      exit.then(() => true),
      sleep(this.plan.stopTimeoutMs ?? defaultStopTimeoutMs, false, { ref: false }),
    ]);
    if (!inTime) {
      this.events.notice(this.name, 'did not stop in time and is killed.');
      signalTree(child.pid, 'SIGKILL');
      await exit;
    }
    this.state = 'stopped';
  }

  /** Sends SIGKILL to all of its processes; it is then restarted as after a crash. */
  async kill(): Promise<void> {
    const child = this.child;
    if (child === undefined) throw new Failure(`${this.name} is not running.`);
    const exit = once(child, 'exit');
    await this.signal('kill', 'SIGKILL');
    await exit;
  }

  async pause(): Promise<void> {
    this.rejectWhileStopping();
    await this.signal('pause', 'SIGSTOP');
    this.state = 'paused';
  }

  async resume(): Promise<void> {
    this.rejectWhileStopping();
    await this.signal('resume', 'SIGCONT');
    this.state = this.wasReady ? 'running' : 'starting';
  }

  private async signal(verb: 'kill' | 'pause' | 'resume', signal: NodeJS.Signals): Promise<void> {
    if (this.child?.pid === undefined) throw new Failure(`${this.name} is not running.`);
    if (this.plan.signalOverrides === undefined) signalTree(this.child.pid, signal);
    else await this.plan.signalOverrides[verb]();
  }

  private rejectWhileStopping(): void {
    if (this.state === 'stopping') throw new Failure(`${this.name} is being stopped.`);
  }

  /** Spawns one process, even if starts are concurrent. */
  private async spawnOnce(): Promise<void> {
    // An earlier start, which was stopped, may still be in `prepare`.
    while (this.spawning !== undefined && this.state !== 'starting')
      await this.spawning.catch(() => undefined);
    this.spawning ??= this.spawn().finally(() => (this.spawning = undefined));
    await this.spawning;
  }

  private async spawn(): Promise<void> {
    const { plan } = this;
    this.state = 'starting';
    try {
      await plan.prepare?.();
    } catch (error) {
      this.checkNotStopped();
      this.state = 'stopped';
      throw error;
    }
    this.checkNotStopped();
    this.lastLines = [];
    const child = spawn(plan.program, plan.args, {
      cwd: plan.cwd,
      env: plan.env,
      uid: plan.user?.uid,
      gid: plan.user?.gid,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.child = child;
    this.wasReady = false;
    this.spawnedAtMs = Date.now();
    for (const stream of [child.stdout, child.stderr]) eachLine(stream, (line) => this.addLine(line));
    child.once('error', (error) => {
      this.addLine(error.message);
      if (child.pid === undefined) child.emit('exit', exitCodeNotStarted, null);
    });
    child.once('exit', (code, signal) => this.onExit(child, signal ?? `status ${code}`));
    this.startOutcome = this.waitUntilReady(child);
    this.events.changed();
  }

  private checkNotStopped(): void {
    if (this.state !== 'starting') throw new StoppedDuringStart(`${this.name} was stopped during start-up.`);
  }

  private addLine(line: string): void {
    this.lastLines = [...this.lastLines, line].slice(-shownLineCount);
    this.events.line(this.plan, line);
  }

  private onExit(child: ChildProcess, reason: string): void {
    // Processes left in its group must not occupy the port of the next start.
    if (child.pid !== undefined) signalTree(child.pid, 'SIGKILL');
    this.child = undefined;
    this.events.changed();
    if (this.state === 'stopping' || this.state === 'stopped') return;
    this.earlyDeaths = Date.now() - this.spawnedAtMs < healthyAfterMs ? this.earlyDeaths + 1 : 0;
    const delayMs = restartDelayMs(this.earlyDeaths);
    this.state = 'waiting';
    this.events.notice(this.name, `exited (${reason}); restarting in ${delayMs / 1000} s.`);
    this.restartTimer = setTimeout(() => this.restart(), delayMs);
  }

  private restart(): void {
    this.restarts += 1;
    this.start().then(
      () => this.events.notice(this.name, 'is running again.'),
      (error: unknown) => {
        const isStillStarting = this.child !== undefined;
        const willRestart = this.state === 'waiting'; // the process has ended, so `onExit` has set the timer
        if (isStillStarting || willRestart || error instanceof StoppedDuringStart) return;
        this.events.notice(this.name, error instanceof Error ? error.message : String(error));
        this.state = 'waiting';
        this.restartTimer = setTimeout(() => this.restart(), maxRestartDelayMs);
      },
    );
  }

  /** Waits without a timeout, since a service waits for its dependencies. */
  private async waitUntilReady(child: ChildProcess): Promise<'ready' | 'ended'> {
    while (this.child === child) {
      if (await this.plan.ready().catch(() => false)) {
        if (this.child !== child) break;
        this.wasReady = true;
        if (this.state === 'starting') this.state = 'running';
        return 'ready';
      }
      await sleep(probeIntervalMs);
    }
    return 'ended';
  }
}

/** Delay before a restart; doubles with each consecutive early death after the first. */
export function restartDelayMs(earlyDeaths: number): number {
  return Math.min(maxRestartDelayMs, minRestartDelayMs * 2 ** Math.max(0, earlyDeaths - 1));
}
