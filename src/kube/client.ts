import type { ClusterAccess } from './config.ts';
import { isGone, isNotFound } from './errors.ts';
import type { Draft, KubeObject, ObjectRef } from './object.ts';
import { keyOf } from './object.ts';
import { apiVersionOf, collectionPath, objectPath, type Resource } from './resource.ts';
import { type ApiRequest, Transport, type TransportOptions } from './transport.ts';
import { readWatch, type WatchEvent } from './watch-stream.ts';

export interface KubeClientOptions extends TransportOptions {
  /** Name under which this client's writes stand in managedFields. */
  readonly fieldManager: string;
  /** Throws where this process may not write now, e.g. `LeaderElector.fence`; asked before every write. */
  readonly guardWrite?: () => void;
}

/** Bounds of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for each try; default the client's. */
  readonly timeoutMs?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** The server checks and answers, and keeps nothing. */
  readonly dryRun?: boolean;
  readonly subresource?: 'status' | 'scale' | 'eviction' | 'token';
}

export interface Selection {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** As in `kubectl -l`. */
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection, CallOptions {
  /** Objects a page; default 500. */
  readonly limit?: number;
  /** `0` lets the server answer from its cache; absent: the newest state. */
  readonly resourceVersion?: string;
}

export interface WatchOptions extends Selection {
  readonly resourceVersion: string;
  /** After how long the server shall end the stream itself. */
  readonly timeoutSeconds: number;
  /** After how long without a byte we end it: bookmarks come about once a minute. */
  readonly idleMs: number;
  /** Bound of the server's first answer. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

export interface ObjectList<T extends KubeObject> {
  /** Of the moment at which the list is true; a watch starts here. */
  readonly resourceVersion: string;
  readonly items: readonly T[];
  /** Where more pages follow. */
  readonly continueToken: string | null;
}

export interface DeleteOptions extends CallOptions {
  /** Deletes only this object, not another one of the same name: 409 otherwise. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** One strategy each; the server's content type and rules follow from it. */
export type Patch =
  /** RFC 7386. With `metadata.resourceVersion` in it the server refuses (409) what was planned on an older state. */
  | { readonly type: 'merge'; readonly body: object }
  | { readonly type: 'json'; readonly body: readonly object[] }
  /** Built-in kinds only. */
  | { readonly type: 'strategic'; readonly body: object }
  /** Server-side apply of all fields this field manager wants; needs nothing to exist. */
  | { readonly type: 'apply'; readonly body: object; readonly force?: boolean };

const PATCH_CONTENT_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

const PAGE = 500;

/**
 * Calls to one cluster. Objects are raw JSON in both directions. Every method throws ApiStatusError,
 * ApiUnreachableError or the reason of its abort signal.
 */
export class KubeClient {
  readonly access: ClusterAccess;
  readonly fieldManager: string;
  readonly #transport: Transport;
  readonly #guardWrite: () => void;

  constructor(access: ClusterAccess, options: KubeClientOptions) {
    this.access = access;
    this.fieldManager = options.fieldManager;
    this.#guardWrite = options.guardWrite ?? (() => undefined);
    this.#transport = new Transport(access, options);
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: CallOptions = {},
  ): Promise<T> {
    return this.#send<T>('get', 'GET', resource, ref, { options });
  }

  /** The object, or null where it is not there (404); other failures are thrown. */
  async find<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: CallOptions = {},
  ): Promise<T | null> {
    try {
      return await this.get(resource, ref, options);
    } catch (thrown) {
      if (isNotFound(thrown)) return null;
      throw thrown;
    }
  }

  /** One page after the other, all of one moment. An expired continue token throws `isGone`. */
  async *pages<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): AsyncGenerator<ObjectList<T>, void, undefined> {
    let continueToken: string | null = null;
    do {
      const page: ObjectList<T> = await this.#page(resource, options, continueToken);
      yield page;
      continueToken = page.continueToken;
    } while (continueToken !== null);
  }

