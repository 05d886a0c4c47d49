import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InfrastructureError } from '../../api/errors.ts';
import type { Executor, ExecutorLimits } from '../../attempt/executor.ts';
import { listenForShim } from '../../attempt/shim/connection.ts';
import { removeTree } from '../../artifacts/remove-tree.ts';
import { cgroupPrefix } from './run-folder.ts';
import { makeCgroup, type Cgroup } from './cgroup.ts';
import { launchCommand, SHARED_FOLDERS } from './launch-plan.ts';
import type { LocalHost } from './local-host.ts';
import { markOf } from './processes.ts';
import { takeUserSlot, type UserSlot } from './user-slots.ts';

export interface LocalExecutorOptions {
  readonly trial: string;
  readonly attempt: number;
  readonly limits: ExecutorLimits;
}

/** An executor on this machine. */
export interface LocalExecutor extends Executor {
  /** Folder of this attempt's agent. */
  readonly folder: string;
  /** Kills what is left and removes the agent's files, unless the host keeps them. Never throws. */
  readonly dispose: () => Promise<void>;
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** The listener is there before the shim is, so a refused connection will not mend. */
const SHIM_PATIENCE_SECONDS = '10';
/** A file beyond the disk bound ends the attempt at the next look; this only keeps one write from filling the disk. */
const FILE_MARGIN_BYTES = 64 * 1024 ** 2;
const DESTROY_MS = 30_000;

let launched = 0;

/**
 * Starts a shim on this machine, isolated as the host allows, and returns at once: it starts while the harness
 * stages the workspace.
 *
 * @throws InfrastructureError `ExecutorUnavailable`: no folder, user or listener could be had
 */
export async function launchLocalExecutor(
  host: LocalHost,
  options: LocalExecutorOptions,
): Promise<LocalExecutor> {
  const slot = host.choice.isolation !== 'none' && host.choice.root ? await takeUserSlot() : null;
  try {
    return await launch(host, options, slot);
  } catch (error) {
    slot?.release();
    throw new InfrastructureError('ExecutorUnavailable', `cannot start an executor: ${String(error)}`, {
      cause: error,
    });
  }
}

async function launch(
  host: LocalHost,
  options: LocalExecutorOptions,
  slot: UserSlot | null,
): Promise<LocalExecutor> {
  const { choice, program } = host;
  const { isolation } = choice;
  if (choice.root && isolation !== 'none' && slot === null) throw new Error('no spare user is free');
  launched += 1;
  const name = `${options.trial}-${options.attempt}-${launched}`;
  const folder = join(host.folder, name);
  const paths = await makeFolders(folder, slot);
  const cgroup = groupFor(host, `${cgroupPrefix(host.folder)}${launched}`, options.limits);
  const token = randomBytes(24).toString('base64url');
  const marker = `${name}-${randomBytes(6).toString('hex')}`;
  const listener = await listenForShim({ port: 0, token });
  const shimEnv = {
    PATH: SYSTEM_PATH,
    CLAWBENCH_ATTEMPT: marker,
    CLAWBENCH_SHIM_REACH: slot === null ? 'tree' : `uid:${slot.uid}`,
    CLAWBENCH_SHIM_FOLDER: folder,
  };
  const drop = slot === null || choice.setpriv ? {} : { CLAWBENCH_SHIM_DROP: `${slot.uid}:${slot.gid}` };
  const [command, ...args] = launchCommand({
    ...choice,
    isolation,
    user: slot,
    folder,
    program: program.folder,
    node: program.node,
    shim: program.shim,
    hide: host.hide,
    groups: (cgroup?.folders ?? []).map((group) => join(group, 'cgroup.procs')),
    fileBytes: options.limits.diskBytes === null ? null : options.limits.diskBytes + FILE_MARGIN_BYTES,
  });
  const child = spawn(command, args, {
    cwd: '/',
    env: {
      ...shimEnv,
      ...drop,
      CLAWBENCH_SHIM_ADDRESS: `127.0.0.1:${listener.port}`,
      CLAWBENCH_SHIM_TOKEN: token,
      CLAWBENCH_SHIM_PATIENCE: SHIM_PATIENCE_SECONDS,
    },
    detached: true, // Ctrl-C at a terminal is for the harness, which then ends the attempt in order
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { startedAt } = markOf(child.pid ?? 0);
  const end = watchLauncher(child);
  const holds = cgroup?.holds ?? { memory: false, pids: false };

  const destroy = async () => {
    child.kill('SIGKILL');
    await emptyCgroup(cgroup);
    if (isolation !== 'container') {
      await reap(
        host,
        { ...shimEnv, ...(startedAt === null ? {} : { CLAWBENCH_SHIM_SINCE: startedAt }) },
        slot,
      );
    }
    await Promise.race([end.promise, delay(1000, undefined, { ref: false })]);
  };

  return {
    folder,
    isolation,
    paths: { ...paths.agent, program: program.folder, node: program.node },
    temporary: paths.temporary,
    baseEnv: {
      PATH: SYSTEM_PATH,
      HOME: paths.agent.home,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      TMPDIR: isolation === 'container' ? '/tmp' : paths.temporary,
      CLAWBENCH_ATTEMPT: marker,
    },
    limits: options.limits,
    heldByShim: { memory: !holds.memory, pids: !holds.pids },
    owner: slot === null ? null : { uid: slot.uid, gid: slot.gid },
    connect: (timeoutMs, signal) =>
      Promise.race([
        listener.connection(timeoutMs, signal),
        end.promise.then((how) => {
          throw new InfrastructureError('ShimMissing', `the shim did not start: ${how}`);
        }),
      ]),
    facts: () => Promise.resolve(cgroup?.facts() ?? { oomKills: null, pidsRefused: null }),
    destroy,
    dispose: async () => {
      listener.close();
      // A shim that was told to end does so by itself; whatever else is alive is not asked.
      await Promise.race([end.promise, delay(500, undefined, { ref: false })]);
      if (!end.ended()) await destroy();
      await cgroup?.remove();
      // What cannot be removed now is swept by a later run.
      if (!host.keep) await removeTree(folder).catch(() => undefined);
      if (slot !== null) await removeStrays(slot.uid);
      slot?.release();
    },
  };
}

async function makeFolders(folder: string, slot: UserSlot | null) {
  const agent = {
    workspace: join(folder, 'workspace'),
    state: join(folder, 'state'),
    home: join(folder, 'home'),
  };
  const temporary = join(folder, 'tmp');
  await mkdir(folder);
  // Modes are set apart from making, because the umask is the user's.
  await chmod(folder, 0o711);
  for (const path of [...Object.values(agent), temporary]) {
    await mkdir(path);
    await chmod(path, path === temporary ? 0o1777 : 0o700);
    if (slot !== null) await chown(path, slot.uid, slot.gid);
  }
  return { agent, temporary };
}

/** Without a group the shim looks after the bounds, which is weaker but never a reason not to run. */
function groupFor(host: LocalHost, name: string, limits: ExecutorLimits): Cgroup | null {
  if (host.cgroups === null) return null;
  try {
    return makeCgroup(host.cgroups, name, limits);
  } catch {
    return null;
  }
}

function watchLauncher(child: ChildProcess): { promise: Promise<string>; ended: () => boolean } {
  let said = '';
  let ended = false;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, 2000);
  });
  const promise = new Promise<string>((resolve) => {
    const finish = (how: string) => {
      ended = true;
      resolve(said.trim() === '' ? how : `${how}: ${said.trim()}`);
    };
    child.once('error', (error) => finish(error.message));
    child.once('exit', (code, signal) => finish(`ended with ${signal ?? `code ${code ?? '?'}`}`));
  });
  return { promise, ended: () => ended };
}

