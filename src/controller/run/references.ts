import type { BenchmarkRunSpec, ModelSpec } from '../../api/benchmark-run.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import { CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, SECRETS, STORAGE_CLASSES } from '../../kube/resource.ts';
import type { MissingReference } from './observation.ts';
import type { RunView } from '../run-view.ts';

type Reference = MissingReference;

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** Everything in the run's namespace that the run names, and that its pods would wait for without an end. */
export function referencesOf(spec: BenchmarkRunSpec): Reference[] {
  const { supervision, model, artifacts } = spec;
  return [
    ...modelReferences('spec.model', model),
    ...(supervision.enabled ? modelReferences('spec.supervision.supervisor', supervision.supervisor) : []),
    ...(supervision.enabled
      ? modelReferences('spec.supervision.userSimulator', supervision.userSimulator)
      : []),
    ...suiteReferences('spec.suite', spec.suite),
    ...(spec.scoring.suite === undefined ? [] : suiteReferences('spec.scoring.suite', spec.scoring.suite)),
    ...(artifacts.persistentVolumeClaim === undefined
      ? []
      : [claim('spec.artifacts.persistentVolumeClaim', artifacts.persistentVolumeClaim.claimName)]),
  ];
}

function modelReferences(field: string, model: ModelSpec | undefined): Reference[] {
  const { apiKeySecretRef, cassette } = model ?? {};
  return [
    ...(apiKeySecretRef === undefined
      ? []
      : [{ kind: 'Secret' as const, ...apiKeySecretRef, field: `${field}.apiKeySecretRef` }]),
    ...(cassette?.claim === undefined || cassette.mode === 'off'
      ? []
      : [claim(`${field}.cassette.claim`, cassette.claim)]),
  ];
}

function suiteReferences(
  field: string,
  { configMap, persistentVolumeClaim }: BenchmarkRunSpec['suite'],
): Reference[] {
  return [
    ...(configMap === undefined
      ? []
      : [{ kind: 'ConfigMap' as const, name: configMap.name, field: `${field}.configMap` }]),
    ...(persistentVolumeClaim === undefined
      ? []
      : [claim(`${field}.persistentVolumeClaim`, persistentVolumeClaim.claimName)]),
  ];
}

function claim(field: string, name: string): Reference {
  return { kind: 'PersistentVolumeClaim', name, field };
}

/** Asks the API server which of them are missing. */
export async function findMissing(
  client: KubeClient,
  run: RunView,
  defaultClass: string | undefined,
  signal: AbortSignal,
): Promise<MissingReference[]> {
  const missing: MissingReference[] = [];
  for (const reference of referencesOf(run.spec)) {
    const found = await isThere(client, run.namespace, reference, signal);
    if (found === 'missing') missing.push(withoutKey(reference));
    else if (found === 'keyless') missing.push(reference);
  }
  const storage = await missingClass(client, run.spec, defaultClass, signal);
  return storage === null ? missing : [...missing, storage];
}

async function isThere(
  client: KubeClient,
  namespace: string,
  { kind, name, key }: Reference,
  signal: AbortSignal,
): Promise<'there' | 'missing' | 'keyless'> {
  const ref = { namespace, name };
  switch (kind) {
    case 'Secret': {
      const secret = await client.find(SECRETS, ref, { signal });
      if (secret === null) return 'missing';
      return key === undefined || secret.data?.[key] !== undefined ? 'there' : 'keyless';
    }
    case 'ConfigMap':
      return (await client.find(CONFIG_MAPS, ref, { signal })) === null ? 'missing' : 'there';
    case 'PersistentVolumeClaim':
      return (await client.find(PERSISTENT_VOLUME_CLAIMS, ref, { signal })) === null ? 'missing' : 'there';
    case 'StorageClass':
      return 'there';
  }
}

/** Whether the run's own claim will find a StorageClass; nobody else would ever say that it does not. */
async function missingClass(
  client: KubeClient,
  { artifacts }: BenchmarkRunSpec,
  defaultClass: string | undefined,
  signal: AbortSignal,
): Promise<MissingReference | null> {
  if (artifacts.persistentVolumeClaim !== undefined) return null;
  const template = artifacts.volumeClaimTemplate?.spec as
    { readonly storageClassName?: string; readonly volumeName?: string } | undefined;
  const wanted = template?.storageClassName ?? defaultClass;
  // An empty class asks for a volume that somebody made by hand.
  if (wanted === '' || template?.volumeName !== undefined) return null;
  try {
    const { items } = await client.list(STORAGE_CLASSES, { signal });
    const found =
      wanted === undefined
        ? items.some(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true')
        : items.some(({ metadata }) => metadata.name === wanted);
    const field = 'spec.artifacts.volumeClaimTemplate.spec.storageClassName';
    return found ? null : { kind: 'StorageClass', name: wanted ?? '', field };
  } catch (thrown) {
    // An installation for one namespace may not list what belongs to the cluster: then the claim itself has to tell.
    if (isForbidden(thrown)) return null;
    throw thrown;
  }
}

function withoutKey({ kind, name, field }: Reference): MissingReference {
  return { kind, name, field };
}
