import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../failure.ts';
import { say } from '../output/progress.ts';
import { findProgram, lastLines, type ProcessResult, runProgram } from '../run-program.ts';

const policyFile = '/usr/sbin/policy-rc.d';
const systemdUnits: Readonly<Record<string, readonly string[]>> = {
  postgresql: ['postgresql.service'],
  'redis-server': ['redis-server.service'],
  'rabbitmq-server': ['rabbitmq-server.service', 'epmd.socket'],
  'nginx-light': ['nginx.service'],
  prometheus: ['prometheus.service'],
};

/** The systemd units that the packages enable. */
export function unitsEnabledBy(packages: readonly string[]): string[] {
  return packages.flatMap((name) => systemdUnits[name] ?? []);
}

/**
 * Returns the prefix of commands that need root: nothing for root, or sudo if it needs no password. Returns
 * undefined if neither is possible, or if this is not Debian.
 */
export async function aptPrefix(): Promise<readonly string[] | undefined> {
  // Some distributions have an apt-get for RPM packages.
  if (findProgram('apt-get') === undefined || findProgram('dpkg') === undefined) return undefined;
  if (process.getuid?.() === 0) return [];
  const sudo = findProgram('sudo');
  if (sudo === undefined) return undefined;
  return (await runProgram(sudo, ['-n', 'true'], { timeoutMs: 5_000 })).code === 0 ? [sudo, '-n'] : undefined;
}

/**
 * Installs the packages that are missing.
 * @param isInstalled a check for each package, by its name
 * @param purpose subject of the error sentence, e.g. 'A private engine'
 */
export async function installMissing(
  isInstalled: Readonly<Record<string, () => boolean>>,
  purpose: string,
): Promise<void> {
  const missing = Object.keys(isInstalled).filter((name) => isInstalled[name]?.() === false);
  if (missing.length === 0) return;
  const prefix = await aptPrefix();
  if (prefix === undefined)
    throw new Failure(`${purpose} needs Debian's packages. Install with:\n  ${aptCommand(missing)}`);
  say(`Installing ${missing.join(', ')} with apt-get, without starting them.`);
  await installDebianPackages(missing, prefix);
}

/** The installation of the packages as a command for a person. */
export function aptCommand(packages: readonly string[]): string {
  return `sudo apt-get install --no-install-recommends ${packages.join(' ')}`;
}

/**
 * Installs packages without starting their servers, which policy-rc.d prevents with exit status 101
 * (https://people.debian.org/~hmh/invokerc.d-policyrc.d-specification.txt). An existing policy is kept.
 * Waits while another command of the suite, or another program, installs packages.
 */
export async function installDebianPackages(
  packages: readonly string[],
  prefix: readonly string[],
): Promise<void> {
  const asRoot = (...command: string[]): Promise<ProcessResult> => {
    const [program = '', ...args] = [...prefix, ...command];
    return runProgram(program, args, {
      uninterrupted: true,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
    });
  };
  const isDisabled = async (unit: string): Promise<boolean> =>
    (await asRoot('systemctl', 'is-enabled', '--quiet', unit)).code !== 0;
  // A unit that is enabled before the installation belongs to the owner of the machine, who wants its server.
  const unitsToDisable: string[] = [];
  if (existsSync('/run/systemd/system'))
    for (const unit of unitsEnabledBy(packages)) if (await isDisabled(unit)) unitsToDisable.push(unit);
  // flock, so that no other command of the suite removes the policy during the installation.
  const installing = await retryWhileLocked(() =>
    asRoot('flock', '/etc/apt', 'sh', '-c', installScript, 'sh', ...packages),
  );
  if (installing.code !== 0) {
    throw new Failure(
      `The packages could not be installed. Try the command manually:\n  ${aptCommand(packages)}\n${lastLines(installing.output)}`,
    );
  }
  for (const unit of unitsToDisable) await asRoot('systemctl', 'disable', unit); // the suite starts its own
}

const installScript = `set -e
if [ ! -e ${policyFile} ]; then
  trap 'rm -f ${policyFile}' EXIT
  printf '#!/bin/sh\\nexit 101\\n' >${policyFile}
  chmod 755 ${policyFile}
fi
apt-get -o DPkg::Lock::Timeout=120 update -qq
apt-get -o DPkg::Lock::Timeout=120 install -y -qq --no-install-recommends --no-remove "$@"`;

/** apt-get itself waits for the lock of dpkg, but not for that of the package lists. */
export async function retryWhileLocked(
  run: () => Promise<ProcessResult>,
  { timeoutMs, retryDelayMs } = { timeoutMs: 120_000, retryDelayMs: 1_000 },
): Promise<ProcessResult> {
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const outcome = await run();
    const isLocked = outcome.code !== 0 && /Could not get lock|Unable to lock/.test(outcome.output);
    if (!isLocked || performance.now() > endsAtMs) return outcome;
    await sleep(retryDelayMs);
  }
}