  /** All pages as one list; starts anew, once, when the pages expired meanwhile. */
  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const items: T[] = [];
        let resourceVersion = '';
        for await (const page of this.pages(resource, options)) {
          items.push(...page.items);
          resourceVersion = page.resourceVersion;
        }
        return { resourceVersion, items, continueToken: null };
      } catch (thrown) {
        if (attempt > 0 || !isGone(thrown)) throw thrown;
      }
    }
  }

  /** Events from a resourceVersion on, until the stream ends; see watch-stream.ts for how it may end. */
  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const summary = `watch ${resource.plural}`;
    // Ends the connection however the consumer leaves this generator.
    const connection = new AbortController();
    const signal = AbortSignal.any([options.signal, connection.signal]);
    try {
      const body = await this.#transport.open({
        method: 'GET',
        path: collectionPath(resource, options.namespace),
        query: {
          watch: true,
          allowWatchBookmarks: true,
          resourceVersion: options.resourceVersion,
          timeoutSeconds: options.timeoutSeconds,
          labelSelector: options.labelSelector,
          fieldSelector: options.fieldSelector,
        },
        verb: 'watch',
        resource: resource.plural,
        summary,
        signal,
        timeoutMs: options.timeoutMs,
      });
      yield* readWatch<T>(body, { summary, idleMs: options.idleMs, signal: options.signal });
    } finally {
      connection.abort();
    }
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    draft: Draft<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    const { name, namespace } = draft.metadata;
    const path =
      options.subresource !== undefined && name !== undefined
        ? objectPath(
            resource,
            { ...(namespace === undefined ? {} : { namespace }), name },
            options.subresource,
          )
        : collectionPath(resource, requireNamespace(resource, namespace));
    const target = name ?? `${draft.metadata.generateName ?? ''}*`;
    return this.#send<T>('create', 'POST', resource, null, {
      path,
      target: namespace === undefined ? target : `${namespace}/${target}`,
      body: { apiVersion: apiVersionOf(resource), kind: resource.kind, ...draft },
      query: this.#writeQuery(options),
      options,
    });
  }

  /** Writes the whole object; with its resourceVersion the server refuses to overwrite a newer state. */
  async replace<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<T> {
    return this.#send<T>('update', 'PUT', resource, object.metadata, {
      body: object,
      query: this.#writeQuery(options),
      options,
    });
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const apply = patch.type === 'apply';
    return this.#send<T>(apply ? 'apply' : 'patch', 'PATCH', resource, ref, {
      body: apply ? appliedBody(resource, ref, patch.body) : patch.body,
      contentType: PATCH_CONTENT_TYPES[patch.type],
      query: { ...this.#writeQuery(options), ...(apply ? { force: patch.force ?? false } : {}) },
      options,
    });
  }

  /** Asks for the deletion; finalizers and the grace period may keep the object for a while. 404 is thrown. */
  async delete(resource: Resource, ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    await this.#send<KubeObject>('delete', 'DELETE', resource, ref, { body: deleteBody(options), options });
  }

  /** Deletes what the selection matches in one namespace (or of a cluster-scoped resource). */
  async deleteCollection(
    resource: Resource,
    selection: Selection,
    options: Omit<DeleteOptions, 'uid' | 'resourceVersion'> = {},
  ): Promise<void> {
    await this.#send<KubeObject>('deletecollection', 'DELETE', resource, null, {
      path: collectionPath(resource, requireNamespace(resource, selection.namespace)),
      target: selection.namespace ?? '',
      query: { labelSelector: selection.labelSelector, fieldSelector: selection.fieldSelector },
      body: deleteBody(options),
      options,
    });
  }

  /** GET of any path, e.g. `/version`, `/readyz`, `/openapi/v3`. The answer must be JSON. */
  async raw(path: string, options: CallOptions = {}): Promise<unknown> {
    return this.#transport.send({
      method: 'GET',
      path,
      verb: 'get',
      resource: 'raw',
      summary: `get ${path}`,
      ...options,
    });
  }

  /** Ends every connection of the client, running calls included. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  async #page<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions,
    continueToken: string | null,
  ): Promise<ObjectList<T>> {
    const list = (await this.#transport.send({
      method: 'GET',
      path: collectionPath(resource, options.namespace),
      query: {
        limit: options.limit ?? PAGE,
        labelSelector: options.labelSelector,
        fieldSelector: options.fieldSelector,
        // A continue token carries its resourceVersion; the server refuses both.
        ...(continueToken === null
          ? { resourceVersion: options.resourceVersion }
          : { continue: continueToken }),
      },
      verb: 'list',
      resource: resource.plural,
      summary: `list ${resource.plural}${options.namespace === undefined ? '' : ` in ${options.namespace}`}`,
      signal: options.signal,
      timeoutMs: options.timeoutMs,
    })) as { metadata?: { resourceVersion?: string; continue?: string }; items?: T[] | null };
    // Items of built-in kinds come without them.
    const typeMeta = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    const token = list.metadata?.continue;
    return {
      resourceVersion: list.metadata?.resourceVersion ?? '',
      items: (list.items ?? []).map((item) => ({ ...typeMeta, ...item })),
      continueToken: token === undefined || token === '' ? null : token,
    };
  }

  async #send<T extends KubeObject>(
    verb: string,
    method: ApiRequest['method'],
    resource: Resource<T>,
    ref: ObjectRef | null,
    parts: {
      readonly path?: string;
      readonly target?: string;
      readonly body?: unknown;
      readonly contentType?: string;
      readonly query?: ApiRequest['query'];
      readonly options: WriteOptions;
    },
  ): Promise<T> {
    if (method !== 'GET') this.#guardWrite();
    const { subresource, signal, timeoutMs } = parts.options;
    const name = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
    const target = parts.target ?? (ref === null ? '' : keyOf(ref));
    const answer = await this.#transport.send({
      method,
      path: parts.path ?? objectPath(resource, ref ?? { name: '' }, subresource),
      ...(parts.query === undefined ? {} : { query: parts.query }),
      ...(parts.body === undefined ? {} : { body: parts.body }),
      ...(parts.contentType === undefined ? {} : { contentType: parts.contentType }),
      verb,
      resource: name,
      summary: `${verb} ${name} ${target}`.trimEnd(),
      signal,
      timeoutMs,
    });
    return answer as T;
  }

  #writeQuery(options: WriteOptions): Record<string, string | undefined> {
    return { fieldManager: this.fieldManager, dryRun: options.dryRun === true ? 'All' : undefined };
  }
}

/** The server wants kind and name in the body of an apply too. */
function appliedBody(resource: Resource, ref: ObjectRef, body: object): object {
  const given = 'metadata' in body && typeof body.metadata === 'object' ? body.metadata : {};
  const { namespace, name } = ref;
  const metadata = { ...(namespace === undefined ? {} : { namespace }), name, ...given };
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...body, metadata };
}

function deleteBody(options: DeleteOptions): object {
  const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun } = options;
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: propagationPolicy ?? 'Background',
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(uid === undefined && resourceVersion === undefined
      ? {}
      : { preconditions: { uid, resourceVersion } }),
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
  };
}

/** Without it a path would mean all namespaces, which no write may. */
function requireNamespace(resource: Resource, namespace: string | undefined): string | undefined {
  if (resource.namespaced && namespace === undefined) {
    throw new RangeError(`${resource.kind} needs a namespace`);
  }
  return namespace;
}
