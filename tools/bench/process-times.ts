import { readdirSync, readFileSync } from 'node:fs';

const tickMs = 10; // a clock tick of proc(5) on Linux

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  /** Includes its children that have ended. */
  readonly ticks: number;
}

/** Processor time of a process and its descendants, in ms; undefined if the system does not report it. */
export function treeCpuMs(pid: number): number | undefined {
  const rows = processRows();
  const tree = new Set([pid]);
  for (let before = 0; before < tree.size;) {
    before = tree.size;
    for (const row of rows) if (tree.has(row.parent)) tree.add(row.pid);
  }
  const members = rows.filter((row) => tree.has(row.pid));
  return members.length === 0 ? undefined : members.reduce((sum, { ticks }) => sum + ticks, 0) * tickMs;
}

function processRows(): ProcessRow[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => processRow(Number(name)));
  } catch {
    return [];
  }
}

function processRow(pid: number): ProcessRow[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Fields 14 to 17 of proc(5): utime, stime, cutime and cstime. The first of `fields` is field 3.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return [{ pid, parent: Number(fields[1]), ticks }];
  } catch {
    return []; // it has ended
  }
}
