import type {
  ConfigMap,
  CustomObject,
  CustomResourceDefinition,
  Deployment,
  EndpointSlice,
  Event,
  Job,
  KubeObject,
  Lease,
  Namespace,
  NetworkPolicy,
  Node,
  ObjectRef,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StorageClass,
} from './object.ts';

/** Where a kind of object lives in the API. `T` is the type of its objects; it exists for the compiler only. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set. */
  readonly objectType?: T;
}

const CLAWBENCH = { group: 'clawbench.dev', version: 'v1alpha1', namespaced: true };
const CORE = { group: '', version: 'v1', namespaced: true };
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true };

export const BENCHMARK_RUNS: Resource<CustomObject> = {
  ...CLAWBENCH,
  plural: 'benchmarkruns',
  kind: 'BenchmarkRun',
};
export const TRIALS: Resource<CustomObject> = { ...CLAWBENCH, plural: 'trials', kind: 'Trial' };

export const PODS: Resource<Pod> = { ...CORE, plural: 'pods', kind: 'Pod' };
export const CONFIG_MAPS: Resource<ConfigMap> = { ...CORE, plural: 'configmaps', kind: 'ConfigMap' };
export const SECRETS: Resource<Secret> = { ...CORE, plural: 'secrets', kind: 'Secret' };
export const SERVICES: Resource<Service> = { ...CORE, plural: 'services', kind: 'Service' };
export const SERVICE_ACCOUNTS: Resource<ServiceAccount> = {
  ...CORE,
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
};
export const PERSISTENT_VOLUME_CLAIMS: Resource<PersistentVolumeClaim> = {
  ...CORE,
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
};
export const PERSISTENT_VOLUMES: Resource<PersistentVolume> = {
  ...CORE,
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
};
export const NODES: Resource<Node> = { ...CORE, plural: 'nodes', kind: 'Node', namespaced: false };
export const NAMESPACES: Resource<Namespace> = {
  ...CORE,
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};
export const JOBS: Resource<Job> = {
  group: 'batch',
  version: 'v1',
  plural: 'jobs',
  kind: 'Job',
  namespaced: true,
};
export const DEPLOYMENTS: Resource<Deployment> = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
};
export const NETWORK_POLICIES: Resource<NetworkPolicy> = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'networkpolicies',
  kind: 'NetworkPolicy',
  namespaced: true,
};
export const ROLES: Resource<Role> = { ...RBAC, plural: 'roles', kind: 'Role' };
export const ROLE_BINDINGS: Resource<RoleBinding> = { ...RBAC, plural: 'rolebindings', kind: 'RoleBinding' };
export const LEASES: Resource<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};
export const EVENTS: Resource<Event> = {
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
};
export const STORAGE_CLASSES: Resource<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
};
export const ENDPOINT_SLICES: Resource<EndpointSlice> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};
export const CUSTOM_RESOURCE_DEFINITIONS: Resource<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

/** The same resource with the type of its objects known better, e.g. `typed<TrialObject>(TRIALS)`. */
export function typed<T extends KubeObject>(resource: Resource): Resource<T> {
  const { group, version, plural, kind, namespaced } = resource;
  return { group, version, plural, kind, namespaced };
}

/** `v1`, `batch/v1`. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/**
 * Path of a resource's collection; of all namespaces where a namespaced resource is given none.
 *
 * @throws RangeError for a namespace that is not a plain name
 */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === '' ? '/api' : `/apis/${resource.group}`;
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
  return `${root}/${resource.version}${scope}/${resource.plural}`;
}

/**
 * Path of one object, or of a subresource of it.
 *
 * @throws RangeError for a namespaced resource without a namespace, or a name that is not a plain name
 */
export function objectPath(resource: Resource, ref: ObjectRef, subresource?: string): string {
  if (resource.namespaced && ref.namespace === undefined) {
    throw new RangeError(`${resource.kind} ${ref.name} needs a namespace`);
  }
  const path = `${collectionPath(resource, ref.namespace)}/${segment(ref.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Names come from the API or from users: none may climb to another path. */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/')) {
    throw new RangeError(`${JSON.stringify(name)} is not a name of an object`);
  }
  return encodeURIComponent(name);
}
