import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** A user of no account, held for one attempt. */
export interface UserSlot {
  readonly uid: number;
  readonly gid: number;
  readonly release: () => void;
}

/**
 * Numbers that neither distributions nor systemd give to anybody (systemd's table of users calls 60578-61183
 * unused).
 */
const FIRST = 60_600;
const COUNT = 500;

/**
 * Takes a spare user that no other attempt on this machine has now, also of another run. The lock is a socket name
 * of the kernel (abstract, Linux): it cannot be left behind by a run that was killed.
 *
 * @returns null when none is free or the machine has no such sockets
 */
export async function takeUserSlot(): Promise<UserSlot | null> {
  if (process.platform !== 'linux') return null;
  const known = accounts();
  const mapped = mappedUsers();
  // Runs that start together do not all try the same first numbers.
  const offset = process.pid % COUNT;
  for (let step = 0; step < COUNT; step += 1) {
    const uid = FIRST + ((offset + step) % COUNT);
    if (known.has(uid) || !mapped(uid)) continue;
    const release = await lock(`\0clawbench-user-${uid}`);
    if (release !== null) return { uid, gid: uid, release };
  }
  return null;
}

function lock(name: string): Promise<(() => void) | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(null));
    server.listen(name, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}

function accounts(): Set<number> {
  const lines = readOr('/etc/passwd').split('\n');
  return new Set(lines.map((line) => Number(line.split(':')[2])));
}

/** In a user namespace only some numbers exist. */
function mappedUsers(): (uid: number) => boolean {
  const ranges = readOr('/proc/self/uid_map')
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([first, , length]) => (first === undefined || length === undefined ? [] : [{ first, length }]));
  if (ranges.length === 0) return () => true;
  return (uid) => ranges.some(({ first, length }) => uid >= first && uid < first + length);
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
