import type { Volume, VolumeMount } from './kubernetes.ts';
import { MOUNTS } from '../../api/pod-contract.ts';
import { runLayout } from '../../api/run-layout.ts';
import type { ClaimRef, RunContext } from './context.ts';

/** Where clients inside a cluster look for their credentials. */
const TOKEN_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Seconds; the kubelet renews it long before. */
const TOKEN_SECONDS = 3600;
const CLAIM_VOLUME = 'artifacts';

export interface Mounted {
  readonly volume: Volume;
  readonly mount: VolumeMount;
}

/** The claim of the artifacts. It is mounted whole by `freeze` alone, and by subPath everywhere else. */
export function claimVolume(claim: ClaimRef): Volume {
  return { name: CLAIM_VOLUME, persistentVolumeClaim: { claimName: claim.name } };
}

/** Root of the claim: for the container that makes the run's folder. */
export function claimRootMount(): VolumeMount {
  return { name: CLAIM_VOLUME, mountPath: MOUNTS.volume };
}

/**
 * A part of the run's folder, by subPath.
 *
 * @param part of `runLayout`, e.g. its root or a trial's folder
 */
export function runMount(
  run: Pick<RunContext, 'uid'>,
  part: (layout: ReturnType<typeof runLayout>) => string,
  mountPath: string,
  access: 'ro' | 'rw',
): VolumeMount {
  return {
    name: CLAIM_VOLUME,
    mountPath,
    subPath: part(runLayout(run.uid)),
    readOnly: access === 'ro',
  };
}

/** An emptyDir that may hold so many bytes, or a quantity; the kubelet ends a pod that fills it. */
export function emptyDir(name: string, sizeLimit: string): Volume {
  return { name, emptyDir: { sizeLimit } };
}

/** /tmp of a container whose root file system is read-only, or that is to share it with nobody. */
export function ownTmp(container: string, sizeLimit: string): Mounted {
  const name = `tmp-${container}`;
  return { volume: emptyDir(name, sizeLimit), mount: { name, mountPath: '/tmp' } };
}

/** A service-account token for one container alone, as a projected volume where clients look for it. */
export function tokenVolume(): Mounted {
  const name = 'token';
  return {
    volume: {
      name,
      projected: {
        defaultMode: 0o440,
        sources: [
          { serviceAccountToken: { path: 'token', expirationSeconds: TOKEN_SECONDS } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
        ],
      },
    },
    mount: { name, mountPath: TOKEN_FOLDER, readOnly: true },
  };
}
