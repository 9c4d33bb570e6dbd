/**
 * A program: a replica that kills itself at each message with the id KILLER, as when it runs out of memory.
 * Environment: DATABASE_URL, RABBITMQ_URL, RABBITMQ_NAMESPACE, QUEUE, KILLER.
 */
import { z } from 'zod';
import { isMessageQueue } from '../index.js';
import { startReplica } from './effects-replica.js';

const environment = z
  .object({
    DATABASE_URL: z.string(),
    RABBITMQ_URL: z.string(),
    RABBITMQ_NAMESPACE: z.string(),
    QUEUE: z.string().refine(isMessageQueue),
    KILLER: z.string(),
  })
  .parse(process.env);

await startReplica({
  databaseUrl: environment.DATABASE_URL,
  url: environment.RABBITMQ_URL,
  namespace: environment.RABBITMQ_NAMESPACE,
  queue: environment.QUEUE,
  onHandle: (_, message) => {
    if (message.id === environment.KILLER) process.kill(process.pid, 'SIGKILL');
  },
});
