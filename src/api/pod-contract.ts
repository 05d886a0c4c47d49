/**
 * What the controller, which makes pods, and the programs inside them agree on: paths, ports, environment, words.
 * A pod built by one version is run by the program of the same image, so nothing here is versioned but the
 * termination message (src/api/harness-report.ts).
 */

/** Group of everything on a run's volume and in shared folders; `fsGroup` of every pod that mounts one. */
export const VOLUME_GID = 65_532;
/** User of the operator's own programs. */
export const OPERATOR_UID = 65_532;

/** Where things are mounted, in every container that has them. */
export const MOUNTS = {
  /** Root of the claim; the container `freeze` only. */
  volume: '/clawbench/volume',
  /** A run's folder (subPath `<run-uid>`): score (read-only), publish, reader. */
  run: '/clawbench/run',
  /** A frozen public scenario (subPath, read-only): harness. */
  public: '/clawbench/public',
  /** Scripts of a scenario (subPath, read-only): harness, for the scripted runtime or model only. */
  scripted: '/clawbench/scripted',
  /** The trial's own folder (subPath, writable): harness. */
  trial: '/clawbench/trial',
  /** Shared emptyDirs of harness and executor; `program` is read-only for the executor. */
  work: '/clawbench/work',
  state: '/clawbench/state',
  home: '/clawbench/home',
  program: '/clawbench/program',
  /** emptyDir with a Node.js of the operator's image, where `injectNode` asks for one; read-only for the executor. */
  node: '/clawbench/node',
  /** A ConfigMap or image that holds a suite: freeze. */
  suite: '/clawbench/suite',
  /** ConfigMap of a score round (round.json). */
  round: '/clawbench/round',
  /** What `score` hands to `publish`. */
  scores: '/clawbench/scores',
  /** What `freeze` hands to `publish-index`. */
  index: '/clawbench/index',
  /** The gateway's journal (subPath `<run-uid>/gateway`). */
  journal: '/clawbench/journal',
  /** Root of the claim of `model.cassette`; gateway only. */
  cassette: '/clawbench/cassette',
} as const;

/** What starts Node.js in an executor: of the image itself, or the one that `injectNode` put there. */
export const EXECUTOR_NODE = { image: 'node', injected: `${MOUNTS.node}/node` } as const;

/** Ports on a pod's loopback device. */
export const PORTS = {
  shim: 7070,
  model: 7071,
  /** Of the gateway's Service: model calls (run's pods), control (controller), metrics. */
  gatewayModel: 8080,
  gatewayControl: 8081,
  metrics: 9090,
  health: 8082,
  reader: 8090,
} as const;

/** Names of environment variables that the controller sets; MOUNT_ROOT, the ports and TERMINATION_LOG are for tests. */
export const ENV = {
  /** JSON of the container's request: `harnessRequestSchema`, `freezeRequestSchema`, `roundRequestSchema`, `gatewayRequestSchema`. */
  REQUEST: 'CLAWBENCH_REQUEST',
  /** UID of the pod, from the downward API. */
  POD_UID: 'CLAWBENCH_POD_UID',
  POD_NAME: 'CLAWBENCH_POD_NAME',
  POD_NAMESPACE: 'CLAWBENCH_POD_NAMESPACE',
  NODE_NAME: 'CLAWBENCH_NODE_NAME',
  /** Deployment of the controller in its namespace, scaled to nothing before runs are released; uninstallation only. */
  DEPLOYMENT: 'CLAWBENCH_DEPLOYMENT',
  /** Bearer of the attempt at the gateway (src/gateway/token.ts); harness only. */
  GATEWAY_TOKEN: 'CLAWBENCH_GATEWAY_TOKEN',
  /** Key that the gateway's tokens are signed with, from the run's Secret; gateway only. */
  GATEWAY_SECRET: 'CLAWBENCH_GATEWAY_SECRET',
  /** Key of the model provider; gateway only. */
  API_KEY: 'CLAWBENCH_API_KEY',
  /** Folder below which the MOUNTS lie; unset is `/`. */
  MOUNT_ROOT: 'CLAWBENCH_MOUNT_ROOT',
  /** Port on which the harness waits for the shim; unset is PORTS.shim. */
  SHIM_PORT: 'CLAWBENCH_SHIM_PORT',
  /** Port of the attempt's model endpoint; unset is PORTS.model. */
  MODEL_PORT: 'CLAWBENCH_MODEL_PORT',
  /** File of the termination message; unset is /dev/termination-log. */
  TERMINATION_LOG: 'CLAWBENCH_TERMINATION_LOG',
} as const;

/** Containers by name: what the controller looks for in a pod's status. */
export const CONTAINERS = {
  harness: 'harness',
  executor: 'executor',
  freeze: 'freeze',
  publishIndex: 'publish-index',
  score: 'score',
  publish: 'publish',
  gateway: 'gateway',
  probe: 'probe',
  reader: 'reader',
} as const;

/** Service account of publish and publish-index in a run's namespace, made by the controller. */
export const WORKER_ACCOUNT = 'clawbench-worker';
/** ClusterRole of the chart that the worker's RoleBinding refers to. */
export const WORKER_ROLE = 'clawbench-worker';
/** Finalizer of a run, set only while pods of it can be live. */
export const RUN_FINALIZER = 'clawbench.dev/pods';
/** Field managers. */
export const FIELD_MANAGERS = { controller: 'clawbench-controller', publish: 'clawbench-publish' } as const;

/** `terminationGracePeriodSeconds` of a trial's pod: within it an attempt that is told to end is still collected. */
export const TRIAL_GRACE_SECONDS = 90;

/** Bytes that a termination message may have; the kubelet would keep the last 4096. */
export const TERMINATION_MESSAGE_BYTES = 2048;
