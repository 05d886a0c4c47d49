import { join } from 'node:path';
import { ENV, MOUNTS } from '../api/pod-contract.ts';

/** Where a program finds what the controller mounted for it. */
export type Mounts = Readonly<Record<keyof typeof MOUNTS, string>>;

/** The mounts of a pod; below ENV.MOUNT_ROOT where that is set, as on the machine of a test. */
export function mountsOf(env: Readonly<Record<string, string | undefined>>): Mounts {
  const root = env[ENV.MOUNT_ROOT];
  if (root === undefined || root === '') return MOUNTS;
  const entries = Object.entries(MOUNTS).map(([name, path]) => [name, join(root, path)] as const);
  return Object.fromEntries(entries) as Record<keyof typeof MOUNTS, string>;
}
