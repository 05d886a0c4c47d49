import { z } from 'zod';

/*
 * Parts that the schemas of resources share. Every string, list and map of a resource is bounded: an object stays
 * storable, and the API server can bound the cost of the rules over it.
 */

/** Name of an object of Kubernetes. */
export const name = z.string().min(1).max(253);
/** Id of a scenario. */
export const id = z.string().min(1).max(128);
export const ids = z.array(id).max(2000);
export const words = z.array(z.string().min(1).max(128)).max(64);
export const image = z.string().min(1).max(512);
/** Path on a volume, relative to its root. */
export const relativePath = z.string().min(1).max(1024);

/** A map with at most `max` entries. */
export function boundedMap<Key extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  key: Key,
  value: Value,
  max: number,
) {
  return z
    .record(key, value)
    .refine((map) => Object.keys(map).length <= max, { error: `at most ${max} entries` })
    .meta({ maxProperties: max });
}

export const stringMap = boundedMap(z.string().max(317), z.string().max(4096), 128);
/** Handed on as it is: its fields are another program's. */
export const opaqueMap = boundedMap(z.string().max(256), z.unknown(), 256);

/** A quantity of Kubernetes. Written as a number, it is read as the text of it. */
const quantity = z
  .union([z.string().min(1).max(32), z.number()])
  .transform(String)
  .meta({ 'x-kubernetes-int-or-string': true, maxLength: 32 });
const quantities = boundedMap(z.string().max(317), quantity, 16);

/** Requests and limits of a container. */
export const resources = z.strictObject({
  requests: quantities.optional().describe('What a node must have free, e.g. `cpu: 500m`, `memory: 1Gi`.'),
  limits: quantities.optional().describe('What the container may use, e.g. `cpu: 2`, `memory: 4Gi`.'),
});

export const claimReference = z.strictObject({
  claimName: name.describe("Name of a PersistentVolumeClaim in the run's namespace."),
});

/** A point in time, RFC 3339. */
export const timestamp = z.string().max(64);
