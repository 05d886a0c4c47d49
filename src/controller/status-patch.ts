import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Resource } from '../kube/resource.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The merge patch (RFC 7386) that turns one status into another; null where both are equal. Fields that `after` does
 * not name stay as they are; inside a field, what `after` does not have is taken away: a count that is none any more
 * must not stand there for ever.
 */
export function statusPatch(before: object, after: object): Fields | null {
  const old = before as Fields;
  const patch: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(after)) {
    const [was, is] = [stored(old[field]), stored(value)];
    if (!isDeepStrictEqual(was, is)) patch[field] = difference(was, is);
  }
  return Object.keys(patch).length === 0 ? null : patch;
}

/** A merge patch keeps the fields of objects that it does not name; everything else it replaces. */
function difference(was: unknown, is: unknown): unknown {
  if (!isObject(was) || !isObject(is)) return is;
  const patch: Record<string, unknown> = {};
  for (const field of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (!isDeepStrictEqual(was[field], is[field])) patch[field] = difference(was[field], is[field] ?? null);
  }
  return patch;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
