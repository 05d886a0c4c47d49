import { z } from 'zod';
import { recordedBytePath, toBytes, type BytePath } from '../../artifacts/byte-path.ts';

/*
 * What the reader pod serves and the command line reads:
 *
 *   GET /                        greetingSchema
 *   GET /tree?under=P&without=P  one treeLineSchema a line; `without` may be repeated, both are byte paths
 *   GET /file?path=P             the bytes; `Range: bytes=a-b` and `bytes=a-` are honoured
 *
 * A path in a query is percent-encoded bytes, because names of an agent's files need not be UTF-8.
 */

/** Raised when the two sides would not understand each other. */
export const READER_PROTOCOL = 1;

export const greetingSchema = z.object({ protocol: z.int(), operatorVersion: z.string() });

/** Longest byte path that is served: Linux takes no longer ones in one call. */
export const MOST_PATH_BYTES = 4096;

const recordedPath = z.object({ path: z.string(), pathBase64: z.string().optional() });

export const treeFileSchema = recordedPath.extend({
  bytes: z.int().min(0),
  mode: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type TreeFile = z.infer<typeof treeFileSchema>;

/** An entry that is not served, and why: a link, a device, a file that cannot be read. */
export const treeRefusalSchema = recordedPath.extend({ refused: z.string() });
export type TreeRefusal = z.infer<typeof treeRefusalSchema>;

/** The last line: without it the list was cut off. */
export const treeEndSchema = z.object({ end: z.literal(true), files: z.int(), bytes: z.int() });

export const treeLineSchema = z.union([treeFileSchema, treeRefusalSchema, treeEndSchema]);
export type TreeLine = z.infer<typeof treeLineSchema>;

/** The byte path that a line names. */
export const linePath = (line: TreeFile | TreeRefusal): BytePath => recordedBytePath(line);

/** Whether a byte path is relative and stays below the folder it starts from. */
export function isPlainPath(path: BytePath): boolean {
  if (path === '' || path.length > MOST_PATH_BYTES || path.includes('\0')) return false;
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

/** A byte path for a query: every byte that is not a plain letter or digit percent-encoded. */
export function encodePath(path: BytePath): string {
  return Array.from(toBytes(path), (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9._-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

/** The inverse of `encodePath`; text without percent signs is taken as it is. */
export function decodePath(text: string): BytePath {
  return Buffer.from(text)
    .toString('latin1')
    .replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
