import { ensurePrograms } from '../build/go-build.ts';
import { DevclusterError } from '../errors.ts';
import { importProjectImage } from '../images/import.ts';
import { ensureProjectImage, type ProjectImage } from '../images/project-images.ts';
import { readOwner, readProcesses } from '../machine-record.ts';
import { nodePlan, type NodePlan } from '../node/node-plan.ts';
import type { StatePaths } from '../paths.ts';
import { ensurePackages } from '../system/packages.ts';
import { isAlive } from '../system/processes.ts';

/**
 * Builds the named images where needed and imports them into every node.
 *
 * @throws DevclusterError when no cluster of this state is up, or a build fails
 */
export async function load(
  state: StatePaths,
  names: readonly string[],
  say: (line: string) => void,
): Promise<readonly ProjectImage[]> {
  const nodes = await runningNodes(state);
  await ensurePackages(say);
  const programs = await ensurePrograms(['containerd'], say);
  const images: ProjectImage[] = [];
  for (const name of names) {
    const image = await ensureProjectImage(name, say);
    for (const node of nodes) {
      const imported = await importProjectImage(node, programs, image);
      say(`${node.name} ${imported ? 'now has' : 'has'} ${image.reference} (also ${image.exactReference})`);
    }
    images.push(image);
  }
  return images;
}

/** The nodes of this state's cluster. @throws DevclusterError when it is not up */
async function runningNodes(state: StatePaths): Promise<readonly NodePlan[]> {
  const owner = await readOwner();
  const processes = await readProcesses();
  if (owner?.state !== state.root || !processes.some(isAlive))
    throw new DevclusterError('no cluster is up here: run `npm run devcluster -- up` first');
  return Array.from({ length: owner.nodes }, (_, index) => nodePlan(index));
}
