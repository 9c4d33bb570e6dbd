import { runMain } from './failure.ts';
import { readSettings } from './settings.ts';
import { stopSuite } from './stop-suite.ts';

runMain(async () => {
  const wasRunning = await stopSuite(readSettings().stateDir);
  console.log(wasRunning ? 'The suite is stopped.' : 'No suite is running.');
});
