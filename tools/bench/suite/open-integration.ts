import type { Stack } from '../../dev/state/stack-file.ts';
import { ReceiverProcess } from '../webhooks/receiver-process.ts';
import { Integration } from './integration.ts';

/**
 * Starts a receiver of webhooks, and signs in as a merchant's app with a subscription for it, and as the
 * dashboard of its creator. The caller closes the integration and then stops the receiver.
 * @param start starts the receiver, which is stopped if the integration cannot be opened
 */
export async function openIntegration(
  stack: Stack,
  start = () => ReceiverProcess.start(),
): Promise<{ integration: Integration; receiver: ReceiverProcess }> {
  const receiver = await start();
  try {
    return { integration: await Integration.open(stack, receiver), receiver };
  } catch (error) {
    await receiver.stop();
    throw error;
  }
}
