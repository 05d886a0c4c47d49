import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ISOLATIONS, type Isolation } from '../../api/vocabulary.ts';
import { launchCommand, SHARED_FOLDERS, type LaunchPlan } from './launch-plan.ts';
import { takeUserSlot } from './user-slots.ts';

/** How agents are kept apart on this machine, found out by trying. */
export interface IsolationChoice {
  readonly isolation: Isolation;
  readonly root: boolean;
  readonly setpriv: boolean;
  readonly shared: readonly string[];
  /** Why no stronger one was taken; for the record. */
  readonly reasons: readonly string[];
}

const PROBE_MS = 5000;

/**
 * Takes the strongest isolation that works here and is not above `most`: container (namespaces, and a user of
 * its own where we are root), uid (a user of its own), none. Each is tried with the very command that later
 * starts a shim, with `true` in its place.
 *
 * @param folder a folder of ours below which the trial may make one
 */
export async function chooseIsolation(
  folder: string,
  most: Isolation = 'container',
): Promise<IsolationChoice> {
  const root = process.getuid?.() === 0;
  const reasons: string[] = [];
  const shared = SHARED_FOLDERS.filter((path) => existsSync(path));
  const setpriv = (await run(['setpriv', '--no-new-privs', 'true'])) === null;
  const choice = { root, setpriv, shared };
  for (const isolation of ISOLATIONS.toReversed()) {
    if (ISOLATIONS.indexOf(isolation) > ISOLATIONS.indexOf(most)) {
      reasons.push(`${isolation}: not wanted`);
      continue;
    }
    const problem = await tryOut({ ...choice, isolation }, folder);
    if (problem === null) return { ...choice, isolation, reasons };
    reasons.push(`${isolation}: ${problem}`);
  }
  return { ...choice, isolation: 'none', reasons };
}

async function tryOut(choice: Omit<IsolationChoice, 'reasons'>, parent: string): Promise<string | null> {
  const { isolation, root, setpriv } = choice;
  if (isolation === 'none') return null;
  if (process.platform !== 'linux') return `is for Linux, this is ${process.platform}`;
  if (isolation === 'container' && !setpriv) return 'needs setpriv of util-linux';
  if (isolation === 'uid' && !root) return 'needs root';
  const slot = root ? await takeUserSlot() : null;
  if (root && slot === null) return 'no spare user is free';
  const folder = join(parent, 'probe');
  try {
    await mkdir(join(folder, 'tmp'), { recursive: true });
    await mkdir(join(folder, 'hidden'));
    await mkdir(join(folder, 'program'));
    await chmod(folder, 0o711);
    const plan: LaunchPlan = {
      ...choice,
      // Without setpriv the shim gives up root itself, which always works where it is root.
      user: slot,
      folder,
      program: join(folder, 'program'),
      node: 'true',
      shim: '',
      hide: [join(folder, 'hidden')],
      groups: [],
      fileBytes: 1024 ** 2,
    };
    return await run(launchCommand(plan));
  } finally {
    slot?.release();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a command to its end. @returns null when it ended well, else what it said */
function run([program, ...args]: readonly [string, ...string[]]): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: PROBE_MS });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, 500);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => {
      resolve(code === 0 ? null : said.trim() || `ended with ${signal ?? `code ${code ?? '?'}`}`);
    });
  });
}

/** Those of the folders that any user of the machine can look into, by the permissions on the way to them. */
export function openToAnyUser(folders: readonly string[]): string[] {
  return folders.filter((folder) => {
    if (!existsSync(folder) || (statSync(folder).mode & 0o005) === 0) return false;
    for (let path = dirname(folder); ; path = dirname(path)) {
      if ((statSync(path).mode & 0o001) === 0) return false;
      if (path === dirname(path)) return true;
    }
  });
}
