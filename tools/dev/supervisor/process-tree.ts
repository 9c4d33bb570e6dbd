import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { namesIn } from '../run-program.ts';

interface Row {
  readonly pid: number;
  readonly parent: number;
  /** Differs when a pid is reused. */
  readonly startedAt: string;
}

/** Returns a process and its descendants, parents before their children. */
function processTree(pid: number): number[] {
  const rows = allProcesses();
  const withDescendants = (root: number): number[] => [
    root,
    ...rows.filter(({ parent }) => parent === root).flatMap((row) => withDescendants(row.pid)),
  ];
  return withDescendants(pid);
}

/** Signals a process, its group and its descendants. Ignores ended ones. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  // Parents first, so that a supervisor such as PostgreSQL's postmaster does not restart its children.
  for (const target of [-pid, ...processTree(pid)]) {
    try {
      process.kill(target, signal);
    } catch {
      // It has already ended.
    }
  }
}

/** Start time of a process in the system's format; undefined if only a zombie or no process has this pid. */
export function processStartTime(pid: number): string | undefined {
  return allProcesses().find((row) => row.pid === pid)?.startedAt;
}

function allProcesses(): Row[] {
  const pids = namesIn('/proc').filter((name) => /^\d+$/.test(name));
  return pids.length > 0 ? pids.flatMap(rowFromProc) : rowsFromPs();
}

function rowFromProc(pid: string): Row[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in parentheses, which may contain spaces, so count after it (proc(5)).
    const [state, parent, ...fieldsFrom5] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z') return [];
    return [{ pid: Number(pid), parent: Number(parent), startedAt: fieldsFrom5[22 - 5] ?? '' }];
  } catch {
    return [];
  }
}

function rowsFromPs(): Row[] {
  const { stdout } = spawnSync('ps', ['-axo', 'pid=,ppid=,lstart='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, startedAt] = /^\s*(\d+)\s+(\d+)\s+(.+)$/.exec(line) ?? [];
    return pid === undefined
      ? []
      : [{ pid: Number(pid), parent: Number(parent), startedAt: startedAt ?? '' }];
  });
}
