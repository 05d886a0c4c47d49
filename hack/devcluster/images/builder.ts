import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheRoot } from '../paths.ts';
import { attempt, run } from '../system/command.ts';
import { withLock } from '../system/lock.ts';

export interface ImagePlan {
  /** Reference that pods use, e.g. `localhost/clawbench-operator:dev`. */
  readonly reference: string;
  readonly dockerfile: string;
  readonly context: string;
  /** Digest of everything that goes into the image: the same key is the same image. */
  readonly key: string;
  readonly arguments?: Readonly<Record<string, string>>;
}

/**
 * Finds the image in the cache or builds it.
 *
 * @returns the path of an OCI archive that holds it under its reference
 */
export async function ensureImage(plan: ImagePlan, say: (line: string) => void): Promise<string> {
  const folder = join(cacheRoot(), 'images');
  const [name = ''] = plan.reference.split('/').slice(-1);
  const archive = join(folder, `${name.replace(':', '-')}-${plan.key}.tar`);
  if (existsSync(archive)) return archive;
  return await withLock(
    join(folder, 'build.lock'),
    async () => {
      if (existsSync(archive)) return archive;
      say(`building the image ${plan.reference}`);
      const start = performance.now();
      await build(plan, archive);
      say(`built the image ${plan.reference} in ${Math.round((performance.now() - start) / 1000)} s`);
      return archive;
    },
    () => say('waiting for another image build'),
  );
}

async function build(plan: ImagePlan, archive: string): Promise<void> {
  const settings = Object.entries(plan.arguments ?? {}).flatMap(([name, value]) => [
    '--build-arg',
    `${name}=${value}`,
  ]);
  await buildah([
    'bud',
    '--isolation=chroot',
    '--layers',
    '--pull-never',
    ...settings,
    '-f',
    plan.dockerfile,
    '-t',
    plan.reference,
    plan.context,
  ]);
  const partial = `${archive}.partial`;
  await rm(partial, { force: true });
  await buildah(['push', '-q', plan.reference, `oci-archive:${partial}:${plan.reference}`]);
  await rename(partial, archive);
  // What the reference named before has no name now.
  await buildah(['rmi', '--prune']).catch(() => undefined);
}

/** Runs buildah on a storage of our own, which goes with the cache. */
export async function buildah(args: readonly string[]): Promise<string> {
  const root = join(cacheRoot(), 'buildah');
  await mkdir(root, { recursive: true });
  driver ??= usableDriver(root);
  return await run('buildah', [...storage(root, await driver), ...args]);
}

/**
 * overlay shares layers; it needs a file system below that can carry it, which another overlay (a container's own root)
 * is not. vfs copies every layer and works everywhere.
 */
async function usableDriver(root: string): Promise<'overlay' | 'vfs'> {
  if (existsSync(join(root, 'vfs'))) return 'vfs';
  if (existsSync(join(root, 'overlay'))) return 'overlay';
  const answer = await attempt('buildah', [...storage(root, 'overlay'), 'images', '-q']);
  return answer.code === 0 ? 'overlay' : 'vfs';
}

let driver: Promise<'overlay' | 'vfs'> | undefined;

function storage(root: string, name: 'overlay' | 'vfs'): readonly string[] {
  return [
    `--root=${join(root, name)}`,
    `--runroot=/run/clawbench-devcluster-buildah`,
    `--storage-driver=${name}`,
  ];
}

/** 16 hexadecimal digits over the parts. */
export function imageKey(parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 16);
}
