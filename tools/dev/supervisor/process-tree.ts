import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { namesIn } from '../run-program.ts';

interface Row {
  readonly pid: number;
  readonly parent: number;
  /** Differs when a pid is reused. */
  readonly startedAt: string;
  /** Processor time of the process and of its children that have ended; NaN if the system is not Linux. */
  readonly cpuMs: number;
}

const tickMs = 10; // a clock tick of proc(5) on Linux

/** Returns a process and its descendants, parents before their children. */
function processTree(pid: number, rows = allProcesses()): number[] {
  const children = rows.filter(({ parent }) => parent === pid);
  return [pid, ...children.flatMap((child) => processTree(child.pid, rows))];
}

/** Processor time of a process and its descendants; undefined if it has ended or the system is not Linux. */
export function treeCpuMs(pid: number): number | undefined {
  const rows = allProcesses();
  const tree = new Set(processTree(pid, rows));
  const times = rows.filter((row) => tree.has(row.pid)).map(({ cpuMs }) => cpuMs);
  const sum = times.reduce((total, ms) => total + ms, 0);
  return times.length === 0 || Number.isNaN(sum) ? undefined : sum;
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
    // Counts from the end of the second field, a name in parentheses that may contain spaces (proc(5)).
    const [state, parent, ...fieldsFrom5] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z') return [];
    // Fields 14 to 17: utime, stime, cutime and cstime.
    const ticks = fieldsFrom5.slice(14 - 5, 18 - 5).reduce((sum, field) => sum + Number(field), 0);
    const startedAt = fieldsFrom5[22 - 5] ?? '';
    return [{ pid: Number(pid), parent: Number(parent), startedAt, cpuMs: ticks * tickMs }];
  } catch {
    return [];
  }
}

function rowsFromPs(): Row[] {
  const { stdout } = spawnSync('ps', ['-axo', 'pid=,ppid=,lstart='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, startedAt] = /^\s*(\d+)\s+(\d+)\s+(.+)$/.exec(line) ?? [];
    if (pid === undefined) return [];
    return [{ pid: Number(pid), parent: Number(parent), startedAt: startedAt ?? '', cpuMs: Number.NaN }];
  });
}
