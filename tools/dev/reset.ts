import { endSuite } from './end-suite.ts';
import { runMain } from './failure.ts';
import { readSettings } from './settings.ts';
import { wipeState } from './wipe-state.ts';

async function reset(): Promise<void> {
  const settings = readSettings();
  await endSuite(settings.stateDir);
  await wipeState(settings);
  console.log('The suite is stopped and its data is deleted.');
  if (settings.externalUrls.redis !== undefined || settings.externalUrls.rabbitmq !== undefined) {
    console.log('Data in the Redis and RabbitMQ given by the environment is kept.');
  }
}

runMain(reset);
