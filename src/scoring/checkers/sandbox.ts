import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { copyTree, shareWithGroup } from './copy-tree.ts';
import type { SpareUsers } from './spare-users.ts';
import { stripTypes } from './strip-types.ts';
import type { Checker, GradeRequest, PreparedGrading } from './types.ts';

export type Sandbox = Pick<
  PreparedGrading,
  'root' | 'bundle' | 'workspace' | 'hidden' | 'tmp' | 'uid' | 'gid'
>;

/** Where a host keeps private copies for its checkers: the originals are never within a checker's reach. */
export interface Sandboxes {
  /** Everything lies beneath it. */
  readonly root: string;
  readonly create: (
    request: Pick<GradeRequest, 'checker' | 'bundleDir' | 'workspaceDir' | 'hiddenFilesDir'>,
  ) => Promise<Sandbox>;
  readonly remove: (sandbox: Sandbox) => void;
  readonly close: () => void;
}

/** @param users spare users, or null to run checkers as the host's own user */
export function createSandboxes(users: SpareUsers | null): Sandboxes {
  const root = realpathSync(mkdtempSync(join(parentFor(users), 'clawbench-checkers-')));
  const bundles = join(root, 'bundles');
  mkdirSync(bundles, { mode: 0o700 });
  if (users !== null) {
    // Spare users must pass through, and see only what is named to them.
    chmodSync(root, 0o711);
    chownSync(bundles, 0, users.gid);
    chmodSync(bundles, 0o750);
  }
  const copied = new Map<string, Promise<string>>();

  /** One copy of each bundle for the life of the host; it is immutable, so a digest names its content. */
  const bundleOf = ({ language, bundle: digest }: Checker, source: string): Promise<string> => {
    const key = `${language}\0${digest}\0${source}`;
    let copy = copied.get(key);
    if (copy === undefined) {
      copy = copyBundle(source, join(bundles, randomBytes(8).toString('hex')), language, users?.gid ?? null);
      copied.set(key, copy);
      copy.catch(() => copied.delete(key));
    }
    return copy;
  };

  return {
    root,
    create: async (request) => {
      const bundle = await bundleOf(request.checker, request.bundleDir);
      const uid = users === null ? null : await users.take();
      const owner = users === null || uid === null ? null : { uid, gid: users.gid };
      const folder = join(root, randomBytes(8).toString('hex'));
      const sandbox: Sandbox = {
        root: folder,
        bundle,
        workspace: join(folder, 'workspace'),
        hidden: join(folder, 'hidden'),
        tmp: join(folder, 'tmp'),
        uid,
        gid: users?.gid ?? null,
      };
      try {
        mkdirSync(folder, { mode: 0o700 });
        await copyTree(request.workspaceDir, sandbox.workspace, owner);
        if (request.hiddenFilesDir === null) mkdirSync(sandbox.hidden, { mode: 0o700 });
        else await copyTree(request.hiddenFilesDir, sandbox.hidden, owner);
        mkdirSync(sandbox.tmp, { mode: 0o700 });
        if (owner !== null) {
          for (const path of [sandbox.hidden, sandbox.tmp, folder]) chownSync(path, owner.uid, owner.gid);
        }
        return sandbox;
      } catch (error) {
        removeSandbox(sandbox, users);
        throw error;
      }
    },
    remove: (sandbox) => {
      removeSandbox(sandbox, users);
    },
    close: () => {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function copyBundle(
  source: string,
  target: string,
  language: Checker['language'],
  gid: number | null,
): Promise<string> {
  await copyTree(source, target, null);
  if (language === 'typescript') stripTypes(target);
  if (gid !== null) shareWithGroup(target, gid);
  return target;
}

/** What lies in a sandbox is bounded by its grading's limits, and a synchronous removal is ten times cheaper. */
function removeSandbox(sandbox: Sandbox, users: SpareUsers | null): void {
  rmSync(sandbox.root, { recursive: true, force: true });
  if (sandbox.uid !== null) users?.giveBack(sandbox.uid);
}

/** The system's temporary folder, or another one when spare users cannot get to it. */
function parentFor(users: SpareUsers | null): string {
  const candidates = [tmpdir(), '/tmp', '/var/tmp'];
  const open = users === null ? tmpdir() : candidates.find(passableForOthers);
  if (open === undefined) {
    throw new Error(`other users cannot reach ${candidates.join(', ')}; set TMPDIR to a folder they can`);
  }
  return open;
}

function passableForOthers(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & 0o001) === 0) return false;
  return path === dirname(path) || passableForOthers(dirname(path));
}
