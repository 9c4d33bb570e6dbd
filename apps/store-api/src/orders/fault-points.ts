import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type StoreApiSettings } from '../config.js';
import type { FaultPoint } from './fault-point.rules.js';

/** Where a test may have the process die, to prove that what it was doing is finished by others. Never in production: the settings refuse it. */
@Injectable()
export class FaultPoints {
  constructor(@Inject(CONFIG) private readonly config: Pick<StoreApiSettings, 'FAULT_POINT'>) {}

  /** Ends the process as a power cut would, without a line of its own running after, when this is the point it was told. */
  pass(point: FaultPoint): void {
    if (point === this.config.FAULT_POINT) process.kill(process.pid, 'SIGKILL');
  }
}
