import { operate } from '../ops/operate.ts';
import { readOperatorAccess } from '../ops/operator-access.ts';

/** `npm run -s ops -- order ship ORDER …`: waits until the warehouse's message is applied. */
export async function shipWithOps(orderId: string): Promise<string> {
  const { type, outcome } = await operate(await readOperatorAccess(), 'store-api', [
    ...['order', 'ship', orderId, '--carrier', 'Royal Mail', '--tracking-number', 'TEST0001'],
    ...['--tracking-url', 'https://track.example/TEST0001'],
  ]);
  return `${String(type)} ${String(outcome)}`;
}
