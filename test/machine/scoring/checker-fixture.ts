import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { emptyTrace } from '../../../src/api/trace.ts';
import type { GradeRequest } from '../../../src/scoring/checkers/types.ts';

/** A suite's tree, an agent's workspace and hidden files on disk, in a folder that only we can enter. */
export interface Fixture {
  readonly bundleDir: string;
  readonly workspaceDir: string;
  readonly hiddenFilesDir: string;
  /** Writes `files` (path to content) into one of the three folders. */
  readonly write: (
    folder: 'bundleDir' | 'workspaceDir' | 'hiddenFilesDir',
    files: Record<string, string>,
  ) => void;
  /** A request for `entry`; its suffix names the language. */
  readonly request: (entry: string, more?: Partial<GradeRequest>) => GradeRequest;
  readonly remove: () => void;
}

export function createFixture(): Fixture {
  const root = mkdtempSync(join(tmpdir(), 'checker-fixture-'));
  const folders = {
    bundleDir: join(root, 'bundle'),
    workspaceDir: join(root, 'workspace'),
    hiddenFilesDir: join(root, 'hidden'),
  };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  cpSync(join(import.meta.dirname, '../../../checkers/checker.ts'), join(folders.bundleDir, 'checker.ts'));
  return {
    ...folders,
    write: (folder, files) => {
      for (const [path, content] of Object.entries(files)) {
        const full = join(folders[folder], path);
        mkdirSync(dirname(full), { recursive: true });
        writeFileSync(full, content);
      }
    },
    request: (entry, more = {}) => ({
      checker: { language: entry.endsWith('.py') ? 'python' : 'typescript', bundle: 'digest', entry },
      ...folders,
      trace: emptyTrace(),
      ...more,
    }),
    remove: () => {
      rmSync(root, { recursive: true, force: true });
    },
  };
}
