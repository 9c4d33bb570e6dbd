import { resetSuite } from './end-suite.ts';
import { runMain } from './failure.ts';
import { readSettings } from './settings.ts';

async function reset(): Promise<void> {
  const settings = readSettings();
  await resetSuite(settings);
  console.log('The suite is stopped and its data is deleted.');
  if (settings.externalUrls.redis !== undefined || settings.externalUrls.rabbitmq !== undefined) {
    console.log('Data in the Redis and RabbitMQ given by the environment is kept.');
  }
}

runMain(reset);
