import { readFileSync } from 'node:fs';

/** Names a process so that another one with the same number, later, is not taken for it. */
export interface ProcessMark {
  readonly pid: number;
  /** Kernel ticks since boot at its start; null where there is no /proc. */
  readonly startedAt: string | null;
}

export function markOf(pid: number): ProcessMark {
  return { pid, startedAt: startTimeOf(pid) };
}

/** Whether that very process still runs. Where there is no /proc the number alone decides. */
export function isAlive(mark: ProcessMark): boolean {
  if (mark.startedAt !== null) return startTimeOf(mark.pid) === mark.startedAt;
  try {
    process.kill(mark.pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Field 22 of /proc/<pid>/stat; the name in field 2 may hold spaces and brackets. */
function startTimeOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
