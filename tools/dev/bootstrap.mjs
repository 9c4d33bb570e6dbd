import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

// Runs in a new clone without packages, with Node 20 or later.
const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const modules = join(root, 'node_modules');
const stamp = join(modules, '.installed-for');
const lock = join(root, '.installing');
const maxInstallationMs = 30 * 60_000;
/** A process writes its id into its lock at once, so a lock that stays empty belongs to a dead process. */
const maxEmptyLockMs = 5_000;
const pollIntervalMs = 300;
const minNodeMajor = 20;
const suiteNodeMajor = 24;

/**
 * Installs the node modules unless those of the lock file are installed, then runs the script with Node 24
 * of the packages, or with the installed one where the packages have none. Ends this process with the exit
 * status of the script.
 * @param {string} script a TypeScript file, relative to the root of the repository
 * @param {{ evenIfStale?: boolean, readsBuild?: boolean }} [needs] `evenIfStale`: also run with
 *   the modules of an older lock file; `readsBuild`: the script reads what `npm start` compiles
 */
export async function run(script, { evenIfStale = false, readsBuild = false } = {}) {
  checkNode();
  // During an installation, or after an interrupted one, the modules are incomplete.
  const canUseInstalled = evenIfStale && existsSync(modules) && !existsSync(lock);
  if (!canUseInstalled) await installNodeModules();
  if (readsBuild && !existsSync(join(root, 'libs', 'contracts', 'dist')))
    fail('The suite is not built yet. Start it first: npm start');
  const child = spawn(
    nodeProgram(),
    ['--disable-warning=ExperimentalWarning', join(root, script), ...process.argv.slice(2)],
    {
      stdio: 'inherit',
      env: {
        // Processes start in about two thirds of the time.
        NODE_COMPILE_CACHE: join(modules, '.cache', 'node'),
        ...process.env,
        PATH: `${join(modules, '.bin')}:${process.env.PATH ?? ''}`,
      },
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  stopWithParent(child);
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`Node.js could not be started: ${error.message}`);
      resolve(1);
    });
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? (signal === 'SIGINT' ? 130 : 1)));
  });
  process.exit(code);
}

/** npm's shell does not forward SIGTERM, so end the script when its parent has ended. */
function stopWithParent(child) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill('SIGTERM');
  }, pollIntervalMs);
}

function checkNode() {
  if (nodeMajor() >= minNodeMajor) return;
  fail(
    `Node.js ${minNodeMajor} or newer is required, but this is ${process.version}. See https://nodejs.org/en/download`,
  );
}

function nodeMajor() {
  return Number(process.versions.node.split('.')[0]);
}

/** The stamp is a hash of the lock file and the platform, which determine the modules. */
async function installNodeModules() {
  const expectedStamp = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(process.platform + process.arch)
    .digest('hex');
  const installed = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === expectedStamp;
  if (installed()) return;
  const unlock = await lockInstallation();
  if (installed()) return unlock(); // another command has installed them
  const startedAt = Date.now();
  console.log('Installing the node modules (npm ci) …');
  rmSync(stamp, { force: true });
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, NODE_ENV: 'development' },
  });
  if (npm.status !== 0) {
    unlock();
    fail('npm ci failed; see its output above.');
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, expectedStamp);
  unlock();
  console.log(`Installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/**
 * Waits until no other process installs, and creates the lock file with the id of this process. Removes the
 * lock of an ended process.
 * @returns a function that removes the lock
 */
async function lockInstallation() {
  let isLogged = false;
  while (!createFile(lock)) {
    if (isStale(lock)) removeStaleLock();
    else if (!isLogged) {
      console.log('Another command is installing the node modules; waiting …');
      isLogged = true;
    }
    await sleep(pollIntervalMs);
  }
  return () => rmSync(lock, { force: true });
}

/** Only one waiting process may remove a stale lock, after it has checked that the lock did not change. */
function removeStaleLock() {
  const removing = `${lock}.removing`;
  if (!createFile(removing)) {
    if (isStale(removing)) rmSync(removing, { force: true });
    return;
  }
  if (isStale(lock)) rmSync(lock, { force: true });
  rmSync(removing, { force: true });
}

/** Creates a file with the id of this process. Returns false if the file already exists. */
function createFile(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Whether the process that created the lock has ended or died before it wrote its id. After
 * `maxInstallationMs` the id belongs to another process, since an installation never takes so long.
 */
function isStale(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    const ageMs = Date.now() - statSync(file).mtimeMs;
    return pid > 0 ? !isRunning(pid) || ageMs > maxInstallationMs : ageMs > maxEmptyLockMs;
  } catch {
    return false; // it was removed concurrently
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** The packages contain Node 24 for Linux; other systems use the installed one. */
function nodeProgram() {
  const packaged = join(root, 'node_modules', '.bin', 'node');
  if (existsSync(packaged)) return packaged;
  if (nodeMajor() >= suiteNodeMajor) return process.execPath;
  return fail(
    `On ${process.platform} Node.js ${suiteNodeMajor} or newer is required, but this is ${process.version}. See https://nodejs.org/en/download`,
  );
}

/** @returns {never} */
function fail(reason) {
  console.error(reason);
  process.exit(1);
}
