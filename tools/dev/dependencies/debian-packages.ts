import { existsSync, readFileSync } from 'node:fs';
import { Failure } from '../failure.ts';
import { findProgram, mustRun, runProgram } from '../run-program.ts';

const policyFile = '/usr/sbin/policy-rc.d';
/** Units that the packages enable; the suite disables them, since it runs its own instances. */
const units = [
  'postgresql.service',
  'redis-server.service',
  'rabbitmq-server.service',
  'nginx.service',
  'epmd.socket',
];

/**
 * Returns the command prefix to install Debian packages: none for root, or sudo without a password. Else
 * undefined.
 */
export async function aptPrefix(): Promise<readonly string[] | undefined> {
  if (!/\b(debian|ubuntu)\b/.test(osRelease()) || findProgram('apt-get') === undefined) return undefined;
  if (process.getuid?.() === 0) return [];
  const sudo = findProgram('sudo');
  if (sudo === undefined) return undefined;
  return (await runProgram(sudo, ['-n', 'true'], { timeoutMs: 5_000 })).code === 0 ? [sudo, '-n'] : undefined;
}

/** The equivalent command for a person to type. */
export function aptCommand(packages: readonly string[]): string {
  return `sudo apt-get install --no-install-recommends ${packages.join(' ')}`;
}

/**
 * Installs packages without starting their servers, which policy-rc.d prevents with exit status 101
 * (https://people.debian.org/~hmh/invokerc.d-policyrc.d-specification.txt). An existing policy is kept.
 */
export async function installDebianPackages(
  packages: readonly string[],
  prefix: readonly string[],
): Promise<void> {
  const asRoot = async (command: string, ...args: string[]): Promise<void> => {
    const [program = command, ...rest] = [...prefix, command, ...args];
    await mustRun(program, rest, {
      uninterrupted: true,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
    });
  };
  const ownPolicy = !existsSync(policyFile);
  try {
    if (ownPolicy)
      await asRoot('sh', '-c', `printf '#!/bin/sh\\nexit 101\\n' > ${policyFile} && chmod 755 ${policyFile}`);
    await asRoot('apt-get', '-o', 'DPkg::Lock::Timeout=120', 'update', '-qq');
    await asRoot(
      'apt-get',
      '-o',
      'DPkg::Lock::Timeout=120',
      'install',
      '-y',
      '-qq',
      '--no-install-recommends',
      ...packages,
    );
    if (existsSync('/run/systemd/system')) await disableUnits(asRoot);
  } catch (error) {
    throw new Failure(
      `The packages could not be installed. Try the command manually:\n  ${aptCommand(packages)}\n${error instanceof Error ? error.message : ''}`,
    );
  } finally {
    if (ownPolicy) await asRoot('rm', '-f', policyFile);
  }
}

async function disableUnits(asRoot: (command: string, ...args: string[]) => Promise<void>): Promise<void> {
  for (const unit of units) {
    // Fails for units that are not installed.
    await asRoot('systemctl', 'disable', unit).catch(() => undefined);
  }
}

function osRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8').toLowerCase();
  } catch {
    return '';
  }
}
