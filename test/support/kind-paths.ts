/** Kinds of the chart -> plural, and whether they live in a namespace. */
const KINDS: Readonly<Record<string, readonly [string, boolean]>> = {
  ServiceAccount: ['serviceaccounts', true],
  ConfigMap: ['configmaps', true],
  Service: ['services', true],
  Deployment: ['deployments', true],
  Job: ['jobs', true],
  PodDisruptionBudget: ['poddisruptionbudgets', true],
  NetworkPolicy: ['networkpolicies', true],
  Role: ['roles', true],
  RoleBinding: ['rolebindings', true],
  ClusterRole: ['clusterroles', false],
  ClusterRoleBinding: ['clusterrolebindings', false],
  CustomResourceDefinition: ['customresourcedefinitions', false],
  ValidatingAdmissionPolicy: ['validatingadmissionpolicies', false],
  ValidatingAdmissionPolicyBinding: ['validatingadmissionpolicybindings', false],
};

/** Path of an object in the API. */
export function objectPath(object: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}): string {
  const [plural, namespaced] = KINDS[object.kind] ?? [];
  if (plural === undefined) throw new Error(`no path is known for kind ${object.kind}`);
  const root = object.apiVersion.includes('/') ? `/apis/${object.apiVersion}` : `/api/${object.apiVersion}`;
  const { name, namespace } = object.metadata;
  if (namespaced && namespace === undefined) throw new Error(`${object.kind} ${name} names no namespace`);
  return `${root}${namespaced ? `/namespaces/${namespace ?? ''}` : ''}/${plural}/${name}`;
}
