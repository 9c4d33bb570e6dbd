import { runMain } from './failure.ts';
import { readSettings } from './settings.ts';
import { endSuite } from './end-suite.ts';

runMain(async () => {
  const ended = await endSuite(readSettings().stateDir);
  console.log(ended ? 'The suite is stopped.' : 'No suite is running.');
});
