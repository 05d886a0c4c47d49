import type { PodDraft } from './kubernetes.ts';
import { runChildName } from '../../api/names.ts';
import { CONTAINERS, MOUNTS, PORTS } from '../../api/pod-contract.ts';
import { noDns, operatorContainer } from './containers.ts';
import type { ClaimRef, ObjectsConfig, RunContext } from './context.ts';
import { oncePod, operatorPodSpec } from './operator-pod.ts';
import { operatorPlacement } from './pod-template.ts';
import { OPERATOR_RESOURCES } from './resources.ts';
import { claimVolume, ownTmp, runMount } from './volumes.ts';

/** Seconds after which a reader ends, also when whoever asked for it is gone. */
const LIFE_SECONDS = 3600;

/**
 * A pod that serves the run's folder, read-only, to a port-forward.
 *
 * @param suffix tells readers of one run apart: at most 13 characters of a-z, 0-9
 */
export function readerPod(
  run: RunContext,
  config: Pick<ObjectsConfig, 'operatorImage' | 'defaultImagePullPolicy' | 'imagePullSecrets'>,
  claim: ClaimRef,
  suffix: string,
): PodDraft {
  const tmp = ownTmp(CONTAINERS.reader, '64Mi');
  const container = operatorContainer(config, {
    name: CONTAINERS.reader,
    args: ['reader'],
    request: { runName: run.name, runUID: run.uid, namespace: run.namespace },
    resources: OPERATOR_RESOURCES.reader,
    mounts: [runMount(run, (at) => at.root, MOUNTS.run, 'ro'), tmp.mount],
  });
  return oncePod(
    run,
    runChildName(run.name, `reader-${suffix}`),
    'reader',
    operatorPodSpec(config, {
      ...operatorPlacement(run, claim),
      ...noDns(),
      activeDeadlineSeconds: LIFE_SECONDS,
      terminationGracePeriodSeconds: 5,
      containers: [{ ...container, ports: [{ name: 'reader', containerPort: PORTS.reader }] }],
      volumes: [claimVolume(claim), tmp.volume],
    }),
  );
}
