import { relative } from 'node:path';
import { readManifest } from '../artifacts/manifest.ts';
import type { CollectedArtifacts } from './trial-state.ts';

/** What an attempt's manifest lists, or null where there is none. `root` is the run's folder. */
export async function artifactsOf(root: string, attemptDir: string): Promise<CollectedArtifacts | null> {
  const manifest = await readManifest(attemptDir);
  if (manifest === undefined) return null;
  return { path: relative(root, attemptDir), files: manifest.files.length, bytes: manifest.totalBytes };
}
