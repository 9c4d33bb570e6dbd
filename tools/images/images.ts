import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildAll } from '../dev/build.ts';
import { runMain } from '../dev/failure.ts';
import { readSettings, stateDirHash } from '../dev/settings.ts';
import { baseImage } from './base-images.ts';
import { provideBaseImages, pullBaseImages } from './substitutes.ts';
import { buildImages } from './build-images.ts';
import { type Engine, findEngine, PrivateEngine } from './engine.ts';
import { verifyImages } from './verify-images.ts';

const help = `npm run images: builds the container images of the suite, with an engine that responds (Docker or compatible).

  npm run images                  build the images, and write the software bill of each into dist/images
  npm run images -- --verify      then start the whole suite from them (deploy/compose.yaml), and run the demo against it
  npm run images -- --engine      without an engine: start a private one from Debian's packages (as root), build substitutes
                                  for base images that cannot be pulled, and remove everything at the end
  npm run images -- --verify --if-possible
                                  the same where an engine responds that has or can pull the base images; otherwise say
                                  why not, with exit status 0 (CI)
  npm run images -- --keep        do not delete the data of the private engine, so that the next run is faster
  npm run images -- --tag TAG     tag of the images (default: local)`;

const say = (line: string): void => console.log(line);

async function main(): Promise<number> {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      verify: flag,
      engine: flag,
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
  if (values['if-possible']) {
    const obstacle = await obstacleOf(found);
    if (obstacle !== undefined) {
      say(
        `Container images: NOT VERIFIED, because ${obstacle}. With root: npm run images -- --engine --verify`,
      );
      return 0;
    }
  }
  if (found !== undefined) {
    await work(found, values);
    return 0;
  }
  if (!values.engine) {
    say(
      'No container engine responds. Start one, set DOCKER_HOST, or start a private one: npm run images -- --engine',
    );
    return 1;
  }
  const settings = readSettings();
  const own = await PrivateEngine.start(join('/tmp', `fulfilment-engine-${stateDirHash(settings)}`), say);
  const stop = (): Promise<void> => own.stop(values.keep);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void stop().finally(() => process.exit(130)));
  try {
    await work(own.engine, values);
  } finally {
    await stop();
    say(values.keep ? 'The private engine is stopped; its data stays.' : 'The private engine is removed.');
  }
  return 0;
}

/** Why the images cannot be built soon: substitutes for base images take minutes. */
async function obstacleOf(engine: Engine | undefined): Promise<string | undefined> {
  if (engine === undefined) return 'no container engine responds on this machine';
  if (!(await engine.hasCompose())) return 'the engine has no Compose';
  const missing = await pullBaseImages(engine, say);
  return missing.length === 0 ? undefined : `${missing.map(baseImage).join(', ')} cannot be pulled`;
}

async function work(
  engine: Engine,
  options: { readonly verify: boolean; readonly tag: string },
): Promise<void> {
  const timed = async (title: string, run: () => Promise<unknown>): Promise<void> => {
    const startedAtMs = performance.now();
    say(title);
    await run();
    say(`  ✓ ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`);
  };
  say(`Container engine: ${engine.description}`);
  await timed('Base images', () => provideBaseImages(engine, say));
  await timed('Build', buildAll);
  await timed('Images', () => buildImages(engine, options.tag, say));
  if (!options.verify) return;
  await timed('The suite in containers', () => verifyImages(engine, options.tag, say));
  say(`Container images: VERIFIED with ${engine.description}.`);
}

runMain(main, help);
