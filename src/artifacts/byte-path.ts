/**
 * Paths of an agent's files as exact bytes. Linux names are bytes, not text: an agent may leave names that are
 * not UTF-8, and turning them to text and back would name another file.
 *
 * A byte path is a string with one character (U+0000 to U+00FF) for each byte, components joined by `/`. Such
 * strings compare in byte order with `<`, are keys of maps, and turn into a Buffer without loss.
 */
export type BytePath = string;

/** The byte path of a UTF-8 path or of raw bytes. */
export function bytePath(path: string | Uint8Array): BytePath {
  return Buffer.from(path).toString('latin1');
}

/** The bytes to hand to the operating system. */
export function toBytes(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

export function joinBytePath(folder: BytePath, name: BytePath): BytePath {
  return folder === '' ? name : `${folder}/${name}`;
}

/** The folder that holds an entry; '' for an entry of the root. */
export function parentOf(path: BytePath): BytePath {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/** Number of components; 0 for the root itself. */
export function depthOf(path: BytePath): number {
  return path === '' ? 0 : path.split('/').length;
}

export function compareBytePaths(a: BytePath, b: BytePath): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** How records name a path: `path` for people, `pathBase64` with the exact bytes where those are not UTF-8. */
export interface RecordedPath {
  readonly path: string;
  readonly pathBase64?: string;
}

/** @param prefix folder of the record that the path is below, UTF-8, e.g. `workspace`; '' for none */
export function recordPath(path: BytePath, prefix = ''): RecordedPath {
  const bytes = toBytes(joinBytePath(bytePath(prefix), path));
  try {
    return { path: decoder.decode(bytes) };
  } catch {
    return { path: renderBytes(bytes), pathBase64: bytes.toString('base64') };
  }
}

/** The inverse of `recordPath` (with the prefix still on). */
export function recordedBytePath(recorded: { path: string; pathBase64?: string | undefined }): BytePath {
  return recorded.pathBase64 === undefined
    ? bytePath(recorded.path)
    : Buffer.from(recorded.pathBase64, 'base64').toString('latin1');
}

/** Text with `\xNN` for each byte that no UTF-8 sequence explains. */
function renderBytes(bytes: Buffer): string {
  let text = '';
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      text += `\\x${bytes.toString('hex', at, at + 1)}`;
      at += 1;
    } else {
      text += bytes.toString('utf8', at, at + length);
      at += length;
    }
  }
  return text;
}

/** Length of the valid UTF-8 sequence at a position, 0 where there is none. */
function sequenceLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1) {
    try {
      decoder.decode(bytes.subarray(at, at + length));
      return length;
    } catch {
      // Longer sequences may still be valid.
    }
  }
  return 0;
}
