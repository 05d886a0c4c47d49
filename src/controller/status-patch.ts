import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';

/**
 * The merge patch that turns one status into another: changed fields only, `null` for what is to go; null where both
 * are equal. A field that is null in `after` and absent before is no change.
 */
export function statusPatch(before: object, after: object): Record<string, unknown> | null {
  const old = before as Record<string, unknown>;
  const patch: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(after)) {
    if (!isDeepStrictEqual(stored(old[field]), stored(value))) patch[field] = value ?? null;
  }
  return Object.keys(patch).length === 0 ? null : patch;
}

/** A value as the API server keeps it: without fields that are null. */
function stored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stored);
  if (typeof value !== 'object' || value === null) return value ?? null;
  const kept = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  return Object.fromEntries(kept.map(([name, field]) => [name, stored(field)]));
}

/**
 * Writes a status as planned on `object`; the server refuses (409) when that is not the newest state.
 *
 * @returns the object as it is now, or null when there was nothing to write
 */
export async function writeStatus<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  object: T & { readonly status?: object },
  after: object,
  signal: AbortSignal,
): Promise<T | null> {
  const status = statusPatch(object.status ?? {}, after);
  if (status === null) return null;
  const { metadata } = object;
  return client.patch<T>(
    resource,
    metadata,
    { type: 'merge', body: { metadata: { resourceVersion: metadata.resourceVersion }, status } },
    { subresource: 'status', signal },
  );
}
