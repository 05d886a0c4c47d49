import { readdirSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';

/**
 * User ids that no distribution and no container runtime hands out, within the 65,536 that a user namespace
 * commonly maps.
 */
const FIRST_UID = 57_000;
const LAST_UID = 57_999;

/** Gives out user ids under which nobody else on the machine runs anything. */
export interface SpareUsers {
  /** Group that all of this host's checkers share, so that nobody else can read the bundles. */
  readonly gid: number;
  readonly take: () => Promise<number>;
  readonly giveBack: (uid: number) => void;
  readonly close: () => void;
}

/**
 * @returns null when this process may not change its user, so that checkers run as the host's own
 */
export async function createSpareUsers(): Promise<SpareUsers | null> {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return null;
  const claims = new Map<number, Server>();
  const free: number[] = [];
  const claim = async (): Promise<number> => {
    const inUse = usersOfProcesses();
    for (let uid = FIRST_UID; uid <= LAST_UID; uid += 1) {
      if (claims.has(uid) || inUse.has(uid)) continue;
      const server = await listenOn(`\0clawbench-spare-user-${uid}`);
      if (server === undefined) continue;
      claims.set(uid, server);
      return uid;
    }
    throw new Error(`all user ids from ${FIRST_UID} to ${LAST_UID} are in use`);
  };
  // The group is named by a user id that is claimed and never run.
  const gid = await claim();
  return {
    gid,
    take: async () => free.pop() ?? (await claim()),
    giveBack: (uid) => {
      free.push(uid);
    },
    close: () => {
      for (const server of claims.values()) server.close();
    },
  };
}

/**
 * A claim is a socket in the abstract namespace: one process of the machine can have it, and it is gone with
 * that process however it ends.
 */
function listenOn(name: string): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen(name, () => {
      server.unref();
      resolve(server);
    });
  });
}

function usersOfProcesses(): Set<number> {
  const users = new Set<number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statSync(`/proc/${name}`, { throwIfNoEntry: false });
    if (stat !== undefined) users.add(stat.uid);
  }
  return users;
}
