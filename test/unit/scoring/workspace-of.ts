import type { WorkspaceReader } from '../../../src/scoring/workspace-reader.ts';

/** A workspace in memory: paths and their text; a folder exists where a path leads through it. */
export function workspaceOf(files: Readonly<Record<string, string>>): WorkspaceReader {
  const isFolder = (path: string) => Object.keys(files).some((file) => file.startsWith(`${path}/`));
  return {
    exists: (path) => Promise.resolve(files[path] !== undefined || isFolder(path)),
    readText: (path) => {
      const text = files[path];
      if (text !== undefined) return Promise.resolve({ kind: 'text', text });
      return Promise.resolve(
        isFolder(path) ? { kind: 'unreadable', reason: 'is a folder' } : { kind: 'missing' },
      );
    },
  };
}
