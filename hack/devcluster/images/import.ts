import type { Programs } from '../build/go-build.ts';
import { containerdSocket, type NodePlan } from '../node/node-plan.ts';
import { run } from '../system/command.ts';
import type { ProjectImage } from './project-images.ts';

/** Imports an OCI archive into a node's containerd, where the kubelet finds it. */
export async function importImage(node: NodePlan, programs: Programs, archive: string): Promise<void> {
  await images(node, programs, 'import', '--local', archive);
}

/** Imports an image of the project under both of its names, unless the node has it under the exact one. */
export async function importProjectImage(
  node: NodePlan,
  programs: Programs,
  image: ProjectImage,
): Promise<boolean> {
  const known = (await images(node, programs, 'ls', '--quiet')).split('\n');
  const fresh = !known.includes(image.exactReference);
  if (fresh) {
    await importImage(node, programs, image.archive);
    await images(node, programs, 'tag', '--force', image.reference, image.exactReference);
  } else {
    await images(node, programs, 'tag', '--force', image.exactReference, image.reference);
  }
  return fresh;
}

async function images(node: NodePlan, programs: Programs, ...args: string[]): Promise<string> {
  const program = programs.path('containerd', 'ctr');
  return await run(program, [
    '--address',
    containerdSocket(node),
    '--namespace',
    'k8s.io',
    'images',
    ...args,
  ]);
}
