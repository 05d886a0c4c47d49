import type { RoleBindingDraft, ServiceAccountDraft } from './kubernetes.ts';
import { WORKER_ACCOUNT, WORKER_ROLE } from '../../api/pod-contract.ts';
import { MANAGED_BY } from '../../api/run-children.ts';
import type { ObjectsConfig } from './context.ts';

/*
 * The account of `publish` and `publish-index`. It belongs to the namespace, not to a run: runs share it.
 */

function metadata(namespace: string) {
  return { name: WORKER_ACCOUNT, namespace, labels: { [MANAGED_BY.key]: MANAGED_BY.value } };
}

export function workerServiceAccount(namespace: string): ServiceAccountDraft {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadata(namespace),
    // Its pods project a token into one container each.
    automountServiceAccountToken: false,
  };
}

export function workerRoleBinding(
  namespace: string,
  { workerRoleKind }: Pick<ObjectsConfig, 'workerRoleKind'>,
): RoleBindingDraft {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: metadata(namespace),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: workerRoleKind, name: WORKER_ROLE },
    subjects: [{ kind: 'ServiceAccount', name: WORKER_ACCOUNT, namespace }],
  };
}
