import { resetSuite } from './stop-suite.ts';
import { runMain } from './failure.ts';
import { readSettings } from './settings.ts';

async function reset(): Promise<void> {
  const settings = readSettings();
  await resetSuite(settings);
  console.log('The suite is stopped and its data is deleted.');
  const { redis, rabbitmq } = settings.externalUrls;
  if (redis !== undefined) console.log('Data in the Redis given by the environment is kept.');
  if (rabbitmq !== undefined) console.log('Data in the RabbitMQ given by the environment is kept.');
}

runMain(reset);
