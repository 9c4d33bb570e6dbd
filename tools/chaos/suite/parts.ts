import { LogFiles } from '../../dev/output/logs.ts';
import { say } from '../../dev/output/progress.ts';
import { reasonOf } from '../../dev/failure.ts';
import { ProcessPart, type ProcessPlan } from '../../dev/supervisor/process-part.ts';
import { Supervisor } from '../../dev/supervisor/supervisor.ts';

/** Starts supervised processes, and stops them at the end. After a killed run, the next run stops them. */
export class Parts {
  private readonly supervisor: Supervisor;
  private readonly logs: LogFiles;
  private isEnding = false;

  constructor(stateDir: string) {
    this.supervisor = new Supervisor(stateDir);
    this.logs = new LogFiles(stateDir);
  }

  get accessLog(): string {
    return this.logs.file('gateway-access');
  }

  async start(...plans: readonly ProcessPlan[]): Promise<ProcessPart[]> {
    const parts = plans.map(
      (plan) =>
        new ProcessPart(plan, {
          line: (name, line) => this.logs.write(name, line),
          notice: (name, text) => this.logs.write('chaos', `${name} ${text}`),
          changed: () => {
            if (!this.isEnding) this.supervisor.saveProcesses();
          },
        }),
    );
    await this.supervisor.startLayer(parts);
    return parts;
  }

  async stop(): Promise<void> {
    this.isEnding = true;
    await this.supervisor.stopAll((name, error) => say(`${name} did not stop: ${reasonOf(error)}`));
    await this.logs.close();
  }
}
