import type { CallOptions, KubeClient } from './client.ts';
import { isAlreadyExists, NotOurChildError } from './errors.ts';
import {
  controllerOf,
  type Draft,
  isTerminating,
  type KubeObject,
  keyOf,
  ownerReferenceTo,
} from './object.ts';
import type { Resource } from './resource.ts';

/** `terminating`: it is ours, but on its way out; wait until it is gone before asking again. */
export interface EnsuredChild<T extends KubeObject> {
  readonly outcome: 'created' | 'existing' | 'terminating';
  readonly object: T;
}

/**
 * Creates a child with its owner as controller, or finds the one that an earlier pass created. The name must be
 * fixed, so that a second create of the same child is refused by the server.
 *
 * @throws NotOurChildError where the name is taken by an object that `owner` (this very UID) does not control
 */
export async function ensureChild<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  owner: KubeObject,
  draft: Draft<T>,
  options: CallOptions = {},
): Promise<EnsuredChild<T>> {
  const { name } = draft.metadata;
  if (name === undefined) throw new RangeError(`a child ${resource.kind} needs a fixed name`);
  const namespace = draft.metadata.namespace ?? owner.metadata.namespace;
  const ref = { ...(namespace === undefined ? {} : { namespace }), name };
  const others = (draft.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
  const metadata = { ...draft.metadata, ...ref, ownerReferences: [...others, ownerReferenceTo(owner)] };
  for (let attempt = 0; ; attempt += 1) {
    try {
      const object = await client.create<T>(resource, { ...draft, metadata }, options);
      return { outcome: 'created', object };
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw thrown;
      const object = await client.find(resource, ref, options);
      if (object === null) {
        // Gone between the two calls: the name is free again.
        if (attempt === 0) continue;
        throw thrown;
      }
      const controllerUid = controllerOf(object)?.uid ?? null;
      if (controllerUid !== owner.metadata.uid) {
        throw new NotOurChildError(`${resource.kind} ${keyOf(ref)}`, owner.metadata.uid, controllerUid);
      }
      return { outcome: isTerminating(object) ? 'terminating' : 'existing', object };
    }
  }
}
