import { copyFile, link, mkdir, readFile, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Programs } from '../build/go-build.ts';
import { cacheRoot } from '../paths.ts';
import { run } from '../system/command.ts';
import { withLock } from '../system/lock.ts';
import { PAUSE_IMAGE } from '../node/containerd.ts';
import { ensureImage, imageKey } from './builder.ts';

export const ADDONS_IMAGE = 'localhost/devcluster-addons:1';
export const BASE_IMAGE = 'localhost/clawbench-base:bookworm';
const SUITE = 'bookworm';

/** Archives of the images without which no node is ready. */
export async function ensureOwnImages(
  programs: Programs,
  say: (line: string) => void,
): Promise<readonly string[]> {
  return [
    await fromFiles(PAUSE_IMAGE, 'pause', [programs.path('pause', 'pause')], say),
    await fromFiles(
      ADDONS_IMAGE,
      'addons',
      [
        '/bin/busybox',
        programs.path('coredns', 'coredns'),
        programs.path('local-path', 'local-path-provisioner'),
      ],
      say,
    ),
  ];
}

async function fromFiles(
  reference: string,
  name: string,
  files: readonly string[],
  say: (line: string) => void,
): Promise<string> {
  const dockerfile = join(import.meta.dirname, 'own', `${name}.Dockerfile`);
  const key = imageKey([await readFile(dockerfile), ...files]);
  const context = join(cacheRoot(), 'images', `${name}-context`);
  await rm(context, { recursive: true, force: true });
  await mkdir(context, { recursive: true });
  for (const file of files) {
    const target = join(context, basename(file));
    await link(file, target).catch(() => copyFile(file, target));
  }
  return await ensureImage({ reference, dockerfile, context, key }, say);
}

export interface BaseImage {
  readonly reference: string;
  readonly key: string;
  readonly archive: string;
}

/** The Debian that images of this project start from on a machine without a registry. */
export async function ensureBaseImage(say: (line: string) => void): Promise<BaseImage> {
  const dockerfile = join(import.meta.dirname, 'own', 'base.Dockerfile');
  const context = join(cacheRoot(), 'images', `debian-${SUITE}`);
  const tar = join(context, 'root.tar');
  if (!existsSync(tar)) {
    await withLock(join(cacheRoot(), 'images', 'base.lock'), async () => {
      if (!existsSync(tar)) await bootstrap(context, say);
    });
  }
  const key = imageKey([await readFile(dockerfile), SUITE]);
  const archive = await ensureImage({ reference: BASE_IMAGE, dockerfile, context, key }, say);
  return { reference: BASE_IMAGE, key, archive };
}

async function bootstrap(context: string, say: (line: string) => void): Promise<void> {
  say(`making a minimal Debian ${SUITE} (once on this machine)`);
  const partial = `${context}.partial`;
  const root = join(partial, 'root');
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await run('debootstrap', ['--variant=minbase', '--include=ca-certificates', SUITE, root]);
  // Lists and packages that were fetched are of no use in an image.
  await run('sh', ['-c', 'rm -rf "$1"/var/cache/apt/archives/*.deb "$1"/var/lib/apt/lists/*', 'sh', root]);
  await run('tar', [
    '-C',
    root,
    '--numeric-owner',
    '--one-file-system',
    '-cf',
    join(partial, 'root.tar'),
    '.',
  ]);
  await rm(root, { recursive: true, force: true });
  await run('mv', ['-T', partial, context]);
}
