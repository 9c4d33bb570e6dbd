import { messages } from '@fulfilment/contracts';
import { report } from '../ops/report.ts';
import { openSuite } from '../ops/running-suite.ts';

/**
 * Publishes the warehouse's message and waits until it is applied, like `npm run -s ops -- order ship ORDER
 * …`.
 */
export async function shipWithOps(orderId: string): Promise<string> {
  const shipped = messages.fulfilmentShipped.make(
    {
      order_id: orderId,
      carrier: 'Royal Mail',
      tracking_number: 'TEST0001',
      tracking_url: 'https://track.example/TEST0001',
    },
    { occurredAt: new Date() },
  );
  const { outcome } = await report(await openSuite(), shipped);
  return `fulfilment.shipped ${String(outcome)}`;
}
