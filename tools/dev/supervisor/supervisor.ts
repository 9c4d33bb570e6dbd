import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../failure.ts';
import type { Part, PartStatus, Verb } from './part.ts';
import { signalTree, startOf } from './process-tree.ts';

const leftoversSchema = z.array(z.object({ name: z.string(), pid: z.number(), started_at: z.string() }));

/** Everything that runs, in the layers in which it was started. */
export class Supervisor {
  private readonly layers: (readonly Part[])[] = [];
  private readonly processesFile: string;

  constructor(stateDir: string) {
    this.processesFile = join(stateDir, 'processes.json');
  }

  /** Ends what a supervisor that was killed has left running. A pid that somebody else has since got is left alone. */
  async endLeftovers(): Promise<string[]> {
    if (!existsSync(this.processesFile)) return [];
    const leftovers = leftoversSchema
      .catch([])
      .parse(parseOrNothing(readFileSync(this.processesFile, 'utf8')));
    rmSync(this.processesFile);
    const alive = leftovers.filter(({ pid, started_at }) => startOf(pid) === started_at);
    for (const { pid } of alive) signalTree(pid, 'SIGKILL');
    for (const { pid } of alive) while (startOf(pid) !== undefined) await sleep(20); // its ports are free then
    return alive.map(({ name }) => name);
  }

  /** Starts parts that do not need each other; what they stand on was started before. */
  async startLayer(parts: readonly Part[]): Promise<void> {
    this.layers.push(parts);
    await Promise.all(parts.map((part) => part.start()));
  }

  status(): PartStatus[] {
    return this.parts.filter((part) => !part.hidden).map((part) => part.status());
  }

  async act(verb: Verb, name: string): Promise<PartStatus> {
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

  /** What was started last is stopped first. One that cannot be stopped does not keep the others. */
  async stopAll(failed: (name: string, error: unknown) => void): Promise<void> {
    for (const layer of this.layers.toReversed()) {
      await Promise.all(layer.map((part) => part.stop().catch((error: unknown) => failed(part.name, error))));
    }
    rmSync(this.processesFile, { force: true });
  }

  private get parts(): Part[] {
    return this.layers.flat();
  }

  /** Kept on disk so that even after SIGKILL of this process the next start can clean up. */
  rememberProcesses(): void {
    const rows = this.parts.flatMap((part) => {
      const { name, pid } = part.status();
      return pid === null ? [] : [{ name, pid, started_at: startOf(pid) ?? '' }];
    });
    try {
      writeFileSync(this.processesFile, JSON.stringify(rows));
    } catch {
      // The directory is gone or full. That must not end the one process that still knows what runs.
    }
  }
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
