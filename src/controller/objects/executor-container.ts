import type { Container, Volume, VolumeMount } from './kubernetes.ts';
import { CONTAINERS, EXECUTOR_NODE, MOUNTS, PORTS } from '../../api/pod-contract.ts';
import type { ResolvedTimeouts } from '../../api/timeouts.ts';
import type { ContainerName } from './containers.ts';
import { executorUser, runtimeImage, type ObjectsConfig, type RunContext } from './context.ts';
import { diskCeiling, executorResources, OPERATOR_RESOURCES } from './resources.ts';
import { executorSecurity, operatorSecurity } from './security.ts';
import { emptyDir, ownTmp } from './volumes.ts';

type ExecutorConfig = Pick<
  ObjectsConfig,
  'operatorImage' | 'runtimeImages' | 'defaultImagePullPolicy' | 'defaultResources'
>;

/** Folders that harness and executor share; the harness alone writes `program`. */
const SHARED = ['work', 'state', 'home', 'program'] as const;
const PROGRAM_BYTES = String(64 * 1024 ** 2);
const NODE_VOLUME = 'node';

const SHIM = `${MOUNTS.program}/shim.mjs`;

/** emptyDirs that the two containers share, each as large as the agent's bound on the disk allows at most. */
export function sharedVolumes(run: Pick<RunContext, 'spec'>, config: ExecutorConfig): Volume[] {
  const ceiling = String(diskCeiling(run.spec, config));
  return SHARED.map((name) => emptyDir(name, name === 'program' ? PROGRAM_BYTES : ceiling));
}

export function sharedMounts(container: 'harness' | 'executor'): VolumeMount[] {
  return SHARED.map((name) => ({
    name,
    mountPath: MOUNTS[name],
    readOnly: name === 'program' && container === 'executor',
  }));
}

/**
 * Node.js for an image without one: an init container copies the operator's own into an emptyDir. An image volume
 * would save the copy (about a second an attempt), but it is mounted noexec and is not on every cluster.
 */
export function injectedNode(
  run: Pick<RunContext, 'spec'>,
  config: ExecutorConfig,
): { readonly volumes: Volume[]; readonly mounts: VolumeMount[]; readonly init: Container[] } {
  if (!run.spec.runtime.injectNode) return { volumes: [], mounts: [], init: [] };
  const mount = { name: NODE_VOLUME, mountPath: MOUNTS.node };
  return {
    volumes: [emptyDir(NODE_VOLUME, '256Mi')],
    mounts: [{ ...mount, readOnly: true }],
    init: [
      {
        name: 'copy-node',
        image: config.operatorImage,
        imagePullPolicy: config.defaultImagePullPolicy,
        command: [
          'sh',
          '-c',
          `cp "$(command -v node)" ${EXECUTOR_NODE.injected} && chmod 0755 ${EXECUTOR_NODE.injected}`,
        ],
        resources: OPERATOR_RESOURCES.copyNode,
        securityContext: operatorSecurity(executorUser(run)),
        terminationMessagePolicy: 'FallbackToLogsOnError',
        volumeMounts: [mount],
      },
    ],
  };
}

/** What starts Node.js in the run's executor. */
export function executorNode(run: Pick<RunContext, 'spec'>): string {
  return run.spec.runtime.injectNode ? EXECUTOR_NODE.injected : EXECUTOR_NODE.image;
}

/** A container of the runtime's image, as the agent gets it, whatever it then runs. Its environment holds nothing secret. */
export function runtimeContainer(
  run: Pick<RunContext, 'spec'>,
  config: ExecutorConfig,
  parts: {
    readonly name: ContainerName;
    readonly script: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly mounts: readonly VolumeMount[];
  },
): Container {
  return {
    name: parts.name,
    image: runtimeImage(run, config),
    imagePullPolicy: config.defaultImagePullPolicy,
    command: ['sh', '-c', parts.script],
    env: Object.entries(parts.env ?? {}).map(([name, value]) => ({ name, value })),
    resources: executorResources(run.spec, config),
    securityContext: executorSecurity(executorUser(run)),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    volumeMounts: [...parts.mounts],
  };
}

/**
 * The container `executor`. Its shell waits for the shim, which the harness puts there whole, and becomes it, so that
 * the shim is PID 1 and can kill everything in the container.
 */
export function executorContainer(
  run: Pick<RunContext, 'spec'>,
  config: ExecutorConfig,
  timeouts: Pick<ResolvedTimeouts, 'start'>,
): { readonly container: Container; readonly volumes: Volume[]; readonly init: Container[] } {
  const node = injectedNode(run, config);
  const tmp = ownTmp(CONTAINERS.executor, String(diskCeiling(run.spec, config)));
  // Not every sleep takes a fraction of a second.
  const script = [
    `until [ -s ${SHIM} ]; do sleep 0.05 2>/dev/null || sleep 1; done`,
    `exec ${executorNode(run)} --no-warnings ${SHIM} serve`,
  ].join('; ');
  return {
    container: runtimeContainer(run, config, {
      name: CONTAINERS.executor,
      script,
      env: {
        CLAWBENCH_SHIM_ADDRESS: `127.0.0.1:${PORTS.shim}`,
        CLAWBENCH_SHIM_PATIENCE: String(Math.ceil(timeouts.start)),
      },
      mounts: [...sharedMounts('executor'), ...node.mounts, tmp.mount],
    }),
    volumes: [...node.volumes, tmp.volume],
    init: node.init,
  };
}
