import { join } from 'node:path';
import type { AttemptLayout } from '../api/run-layout.ts';
import type { Manifest, ManifestEntry } from '../api/manifest.ts';
import { asText, readBounded } from './bounded-read.ts';
import { unifiedDiff } from './line-diff.ts';
import { shorten, visibleLine, visibleText } from './visible-text.ts';

/** A file that the agent made, changed or removed. */
export interface ChangedFile {
  /** Relative to the workspace, made visible. */
  readonly path: string;
  readonly change: 'added' | 'modified' | 'deleted';
  readonly bytes: number | null;
  /** Lines of a unified diff against the scenario's file, or of the new file each with a leading `+`. */
  readonly diff: readonly string[];
  /** Why there is no diff, or what it leaves out. Empty where nothing is missing. */
  readonly note: string;
}

export interface ChangedFiles {
  readonly files: readonly ChangedFile[];
  /** Changed files beyond the bound. */
  readonly leftOut: number;
  /** What the collector did not take, one sentence each. */
  readonly omitted: readonly string[];
}

export interface FileLimits {
  readonly files: number;
  /** Bytes of one file that are read. */
  readonly fileBytes: number;
  /** Lines of one diff. */
  readonly diffLines: number;
}

const WORKSPACE = 'workspace/';
const LONGEST_LINE = 400;
const MOST_OMISSIONS = 20;

/**
 * What the agent changed, against the scenario's own workspace.
 *
 * @param initial folder of the scenario's workspace as it was frozen
 */
export function changedFiles(
  attempt: AttemptLayout,
  manifest: Manifest,
  initial: string,
  limits: FileLimits,
): ChangedFiles {
  const made = manifest.files.filter((file) => file.origin === 'agent' && file.path.startsWith(WORKSPACE));
  const files = made.slice(0, limits.files).map((entry) => changedFile(attempt, entry, initial, limits));
  const room = Math.max(0, limits.files - files.length);
  for (const path of manifest.deleted.slice(0, room)) {
    const shown = path.startsWith(WORKSPACE) ? path.slice(WORKSPACE.length) : path;
    files.push({ path: visibleLine(shown), change: 'deleted', bytes: null, diff: [], note: '' });
  }
  return {
    files,
    leftOut: made.length + manifest.deleted.length - files.length,
    omitted: manifest.omitted.slice(0, MOST_OMISSIONS).map((omission) => {
      const count = omission.count === 1 ? '' : ` and ${omission.count - 1} more like it`;
      return `${visibleLine(shorten(omission.path, 200))}${count}: ${omission.reason.replaceAll('_', ' ')}`;
    }),
  };
}

function changedFile(
  attempt: AttemptLayout,
  entry: ManifestEntry,
  initial: string,
  limits: FileLimits,
): ChangedFile {
  const relative = entry.path.slice(WORKSPACE.length);
  const path = visibleLine(relative);
  // A name that is not UTF-8 is only rendered in `path`; there is no such file to open by it.
  const openable = entry.pathBase64 === undefined && !relative.split('/').includes('..');
  const before = openable ? readBounded(join(initial, relative), limits.fileBytes) : undefined;
  const change = before === undefined ? 'added' : 'modified';
  const plain = (note: string): ChangedFile => ({ path, change, bytes: entry.bytes, diff: [], note });
  if (!openable) return plain('the name is not UTF-8');
  const after = readBounded(join(attempt.root, entry.path), limits.fileBytes);
  if (after === undefined) return plain('the collected copy is missing');
  const newText = asText(after.head, after.tail !== null);
  if (newText === undefined) return plain('not text');
  if (before !== undefined && after.tail === null && before.tail === null) {
    const oldText = asText(before.head);
    if (oldText !== undefined) {
      const diff = unifiedDiff(oldText, newText);
      const equal = diff.length === 0 ? 'only the mode or the end of the last line differs' : '';
      return { path, change, bytes: entry.bytes, ...cutDiff(diff, limits.diffLines, equal) };
    }
  }
  const lines = newText
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `+${line}`);
  const cut = after.tail === null ? '' : `the first ${after.head.length} of ${after.size} bytes`;
  return { path, change, bytes: entry.bytes, ...cutDiff(newText === '' ? [] : lines, limits.diffLines, cut) };
}

function cutDiff(lines: readonly string[], limit: number, note: string): { diff: string[]; note: string } {
  const diff = lines
    .slice(0, limit)
    .map((line) => visibleText(shorten(line, LONGEST_LINE)).replaceAll('\n', ' '));
  const more = lines.length > limit ? `${lines.length - limit} lines more` : '';
  return { diff, note: [note, more].filter((part) => part !== '').join('; ') };
}
