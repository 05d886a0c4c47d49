import type { RuntimeId } from '../api/vocabulary.ts';

/**
 * User that a runtime's image runs as in a pod. The public runtimes run as root, as their images do: tasks install
 * packages, and skills lie under /root. The scripted agent needs nothing of that.
 */
const EXECUTOR_UIDS: Readonly<Record<RuntimeId, number>> = {
  openclaw: 0,
  'openclaw-edict': 0,
  nanobot: 0,
  ironclaw: 0,
  nanoclaw: 0,
  scripted: 10_001,
};

/** User id of a runtime's executor, unless the run asks for another. */
export function executorUid(id: RuntimeId): number {
  return EXECUTOR_UIDS[id];
}
