import type { JobDraft } from './kubernetes.ts';
import type { RoundRequest } from '../../api/container-requests.ts';
import { runChildName } from '../../api/names.ts';
import { CONTAINERS, MOUNTS, WORKER_ACCOUNT } from '../../api/pod-contract.ts';
import { noDns, operatorContainer } from './containers.ts';
import type { ClaimRef, ObjectsConfig, RunContext } from './context.ts';
import { onceJob, operatorPodSpec } from './operator-pod.ts';
import { operatorPlacement } from './pod-template.ts';
import { OPERATOR_RESOURCES, scoringResources } from './resources.ts';
import { roundConfigMapName } from './round-config-map.ts';
import { suiteMount } from './suite-source.ts';
import { claimVolume, emptyDir, ownTmp, runMount, tokenVolume } from './volumes.ts';

/** Seconds of a round beside its trials: pulling, starting, the report. */
const ROUND_SECONDS = 300;

/**
 * The Job of a score round: `score` grades into an emptyDir and has no token and a read-only run folder, because
 * it runs checkers of a suite on files of agents; `publish` checks that against the round's list and writes.
 *
 * @param round 1-based
 * @param trials how many the round's list has
 * @throws InvalidInputError when spec.scoring cannot become a pod
 */
export function scoreJob(
  run: RunContext,
  config: ObjectsConfig,
  claim: ClaimRef,
  round: number,
  trials: number,
): JobDraft {
  const { scoring, timeouts } = run.spec;
  const suite =
    scoring.suite === undefined
      ? { volumes: [], mounts: [], suitePath: null, archive: false }
      : suiteMount(scoring.suite, 'spec.scoring.suite');
  const request: RoundRequest = {
    runName: run.name,
    runUID: run.uid,
    namespace: run.namespace,
    round,
    suitePath: suite.suitePath,
    archive: suite.archive,
    builtinSuite: scoring.suite?.builtin !== undefined,
    scoringSeconds: timeouts.scoring,
  };
  const scores = { name: 'scores', mountPath: MOUNTS.scores };
  const list = { name: 'round', mountPath: MOUNTS.round, readOnly: true };
  const scoreTmp = ownTmp(CONTAINERS.score, '2Gi');
  const publishTmp = ownTmp(CONTAINERS.publish, '256Mi');
  const token = tokenVolume();
  return onceJob(run, {
    name: runChildName(run.name, `score-${round}`),
    component: 'score',
    backoffLimit: 0,
    deadlineSeconds: Math.ceil(ROUND_SECONDS + timeouts.scoring * trials),
    pod: operatorPodSpec(config, {
      ...operatorPlacement(run, claim),
      ...noDns(),
      serviceAccountName: WORKER_ACCOUNT,
      initContainers: [
        operatorContainer(config, {
          name: CONTAINERS.score,
          args: ['score-round', 'score'],
          request,
          image: scoring.pythonImage ?? config.pythonImage ?? config.operatorImage,
          resources: scoringResources(run.spec),
          mounts: [
            runMount(run, (at) => at.root, MOUNTS.run, 'ro'),
            ...suite.mounts,
            list,
            scores,
            scoreTmp.mount,
          ],
        }),
      ],
      containers: [
        operatorContainer(config, {
          name: CONTAINERS.publish,
          args: ['score-round', 'publish'],
          request,
          resources: OPERATOR_RESOURCES.publish,
          mounts: [
            runMount(run, (at) => at.root, MOUNTS.run, 'rw'),
            list,
            { ...scores, readOnly: true },
            token.mount,
            publishTmp.mount,
          ],
        }),
      ],
      volumes: [
        claimVolume(claim),
        ...suite.volumes,
        { name: 'round', configMap: { name: roundConfigMapName(run, round) } },
        emptyDir('scores', '1Gi'),
        scoreTmp.volume,
        publishTmp.volume,
        token.volume,
      ],
    }),
  });
}
