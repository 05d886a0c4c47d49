import type { PodDraft } from './kubernetes.ts';
import { runChildName } from '../../api/names.ts';
import { CONTAINERS } from '../../api/pod-contract.ts';
import { CLOSED_POD, noDns, pullSecrets } from './containers.ts';
import { executorUser, type ObjectsConfig, type RunContext } from './context.ts';
import { executorNode, injectedNode, runtimeContainer } from './executor-container.ts';
import { oncePod } from './operator-pod.ts';
import { readPodTemplate } from './pod-template.ts';
import { podSecurity } from './security.ts';

/** Seconds that the check itself may take, beside pulling and starting. */
const CHECK_SECONDS = 60;
const OLDEST_NODE = 20;

/** How the probe ends, by exit code; its termination message is the version, or what is wrong. */
export const PROBE_EXITS = { noNode: 3, oldNode: 4 } as const;

/**
 * The preflight: starts the runtime's image once, as user and on nodes of a trial, and asks for its Node.js. An image
 * that cannot be pulled, has no shell, or no Node.js, thus fails once instead of in every trial.
 *
 * @throws InvalidInputError when the run's specification cannot become a pod
 */
export function probePod(run: RunContext, config: ObjectsConfig): PodDraft {
  const template = readPodTemplate(run.spec.runtime.podTemplate);
  const node = injectedNode(run, config);
  return oncePod(run, runChildName(run.name, 'probe'), 'probe', {
    ...template.placement,
    ...CLOSED_POD,
    ...noDns(),
    ...pullSecrets(config),
    activeDeadlineSeconds: Math.ceil(run.spec.timeouts.start + CHECK_SECONDS),
    terminationGracePeriodSeconds: 5,
    securityContext: { ...template.securityContext, ...podSecurity(executorUser(run)) },
    ...(node.init.length === 0 ? {} : { initContainers: node.init }),
    containers: [
      runtimeContainer(run, config, {
        name: CONTAINERS.probe,
        script: checkScript(executorNode(run)),
        mounts: node.mounts,
      }),
    ],
    volumes: node.volumes,
  });
}

function checkScript(node: string): string {
  const say = (words: string, code: number) => `{ echo "${words}" > /dev/termination-log; exit ${code}; }`;
  return [
    `version=$(${node} --version 2>&1) || ${say('cannot start node: $version', PROBE_EXITS.noNode)}`,
    'major=${version#v}; major=${major%%.*}',
    `[ "$major" -ge ${OLDEST_NODE} ] 2>/dev/null || ${say(`Node.js $version is older than ${OLDEST_NODE}`, PROBE_EXITS.oldNode)}`,
    'echo "$version" > /dev/termination-log',
  ].join('\n');
}
