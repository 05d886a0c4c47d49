import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { CollectedTree } from '../../../src/artifacts/collect-tree.ts';
import { removeTree } from '../../../src/artifacts/remove-tree.ts';

/** Gives folders that are removed after each test, whatever the test made of them. */
export function useScratch(): (base?: string) => string {
  const made: string[] = [];
  afterEach(async () => {
    for (const folder of made.splice(0)) await removeTree(folder);
  }, 120_000);
  return (base = tmpdir()) => {
    const folder = mkdtempSync(join(base, 'clawbench-test-'));
    made.push(folder);
    return folder;
  };
}

export const isRoot = process.geteuid?.() === 0;
export const isLinux = process.platform === 'linux';

/** A workspace of an agent beside a folder that the agent has no business in. */
export function workspaceIn(root: string) {
  const source = join(root, 'workspace');
  const hidden = join(root, 'hidden');
  mkdirSync(source);
  mkdirSync(hidden);
  writeFileSync(join(hidden, 'answer.txt'), 'the answer key');
  return { root, source, hidden, target: join(root, 'collected') };
}

export const taken = (tree: CollectedTree) => tree.files.map(({ path }) => path);
export const reasons = (tree: CollectedTree) =>
  Object.fromEntries(tree.omitted.map(({ path, reason }) => [path, reason]));
export const MIB = 1024 * 1024;
