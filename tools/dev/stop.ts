import { reasonOf } from './failure.ts';
import { readSettings } from './settings.ts';
import { endSuite } from './end-suite.ts';

endSuite(readSettings().stateDir).then(
  (ended) => console.log(ended ? 'The suite is stopped.' : 'No suite is running.'),
  (error: unknown) => {
    console.error(reasonOf(error));
    process.exit(1);
  },
);
