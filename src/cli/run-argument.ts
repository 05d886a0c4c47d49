import { stat } from 'node:fs/promises';

/**
 * Whether `DIR|RUN` names a folder of this machine. What is no folder is the name of a run in a cluster, unless it
 * has a slash, which no such name has: then it was meant to be a folder.
 */
export async function isFolder(text: string): Promise<boolean> {
  if (text.includes('/') || text === '.' || text === '..') return true;
  const stats = await stat(text).catch(() => undefined);
  return stats?.isDirectory() ?? false;
}
