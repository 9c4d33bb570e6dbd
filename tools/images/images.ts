import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildAll } from '../dev/build.ts';
import { Failure, runMain } from '../dev/failure.ts';
import { readSettings, stateDirHash } from '../dev/settings.ts';
import { provideBaseImages, pullBaseImages } from './substitutes.ts';
import { buildImages } from './build-images.ts';
import { type Engine, findEngine, PrivateEngine } from './engine.ts';
import { verifyImages } from './verify-images.ts';

const help = `npm run images: builds the container images of the suite, with an engine that responds (Docker or compatible).

  npm run images                  build the images, and write the software bill of each into dist/images
  npm run images -- --verify      then start the whole suite from them (deploy/compose.yaml), and run the demo against it
  npm run images -- --engine      use a private engine: install it from Debian's packages if it is missing (as root), make
                                  substitutes for base images that cannot be pulled, and remove everything at the end
  npm run images -- --verify --if-possible
                                  use the engine that responds and has Compose and the base images, or else a private one;
                                  where neither is possible, say why, with exit status 0 (CI)
  npm run images -- --built       put the deployable folders that dist/apps already has into the images
  npm run images -- --keep        do not delete the data of the private engine, so that the next run is faster
  npm run images -- --tag TAG     tag of the images (default: local)`;

const say = (line: string): void => console.log(line);

async function main(): Promise<number> {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      verify: flag,
      engine: flag,
      built: flag,
      keep: flag,
      'if-possible': flag,
      tag: { type: 'string', default: 'local' },
      help: { ...flag, short: 'h' },
    },
  });
  if (values.help) {
    say(help);
    return 0;
  }
  const found = values.engine ? undefined : await findEngine();
  if (found !== undefined && (!values['if-possible'] || (await isSufficient(found)))) {
    await work(found, values);
    return 0;
  }
  if (!values.engine && !values['if-possible']) {
    say(
      'No container engine responds. Start one, set DOCKER_HOST, or start a private one: npm run images -- --engine',
    );
    return 1;
  }
  const own = new PrivateEngine(join('/tmp', `fulfilment-engine-${stateDirHash(readSettings())}`));
  const stop = (): Promise<void> => own.stop(values.keep);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void stop().finally(() => process.exit(130)));
  try {
    await own.start(say);
  } catch (error) {
    await stop();
    if (!values['if-possible'] || !(error instanceof Failure)) throw error;
    say(
      `Container images: NOT VERIFIED, because this machine cannot run a container engine: ${error.message}`,
    );
    return 0;
  }
  try {
    await work(own.engine, values);
  } finally {
    await stop();
    say(values.keep ? 'The private engine is stopped; its data stays.' : 'The private engine is removed.');
  }
  return 0;
}

/** Whether an engine of the machine can run the suite, without substitutes among its images. */
async function isSufficient(engine: Engine): Promise<boolean> {
  return (await engine.hasCompose()) && (await pullBaseImages(engine, say)).length === 0;
}

async function work(
  engine: Engine,
  {
    verify,
    built: isBuilt,
    tag,
  }: { readonly verify: boolean; readonly built: boolean; readonly tag: string },
): Promise<void> {
  const timed = async (title: string, run: () => Promise<unknown>): Promise<void> => {
    const startedAtMs = performance.now();
    say(title);
    await run();
    say(`  ✓ ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`);
  };
  say(`Container engine: ${engine.description}`);
  await timed('Base images', () => provideBaseImages(engine, say));
  if (!isBuilt) await timed('Build', buildAll);
  await timed('Images', () => buildImages(engine, { tag, isBuilt }, say));
  if (!verify) return;
  await timed('The suite in containers', () => verifyImages(engine, tag, say));
  say(`Container images: VERIFIED with ${engine.description}.`);
}

runMain(main, help);
