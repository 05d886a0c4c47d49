import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { InvalidInputError, messageOf } from '../../api/errors.ts';
import { workspacePath } from '../../suite/boundary.ts';

/** Bounds of a suite's archive. It comes from users, and a few bytes of it can unpack to very many. */
export interface ArchiveBounds {
  readonly entries: number;
  /** Bytes of everything, unpacked. */
  readonly bytes: number;
  readonly fileBytes: number;
}

export const ARCHIVE_BOUNDS: ArchiveBounds = {
  entries: 20_000,
  bytes: 256 * 1024 ** 2,
  fileBytes: 64 * 1024 ** 2,
};

/** Headers and padding of one entry: two blocks would do, long names take more. */
const FRAME_BYTES = 2048;

/** Folders that are a part of a suite and not a suite in a folder. */
const PARTS = ['scenarios', 'tasks'];

/**
 * Unpacks a tar archive, compressed with gzip or not, of files and folders into an empty folder. Links, devices and
 * names that lead elsewhere are refused, as is everything beyond the bounds; owners, times and special bits are not
 * taken over.
 *
 * @returns the suite's root: the folder, or the one folder that the archive consists of
 * @throws InvalidInputError naming the entry that cannot be taken
 */
export async function unpackArchive(
  archive: string,
  target: string,
  bounds: ArchiveBounds = ARCHIVE_BOUNDS,
): Promise<string> {
  const wrong = (message: string, remedy?: string) =>
    new InvalidInputError({ file: archive, message, ...(remedy === undefined ? {} : { remedy }) });
  const tooLarge = () =>
    wrong(`unpacks to more than ${bounds.bytes} bytes`, 'Use a persistentVolumeClaim or an image for it.');
  let bytes = 0;
  // What is no content is bounded too: names of any length, and padding without end.
  const most = bounds.bytes + (bounds.entries + 10) * FRAME_BYTES;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > most) done(tooLarge());
      else done(null, chunk);
    },
  });
  const entries = extract();
  const source = createReadStream(archive);
  const reading = (await isCompressed(archive))
    ? pipeline(source, createGunzip(), counter, entries)
    : pipeline(source, counter, entries);
  // Whichever of the two fails first says why.
  let failure: unknown;
  const note = (error: unknown) => {
    failure ??= error;
  };
  reading.catch(note);
  try {
    let count = 0;
    let taken = 0;
    for await (const entry of entries) {
      const { name, type, size, mode } = entry.header;
      count += 1;
      taken += size;
      if (count > bounds.entries) throw wrong(`has more than ${bounds.entries} entries`);
      if (size > bounds.fileBytes) throw wrong(`${name}: is larger than ${bounds.fileBytes} bytes`);
      if (taken > bounds.bytes) throw tooLarge();
      if (type !== 'file' && type !== 'directory') {
        throw wrong(`${name}: is a ${type}`, 'Put only files and folders into the archive.');
      }
      if (/^(\.?\/)*$/.test(name)) {
        entry.resume();
        continue;
      }
      const path = workspacePath(name);
      if (path === undefined) {
        throw wrong(`${name}: leads out of the archive`, 'Pack the folder of the suite itself.');
      }
      const place = join(target, path);
      if (type === 'directory') {
        await mkdir(place, { recursive: true });
        entry.resume();
        continue;
      }
      const chunks: Uint8Array[] = [];
      for await (const chunk of entry) chunks.push(chunk as Uint8Array);
      await mkdir(dirname(place), { recursive: true });
      const executable = (mode & 0o100) !== 0;
      await writeFile(place, Buffer.concat(chunks), { flag: 'wx', mode: executable ? 0o755 : 0o644 });
    }
    await reading;
  } catch (error) {
    note(error);
    entries.destroy();
    await reading.catch(() => undefined);
    if (failure instanceof InvalidInputError) throw failure;
    throw wrong(`is no tar archive that can be read (${messageOf(failure)})`, 'Pack the suite with tar -cz.');
  }
  return await suiteFolder(target);
}

async function isCompressed(archive: string): Promise<boolean> {
  const file = await open(archive);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}

/** `tar -cz suite/` packs a folder where `tar -cz -C suite .` packs what is in it; both are meant the same. */
async function suiteFolder(target: string): Promise<string> {
  const entries = await readdir(target, { withFileTypes: true });
  const [only] = entries;
  if (entries.length !== 1 || only?.isDirectory() !== true || PARTS.includes(only.name)) return target;
  return join(target, only.name);
}
