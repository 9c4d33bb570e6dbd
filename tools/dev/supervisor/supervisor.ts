import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../failure.ts';
import type { PartStatus, Verb } from './part.ts';
import { type PartEvents, ProcessPart, type ProcessPlan } from './process-part.ts';
import { signalTree, processStartTime } from './process-tree.ts';

const pollIntervalMs = 20;
const leftoversSchema = z.array(z.object({ name: z.string(), pid: z.number(), started_at: z.string() }));

/** Starts and stops parts. Keeps all that it started, also those that have been stopped since. */
export class Supervisor {
  /** In the order of their start. */
  private readonly layers: (readonly ProcessPart[])[] = [];
  private readonly processesFile: string;
  private readonly events: PartEvents;
  private isStopping = false;

  constructor(stateDir: string, events: Omit<PartEvents, 'changed'>) {
    this.processesFile = processesFileIn(stateDir);
    const changed = (): void => {
      if (!this.isStopping) this.saveProcesses();
    };
    this.events = { ...events, changed };
  }

  async start(plan: ProcessPlan): Promise<ProcessPart> {
    const part = new ProcessPart(plan, this.events);
    await this.startParts([part]);
    return part;
  }

  /** Starts independent parts concurrently. Their dependencies must already run. */
  async startLayer(plans: readonly ProcessPlan[]): Promise<ProcessPart[]> {
    const parts = plans.map((plan) => new ProcessPart(plan, this.events));
    await this.startParts(parts);
    return parts;
  }

  private async startParts(parts: readonly ProcessPart[]): Promise<void> {
    this.layers.push(parts);
    await Promise.all(parts.map((part) => part.start()));
  }

  status(): PartStatus[] {
    return this.parts.filter((part) => !part.hidden).map((part) => part.status());
  }

  async run(verb: Verb, name: string): Promise<PartStatus> {
    const part = this.parts.find((candidate) => candidate.name === name && !candidate.hidden);
    if (part === undefined) {
      throw new Failure(
        `Unknown name "${name}". Names: ${this.status()
          .map((row) => row.name)
          .join(', ')}.`,
      );
    }
    if (verb === 'restart') {
      await part.stop();
      await part.start();
    } else {
      await part[verb]();
    }
    return part.status();
  }

  /** Stops the parts in reverse order. A failure does not prevent stopping the others. */
  async stopAll(onFailure: (name: string, error: unknown) => void): Promise<void> {
    this.isStopping = true;
    for (const layer of this.layers.toReversed())
      await Promise.all(
        layer.map((part) => part.stop().catch((error: unknown) => onFailure(part.name, error))),
      );
    rmSync(this.processesFile, { force: true });
  }

  private get parts(): ProcessPart[] {
    return this.layers.flat();
  }

  /** Writes the running processes to disk, so that the next start can end them if this process is killed. */
  private saveProcesses(): void {
    const rows = this.parts.flatMap((part) => {
      const { name, pid } = part.status();
      return pid === null ? [] : [{ name, pid, started_at: processStartTime(pid) ?? '' }];
    });
    try {
      writeFileSync(this.processesFile, JSON.stringify(rows));
    } catch {
      // The directory is removed or full. This process must keep running to stop the other processes.
    }
  }
}

function processesFileIn(stateDir: string): string {
  return join(stateDir, 'processes.json');
}

/** Kills the processes that a killed supervisor left. Ignores pids that other processes have reused. */
export async function killLeftovers(stateDir: string): Promise<string[]> {
  const file = processesFileIn(stateDir);
  const leftovers = readLeftovers(file);
  rmSync(file, { force: true });
  const alive = leftovers.filter(({ pid, started_at }) => processStartTime(pid) === started_at);
  for (const { pid } of alive) signalTree(pid, 'SIGKILL');
  // Waits until they have ended, since their ports are free only then.
  for (const { pid } of alive) while (processStartTime(pid) !== undefined) await sleep(pollIntervalMs);
  return alive.map(({ name }) => name);
}

/** Returns no processes if the file is missing or incomplete. */
function readLeftovers(file: string): z.infer<typeof leftoversSchema> {
  try {
    return leftoversSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return [];
  }
}
