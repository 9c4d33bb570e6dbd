import { operate } from '../ops/operate.ts';
import { readOperatorAccess } from '../ops/operator-access.ts';

/** Runs `npm run -s ops -- order ship ORDER …`, which waits until the warehouse's message is applied. */
export async function shipWithOps(orderId: string): Promise<void> {
  await operate(await readOperatorAccess(), 'store-api', [
    ...['order', 'ship', orderId, '--carrier', 'Royal Mail', '--tracking-number', 'TEST0001'],
    ...['--tracking-url', 'https://track.example/TEST0001'],
  ]);
}
