import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { buildAll } from '../dev/build.ts';
import { Failure, runMain } from '../dev/failure.ts';
import { Progress, say } from '../dev/output/progress.ts';
import { stopRunningPrograms } from '../dev/run-program.ts';
import { readSettings, stateDirHash } from '../dev/settings.ts';
import { stopOnSignal } from '../dev/stop-on-signal.ts';
import { provideBaseImages, pullBaseImages } from './substitutes.ts';
import { buildImages } from './build-images.ts';
import { type Engine, findEngine, PrivateEngine } from './engine.ts';
import { removeVerificationProject, verifyImages } from './verify-images.ts';

const help = `npm run images: builds the container images of the suite, with an engine that responds (Docker or compatible).

  npm run images                  build the images, and write the SBOM of each app into dist/images
  npm run images -- --verify      then start the whole suite from them (deploy/compose.yaml), and run the demo against it
  npm run images -- --engine      use a private engine: install it from Debian's packages if it is missing (as root), make
                                  substitutes for base images that cannot be pulled, and remove everything at the end
  npm run images -- --verify --if-possible
                                  use the engine that responds and has Compose and the base images, or else a private one;
                                  where neither is possible, say why, with exit status 0 (CI)
  npm run images -- --built       put the deployable folders that dist/apps already has into the images
  npm run images -- --after-input start the suite only when the input has ended, and stop if that then takes too long
  npm run images -- --keep        do not delete the data of the private engine, so that the next run is faster
  npm run images -- --tag TAG     tag of the images (default: local)`;

/** Several times the usual duration. If the engine hangs, the verification fails before CI's time limit. */
const maxSecondsAfterInput = 240;

async function main(): Promise<number> {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      verify: flag,
      engine: flag,
      built: flag,
      'after-input': flag,
      keep: flag,
      'if-possible': flag,
      tag: { type: 'string', default: 'local' },
    },
  });
  const options = {
    isBuilt: values.built,
    tag: values.tag,
    verifyAfter: values['after-input'] ? inputEnd() : Promise.resolve(),
    includesVerification: values.verify,
  };
  const runningEngine = values.engine ? undefined : await findEngine();
  if (runningEngine !== undefined && (!values['if-possible'] || (await isSufficient(runningEngine)))) {
    removeOnSignal(() => removeVerificationProject(runningEngine));
    await buildAndVerify(runningEngine, options);
    if (values.verify) reportVerified(runningEngine);
    return 0;
  }
  if (!values.engine && !values['if-possible']) {
    say(
      'No container engine responds. Start one, set DOCKER_HOST, or start a private one: npm run images -- --engine',
    );
    return 1;
  }
  await usePrivateEngine(options, {
    keepsData: values.keep,
    acceptsFailedStart: values['if-possible'],
  });
  return 0;
}

async function usePrivateEngine(
  options: ImageOptions,
  { keepsData, acceptsFailedStart }: { readonly keepsData: boolean; readonly acceptsFailedStart: boolean },
): Promise<void> {
  const privateEngine = new PrivateEngine(join('/tmp', `fulfilment-engine-${stateDirHash(readSettings())}`));
  const stop = (): Promise<void> => privateEngine.stop({ keepsData });
  removeOnSignal(stop);
  try {
    await privateEngine.start();
  } catch (error) {
    await stop();
    if (!acceptsFailedStart || !(error instanceof Failure)) throw error;
    say(error.message);
    say('Container images: NOT VERIFIED, because no container engine can run here; the reason is above.');
    return;
  }
  try {
    await buildAndVerify(privateEngine.engine, options);
  } finally {
    await stop();
    say(keepsData ? 'The private engine is stopped; its data stays.' : 'The private engine is removed.');
  }
  if (options.includesVerification) reportVerified(privateEngine.engine);
}

/** At a signal, ends the running programs, and then removes what they use. */
function removeOnSignal(remove: () => Promise<unknown>): void {
  stopOnSignal(async () => {
    say('Interrupted; removing what was started.');
    await stopRunningPrograms();
    await remove();
  });
}

function reportVerified({ description }: Engine): void {
  say(`Container images: VERIFIED with ${description}.`);
}

/** Whether an engine of the machine can run the suite, without substitutes among its images. */
async function isSufficient(engine: Engine): Promise<boolean> {
  return (await engine.hasCompose()) && (await pullBaseImages(engine)).length === 0;
}

/** Resolves when the input has ended, and from then on limits the time of this process. */
async function inputEnd(): Promise<void> {
  await finished(process.stdin.resume());
  const stop = (): void => {
    say(`The verification takes more than ${maxSecondsAfterInput} s.`);
    process.kill(process.pid, 'SIGTERM');
  };
  setTimeout(stop, maxSecondsAfterInput * 1_000).unref();
}

interface ImageOptions {
  /** Whether dist/apps has the deployable folders already. */
  readonly isBuilt: boolean;
  readonly tag: string;
  /** Whether the suite is started from the images, when `verifyAfter` has resolved. */
  readonly includesVerification: boolean;
  readonly verifyAfter: Promise<void>;
}

async function buildAndVerify(engine: Engine, options: ImageOptions): Promise<void> {
  const progress = new Progress();
  say(`Container engine: ${engine.description}`);
  await progress.step('Base images', () => provideBaseImages(engine));
  if (!options.isBuilt) await progress.step('Build', buildAll);
  await progress.step('Images', () => buildImages(engine, options));
  if (!options.includesVerification) return;
  await options.verifyAfter;
  await progress.step('The suite in containers', () => verifyImages(engine, options.tag));
}

runMain(main, help);