/** A process cannot leave its group, so this reaches all of them. */
async function emptyCgroup(cgroup: Cgroup | null): Promise<void> {
  const [group] = cgroup?.folders ?? [];
  if (group === undefined) return;
  const until = performance.now() + DESTROY_MS;
  for (let wait = 1; performance.now() < until; wait = Math.min(2 * wait, 50)) {
    const pids = readFileSync(join(group, 'cgroup.procs'), 'utf8')
      .split('\n')
      .filter((pid) => pid !== '');
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        // it went by itself
      }
    }
    await delay(wait);
  }
}

/** The shim's own means of killing, in a process of its own. */
async function reap(host: LocalHost, env: Record<string, string>, slot: UserSlot | null): Promise<void> {
  const user = slot === null ? {} : { uid: slot.uid, gid: slot.gid };
  await new Promise<void>((resolve) => {
    const child = spawn(host.program.node, ['--no-warnings', host.program.shim, 'reap'], {
      cwd: '/',
      env,
      stdio: 'ignore',
      timeout: DESTROY_MS,
      killSignal: 'SIGKILL',
      ...user,
    });
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
}

/** What a spare user left in folders that everybody can write to must not wait there for the next attempt. */
async function removeStrays(uid: number): Promise<void> {
  for (const folder of [...SHARED_FOLDERS, '/dev/shm']) {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const stat = await lstat(path).catch(() => null);
      if (stat?.uid === uid) await removeTree(path).catch(() => undefined);
    }
  }
}
