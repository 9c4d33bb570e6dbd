import { parseArgs } from 'node:util';
import { startDetached, notifyStarter } from './detached.ts';
import { Failure, reasonOf, runMain } from './failure.ts';
import { readableLine } from './output/log-lines.ts';
import { commandFor, root, readSettings, settingsHelp, type Settings } from './settings.ts';
import { readStack } from './state/stack-file.ts';
import { Suite } from './suite.ts';
import { summary } from './output/summary.ts';
import { control } from './supervisor/control.ts';

const help = `npm start: starts the whole suite on this machine, from a fresh clone.

  npm start                        start the suite and show the logs of its services; Ctrl-C stops it
  npm start -- --detach            start the suite in the background; return when it is ready
  npm start -- --dependencies      start only PostgreSQL, Redis and RabbitMQ; print their URLs
  npm stop                         stop the suite
  npm run reset                    stop the suite and delete its data
  npm run stack -- status          show what is running; also stop, start, restart, kill, pause, resume NAME

PostgreSQL, Redis and RabbitMQ come from the first available source: the URLs below, a Docker engine, programs on
this machine, apt-get (Debian and Ubuntu, as root or with sudo). Stores that the suite starts keep their data in .dev.

${settingsHelp}`;

async function main(): Promise<void> {
  const options = readOptions();
  const settings = readSettings();
  if (await reportRunning(settings)) return;
  if (options.detach && !options.detached) {
    await startDetached(settings, process.argv.slice(2));
    return;
  }
  await runSuite(settings, options);
}

function readOptions() {
  const flag = { type: 'boolean', default: false } as const;
  // `npm start -- --detach` starts a process with --detached.
  return parseArgs({ options: { detach: flag, dependencies: flag, detached: flag } }).values;
}

/** Prints the addresses of the same suite if it is already running. Returns whether it is. */
async function reportRunning(settings: Settings): Promise<boolean> {
  const running = await control(settings.stateDir, 'ping');
  if (running === undefined) return false;
  const port: unknown =
    running.result instanceof Object ? Reflect.get(running.result, 'base_port') : undefined;
  if (port !== settings.basePort) {
    throw new Failure(
      `A suite with the base port ${String(port)} is running in ${settings.stateDir}. To start another one: SUITE_DEV_DIR=.dev/${settings.basePort} SUITE_BASE_PORT=${settings.basePort} npm start`,
    );
  }
  const stop = commandFor(settings.stateDir, 'npm stop');
  const stack = readStack(settings.stateDir);
  if (stack === undefined)
    throw new Failure(
      `A suite in ${settings.stateDir} is starting, or runs only its dependencies. To stop it: ${stop}`,
    );
  console.log(`The suite is already running. Changed settings take effect only after ${stop}.`);
  console.log(summary(stack, { stateDir: settings.stateDir, isForeground: false }).join('\n'));
  return true;
}

async function runSuite(settings: Settings, options: ReturnType<typeof readOptions>): Promise<void> {
  const say = (line: string): void => {
    console.log(line);
    notifyStarter({ line });
  };
  const colours = process.stdout.isTTY && process.env.NO_COLOR === undefined;
  let isReady = false;
  const suite = await Suite.open(settings, {
    say,
    log: (name, line) => {
      if (isReady && !options.detached) console.log(readableLine(name, line, colours));
    },
  });
  stopOnSignals(suite, () => isReady);
  try {
    say(`Starting the suite in ${settings.stateDir.replace(`${root}/`, '')}`);
    await suite.startDependencies({ gateway: !options.dependencies });
    const lines = options.dependencies
      ? addressLines(suite)
      : summary(await suite.startAll(), {
          stateDir: settings.stateDir,
          elapsed: suite.elapsed,
          isForeground: !options.detached,
        });
    for (const line of lines) say(line);
    isReady = true;
    notifyStarter({ ready: true });
  } catch (error) {
    if (!suite.isStopping) {
      process.exitCode = 1;
      console.error(`\n${reasonOf(error)}`);
      notifyStarter({ line: `\n${reasonOf(error)}` });
    }
    await suite.stop();
    process.exit();
  }
}

function addressLines(suite: Suite): string[] {
  return Object.entries(suite.dependencyUrls()).map(([name, url]) => `  ${name.padEnd(9)} ${url}`);
}

/**
 * Stops the suite in order after the first signal, or if the terminal of `--detach` is closed before the
 * suite is ready. Ends this process when the suite is stopped.
 */
function stopOnSignals(suite: Suite, isReady: () => boolean): void {
  const stop = (): void => {
    if (suite.isStopping) return;
    console.log('\nStopping …');
    void suite.stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  process.on('disconnect', () => {
    if (!isReady()) stop(); // the waiting terminal is closed
  });
  // A closed terminal or pipe must not crash the suite.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  suite.onceStopped(() => {
    console.log('Stopped.');
    process.exit();
  });
}

runMain(main, help);
