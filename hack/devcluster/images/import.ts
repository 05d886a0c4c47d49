import { containerdSocket, type NodePlan } from '../node/node-plan.ts';
import type { Programs } from '../build/go-build.ts';
import { run } from '../system/command.ts';

/** Imports an OCI archive into a node's containerd, where the kubelet finds it. */
export async function importImage(node: NodePlan, programs: Programs, archive: string): Promise<void> {
  await run(programs.path('containerd', 'ctr'), [
    '--address',
    containerdSocket(node),
    '--namespace',
    'k8s.io',
    'images',
    'import',
    '--local',
    archive,
  ]);
}
