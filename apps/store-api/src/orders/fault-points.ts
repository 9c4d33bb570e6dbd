import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import type { FaultPoint } from './fault-point.rules.js';

/**
 * Points at which a test kills the process, to prove that another one completes its work. The settings reject
 * them in production.
 */
@Injectable()
export class FaultPoints {
  constructor(@Inject(CONFIG) private readonly config: Pick<StoreApiSettings, 'FAULT_POINT'>) {}

  /** Kills the process at the configured point, as a power cut would: no handler runs. */
  pass(point: FaultPoint): void {
    if (point === this.config.FAULT_POINT) process.kill(process.pid, 'SIGKILL');
  }
}
