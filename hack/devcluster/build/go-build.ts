import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { DevclusterError } from '../errors.ts';
import { cacheRoot } from '../paths.ts';
import { attempt, run } from '../system/command.ts';
import { withLock } from '../system/lock.ts';
import { GO_MODULES, type GoModule, type ModuleName } from './modules.ts';

const SOURCES = join(import.meta.dirname, '..', 'go');
const FLAGS = ['-trimpath', '-buildvcs=false', '-mod=readonly'];

/** Where each built program lies; asking for one that was not built is a fault of this code. */
export class Programs {
  readonly #folders: ReadonlyMap<ModuleName, string>;

  constructor(folders: ReadonlyMap<ModuleName, string>) {
    this.#folders = folders;
  }

  path(module: ModuleName, program: string): string {
    return join(this.folder(module), program);
  }

  folder(module: ModuleName): string {
    const folder = this.#folders.get(module);
    if (folder === undefined) throw new DevclusterError(`the programs of ${module} were not asked for`);
    return folder;
  }
}

/**
 * Finds the programs of the named modules in the cache and builds those that are not there. A folder of the cache is
 * named by what its programs are made of: the module's files and the flags.
 *
 * @param say told each thing that takes long
 * @throws DevclusterError when Go is missing or a build fails
 */
export async function ensurePrograms(
  names: readonly ModuleName[],
  say: (line: string) => void,
): Promise<Programs> {
  const folders = new Map<ModuleName, string>();
  for (const module of GO_MODULES) {
    if (!names.includes(module.name)) continue;
    folders.set(module.name, await ensureModule(module, say));
  }
  return new Programs(folders);
}

async function ensureModule(module: GoModule, say: (line: string) => void): Promise<string> {
  const programs = join(cacheRoot(), 'programs');
  const target = join(programs, `${module.name}-${await keyOf(module)}`);
  if (existsSync(target)) return target;
  return await withLock(
    join(programs, `${module.name}.lock`),
    async () => {
      if (existsSync(target)) return target;
      say(`building ${module.name} (once on this machine)`);
      const partial = `${target}.partial`;
      await rm(partial, { recursive: true, force: true });
      await mkdir(partial, { recursive: true });
      const start = performance.now();
      await buildModule(module, partial);
      await rename(partial, target);
      say(`built ${module.name} in ${Math.round((performance.now() - start) / 1000)} s`);
      return target;
    },
    () => say(`waiting for another build of ${module.name}`),
  );
}

/** 16 hexadecimal digits over the files of the module and the way it is built. */
async function keyOf(module: GoModule): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([module, FLAGS]));
  const folder = join(SOURCES, module.name);
  for (const file of (await readdir(folder)).sort()) {
    hash.update(`\0${file}\0`).update(await readFile(join(folder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function buildModule(module: GoModule, target: string): Promise<void> {
  const go = await goEnvironment();
  const cwd = join(SOURCES, module.name);
  const version =
    module.versionOf === undefined
      ? ''
      : requiredVersion(await readFile(join(cwd, 'go.mod'), 'utf8'), module.versionOf);
  const linker = ['-s', '-w', ...(module.settings ?? []).map((setting) => `-X ${setting}`)]
    .join(' ')
    .replaceAll('{version}', version);
  const tags = module.tags === undefined ? [] : ['-tags', module.tags];
  for (const program of module.programs) {
    await run(
      'go',
      ['build', ...FLAGS, ...tags, '-ldflags', linker, '-o', join(target, program.file), program.package],
      { cwd, env: { ...go, CGO_ENABLED: module.cgo === true ? '1' : '0' } },
    );
    for (const link of program.links ?? []) await symlink(program.file, join(target, link));
  }
}

/** The version that a go.mod requires of a module. */
export function requiredVersion(goMod: string, module: string): string {
  const line = goMod
    .split('\n')
    .map((text) =>
      text
        .replace(/^\s*require\s+/, '')
        .trim()
        .split(/\s+/),
    )
    .find(([name, version]) => name === module && version?.startsWith('v') === true);
  if (line?.[1] === undefined) throw new DevclusterError(`go.mod requires no version of ${module}`);
  return line[1];
}

/** Go's own install folder is often not on the path of a root shell. */
async function goEnvironment(): Promise<Record<string, string>> {
  const path = [process.env['PATH'] ?? '', '/usr/local/go/bin', '/usr/lib/go/bin'].join(delimiter);
  const environment = { PATH: path, GOFLAGS: '' };
  const answer = await attempt('sh', ['-c', 'go env GOVERSION'], { env: environment });
  if (answer.code !== 0)
    throw new DevclusterError('Go 1.26 or newer builds the programs of the cluster, and there is no `go`');
  return environment;
}
