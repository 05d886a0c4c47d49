import { readFileSync } from 'node:fs';

/** Pages are 4 KiB on the machines that Node is built for; a larger page only makes the limit looser. */
const PAGE_BYTES = 4096;

/** Memory a process occupies, without pages it shares with files; 0 when it is gone or cannot be looked at. */
export function residentBytes(pid: number | undefined): number {
  if (pid === undefined) return 0;
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'ascii').split(' ').map(Number);
    return (resident - shared) * PAGE_BYTES;
  } catch {
    return 0;
  }
}
