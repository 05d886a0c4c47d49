import type { Builders } from '../builders.ts';
import { runClaim } from '../objects/claim.ts';
import type { ObjectsConfig } from '../objects/context.ts';
import { gatewayDeployment, gatewaySecret, gatewayService } from '../objects/gateway.ts';
import { networkPolicies } from '../objects/network-policies.ts';
import { prepareJob } from '../objects/prepare-job.ts';
import { probePod } from '../objects/probe-pod.ts';
import { roundConfigMap } from '../objects/round-config-map.ts';
import { scoreJob } from '../objects/score-job.ts';
import { trialPod } from '../objects/trial-pod.ts';
import { workerRoleBinding, workerServiceAccount } from '../objects/worker-account.ts';

/** The objects of runs as this installation makes them. */
export function objectBuilders(config: ObjectsConfig): Builders {
  return {
    trialPod: (input) => trialPod({ ...input, config }),
    prepareJob: (run, claim) => prepareJob(run, config, claim),
    scoreJob: (run, claim, round, trials) => scoreJob(run, config, claim, round, trials),
    roundConfigMap,
    probePod: (run) => probePod(run, config),
    claim: (run) => runClaim(run, config),
    gateway: (run, claim, secret) => ({
      secret: gatewaySecret(run, secret),
      service: gatewayService(run),
      deployment: gatewayDeployment(run, config, claim),
    }),
    policies: (run) => networkPolicies(run, config),
    worker: (namespace) => ({
      account: workerServiceAccount(namespace),
      binding: workerRoleBinding(namespace, config),
    }),
  };
}
