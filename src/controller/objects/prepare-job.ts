import type { JobDraft } from './kubernetes.ts';
import type { FreezeRequest, PublishIndexRequest } from '../../api/container-requests.ts';
import { runChildName } from '../../api/names.ts';
import { CONTAINERS, MOUNTS, WORKER_ACCOUNT } from '../../api/pod-contract.ts';
import { noDns, operatorContainer } from './containers.ts';
import type { ClaimRef, ObjectsConfig, RunContext } from './context.ts';
import { onceJob, operatorPodSpec } from './operator-pod.ts';
import { operatorPlacement } from './pod-template.ts';
import { OPERATOR_RESOURCES } from './resources.ts';
import { suiteMount } from './suite-source.ts';
import { claimRootMount, claimVolume, emptyDir, ownTmp, tokenVolume } from './volumes.ts';

/** Freezing is idempotent; a suite that is wrong stays wrong, so a few tries are enough. */
const TRIES_AGAIN = 2;
const DEADLINE_SECONDS = 1800;
/** An index of thousands of scenarios takes a few megabytes. */
const INDEX_BYTES = String(64 * 1024 ** 2);

/**
 * The Job that freezes the suite: `freeze`, which reads what users wrote and has no token, then `publish-index`, which
 * has one and reads only what `freeze` left.
 *
 * @throws InvalidInputError when the specification is too long, or a suite's path leads out of its source
 */
export function prepareJob(run: RunContext, config: ObjectsConfig, claim: ClaimRef): JobDraft {
  const suite = suiteMount(run.spec.suite, 'spec.suite');
  const index = { name: 'index', mountPath: MOUNTS.index };
  const freezeTmp = ownTmp(CONTAINERS.freeze, '1Gi');
  const publishTmp = ownTmp(CONTAINERS.publishIndex, '64Mi');
  const token = tokenVolume();
  const who = { runName: run.name, runUID: run.uid, namespace: run.namespace };
  const freezeRequest: FreezeRequest = {
    ...who,
    createdAt: run.createdAt,
    spec: { ...run.spec },
    suitePath: suite.suitePath,
    archive: suite.archive,
  };
  return onceJob(run, {
    name: runChildName(run.name, 'prepare'),
    component: 'prepare',
    backoffLimit: TRIES_AGAIN,
    deadlineSeconds: DEADLINE_SECONDS,
    pod: operatorPodSpec(config, {
      ...operatorPlacement(run, claim),
      ...noDns(),
      serviceAccountName: WORKER_ACCOUNT,
      initContainers: [
        operatorContainer(config, {
          name: CONTAINERS.freeze,
          args: ['prepare', 'freeze'],
          request: freezeRequest,
          resources: OPERATOR_RESOURCES.prepare,
          mounts: [claimRootMount(), ...suite.mounts, index, freezeTmp.mount],
        }),
      ],
      containers: [
        operatorContainer(config, {
          name: CONTAINERS.publishIndex,
          args: ['prepare', 'publish-index'],
          request: who satisfies PublishIndexRequest,
          resources: OPERATOR_RESOURCES.publish,
          mounts: [{ ...index, readOnly: true }, token.mount, publishTmp.mount],
        }),
      ],
      volumes: [
        claimVolume(claim),
        ...suite.volumes,
        emptyDir('index', INDEX_BYTES),
        freezeTmp.volume,
        publishTmp.volume,
        token.volume,
      ],
    }),
  });
}
