import type { PodSecurityContext, SecurityContext } from './kubernetes.ts';
import { OPERATOR_UID, VOLUME_GID } from '../../api/pod-contract.ts';

/** What a root image needs to install packages and to work as other users; Pod Security level baseline allows them. */
export const ROOT_CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETUID', 'SETGID'] as const;

/** What a harness beside a root agent needs to stage and collect files of whatever owner and mode. */
const ROOT_HARNESS_CAPABILITIES = ['DAC_OVERRIDE', 'FOWNER'] as const;

/**
 * Security context of a pod. Containers of the executor's user set their own user and group.
 *
 * `OnRootMismatch`: the volume may be large, and `freeze` already made everything the group's.
 */
export function podSecurity(uid = OPERATOR_UID): PodSecurityContext {
  return {
    runAsUser: uid,
    runAsGroup: VOLUME_GID,
    runAsNonRoot: uid !== 0,
    fsGroup: VOLUME_GID,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  };
}

/** Security context of a container that runs the operator's own program, also beside an agent of user `uid`. */
export function operatorSecurity(uid = OPERATOR_UID): SecurityContext {
  return {
    runAsUser: uid,
    runAsGroup: VOLUME_GID,
    runAsNonRoot: uid !== 0,
    allowPrivilegeEscalation: false,
    privileged: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], ...(uid === 0 ? { add: [...ROOT_HARNESS_CAPABILITIES] } : {}) },
    seccompProfile: { type: 'RuntimeDefault' },
  };
}

/**
 * Security context of a container of the runtime's image. Its main group is not the volume's; it writes its root
 * file system, because agents install programs.
 */
export function executorSecurity(uid: number): SecurityContext {
  return {
    runAsUser: uid,
    runAsGroup: uid,
    runAsNonRoot: uid !== 0,
    allowPrivilegeEscalation: false,
    privileged: false,
    readOnlyRootFilesystem: false,
    capabilities: { drop: ['ALL'], ...(uid === 0 ? { add: [...ROOT_CAPABILITIES] } : {}) },
    seccompProfile: { type: 'RuntimeDefault' },
  };
}
