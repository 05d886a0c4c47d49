import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { DevclusterError } from '../errors.ts';
import { CHECKOUT } from '../paths.ts';
import { run } from '../system/command.ts';
import { ensureImage, imageKey } from './builder.ts';
import { ensureBaseImage } from './own-images.ts';

export interface ProjectImage {
  /** `localhost/NAME:dev`: whatever was loaded last. */
  readonly reference: string;
  /** `localhost/NAME:<key>`: exactly this content. */
  readonly exactReference: string;
  readonly key: string;
  readonly archive: string;
}

/** Names of all images of the project. */
export async function imageNames(): Promise<readonly string[]> {
  const folder = join(CHECKOUT, 'images');
  const files = existsSync(folder) ? await readdir(folder) : [];
  return files
    .filter((file) => file.endsWith('.Dockerfile'))
    .map((file) => file.slice(0, -'.Dockerfile'.length))
    .sort();
}

/**
 * Builds images/NAME.Dockerfile with the checkout as context, unless the same was built before: the same Dockerfile,
 * base and files that its COPY lines name.
 *
 * @throws DevclusterError when there is no such Dockerfile, a file that it copies is missing, or the build fails
 */
export async function ensureProjectImage(name: string, say: (line: string) => void): Promise<ProjectImage> {
  const dockerfile = join(CHECKOUT, 'images', `${name}.Dockerfile`);
  if (!existsSync(dockerfile))
    throw new DevclusterError(
      `there is no images/${name}.Dockerfile; there are: ${(await imageNames()).join(', ')}`,
    );
  const text = await readFile(dockerfile, 'utf8');
  const sources = copiedPaths(text);
  // Always anew: whether the sources changed since is not known, and it takes two seconds.
  if (sources.some((path) => path === 'dist' || path.startsWith('dist/')))
    await run(process.execPath, [join(CHECKOUT, 'hack/build.ts')]);
  const base = await ensureBaseImage(say);
  const parts: (string | Buffer)[] = [text, base.key];
  for (const source of sources) parts.push(...(await contentOf(name, source)));
  const key = imageKey(parts);
  const reference = `localhost/${name}:dev`;
  const archive = await ensureImage(
    {
      reference,
      dockerfile,
      context: CHECKOUT,
      key,
      arguments: { BASE_IMAGE: base.reference },
    },
    say,
  );
  return { reference, exactReference: `localhost/${name}:${key}`, key, archive };
}

/** The paths that a Dockerfile copies from its context. */
export function copiedPaths(dockerfile: string): readonly string[] {
  return dockerfile
    .replaceAll(/\\\s*\n/g, ' ')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([instruction = '']) => /^(COPY|ADD)$/i.test(instruction))
    .filter((words) => !words.some((word) => word.startsWith('--from=')))
    .flatMap((words) =>
      words
        .slice(1, -1)
        .filter((word) => !word.startsWith('--'))
        .map((word) => word.replace(/^\.\//, '').replace(/\/$/, '')),
    );
}

/** Names, kinds and bytes of a file or of all files of a folder, in an order that does not change. */
async function contentOf(image: string, source: string): Promise<readonly (string | Buffer)[]> {
  const path = join(CHECKOUT, source);
  if (!existsSync(path))
    throw new DevclusterError(
      `images/${image}.Dockerfile copies ${source}, which is not there (npm ci makes node_modules/)`,
    );
  const parts: (string | Buffer)[] = [];
  const visit = async (entry: string): Promise<void> => {
    const info = await lstat(entry);
    const name = relative(CHECKOUT, entry);
    if (info.isDirectory()) {
      parts.push(`${name}/`);
      for (const child of (await readdir(entry)).sort()) await visit(join(entry, child));
    } else if (info.isSymbolicLink()) parts.push(`${name}@`, await readlink(entry));
    else parts.push(name, String(info.mode & 0o111), await readFile(entry));
  };
  await visit(path);
  return parts;
}
