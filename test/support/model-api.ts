import type { ServerResponse } from 'node:http';
import type { KubeObject } from '../../src/kube/object.ts';
import { type SeenRequest, sendJson, sendStatus } from './loopback-server.ts';

/** What the next request, or the running watches, shall suffer. */
export type Fault =
  | 'error500'
  | 'unavailable503'
  | 'reset'
  | 'not-json'
  | 'gone-http'
  | 'gone-event'
  | 'empty-watch'
  | 'cut-mid-line'
  | 'split-bytes';

interface LoggedEvent {
  readonly resourceVersion: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

/**
 * The part of an API server that a reflector and a leader elector see, over one resource: versions, pages of one
 * moment, a watch from a version on, compaction, optimistic locking. It does as it is told to misbehave.
 */
export class ModelApi {
  readonly objects = new Map<string, KubeObject>();
  /** Taken by the requests that come, one each. */
  readonly faults: Fault[] = [];
  readonly watchers = new Set<ServerResponse>();
  /** Most objects a page, however many were asked for. */
  pageSize = 500;
  #version = 10;
  #uid = 0;
  #compacted = 0;
  #log: LoggedEvent[] = [];
  readonly #snapshots = new Map<string, { readonly version: number; readonly items: KubeObject[] }>();
  /** A stream that gets nothing any more, as if the network dropped its packets. */
  readonly #deaf = new WeakSet<ServerResponse>();

  get version(): number {
    return this.#version;
  }

  put(name: string, fields: object = {}): KubeObject {
    const old = this.objects.get(name);
    this.#version += 1;
    this.#uid += old === undefined ? 1 : 0;
    const object: KubeObject & { note: string } = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      ...fields,
      note: `grüße ${String(this.#version)} 😀`,
      metadata: {
        name,
        namespace: 'team-a',
        uid: old?.metadata.uid ?? `uid-${String(this.#uid)}`,
        resourceVersion: String(this.#version),
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...{ managedFields: [{ manager: 'model' }] },
      },
    };
    this.objects.set(name, object);
    this.#emit({ resourceVersion: this.#version, type: old === undefined ? 'ADDED' : 'MODIFIED', object });
    return object;
  }

  remove(name: string): void {
    const old = this.objects.get(name);
    if (old === undefined) return;
    this.#version += 1;
    this.objects.delete(name);
    const object = { ...old, metadata: { ...old.metadata, resourceVersion: String(this.#version) } };
    this.#emit({ resourceVersion: this.#version, type: 'DELETED', object });
  }

  /** Forgets history and cuts the watches: whoever comes with an older version gets 410. */
  compact(): void {
    this.#compacted = this.#version;
    this.#log = [];
    this.#snapshots.clear();
  }

  bookmark(): void {
    const object = { kind: 'ConfigMap', metadata: { resourceVersion: String(this.#version) } };
    for (const watcher of this.watchers) this.#write(watcher, { type: 'BOOKMARK', object });
  }

  /** Ends the running watches: in good order, by a reset, in the middle of a line, or never (`deafen`). */
  endWatches(how: 'end' | 'reset' | 'mid-line' | 'deafen' | 'error-event'): void {
    for (const watcher of this.watchers) {
      switch (how) {
        case 'end':
          watcher.end();
          break;
        case 'reset':
          watcher.destroy();
          break;
        case 'mid-line':
          watcher.end('{"type":"ADDED","object":{"metadata":{"na');
          break;
        case 'error-event':
          this.#write(watcher, goneEvent);
          watcher.end();
          break;
        case 'deafen':
          this.#deaf.add(watcher);
          break;
      }
    }
    if (how !== 'deafen') this.watchers.clear();
  }

  readonly answer = (request: SeenRequest, response: ServerResponse): void => {
    const fault = this.faults.shift();
    switch (fault) {
      case 'error500':
        sendStatus(response, 500, 'InternalError');
        return;
      case 'unavailable503':
        sendStatus(response, 503, 'ServiceUnavailable');
        return;
      case 'reset':
        response.destroy();
        return;
      case 'not-json':
        response.end('<html>a proxy says hello</html>');
        return;
      case 'gone-http':
        sendStatus(response, 410, 'Expired');
        return;
      // Faults of watches: below.
      case 'gone-event':
      case 'empty-watch':
      case 'cut-mid-line':
      case 'split-bytes':
      case undefined:
        break;
    }
    if (request.method === 'GET' && request.query.get('watch') === 'true')
      this.#watch(request, response, fault);
    else if (request.method === 'GET' && request.path.endsWith('s')) this.#list(request, response);
    else this.#object(request, response);
  };

  #list(request: SeenRequest, response: ServerResponse): void {
    const limit = Math.min(this.pageSize, Number(request.query.get('limit') ?? '500'));
    const token = request.query.get('continue');
    const [id = '', from = '0'] = (token ?? '').split(':');
    const snapshot = token === null ? this.#snapshot() : this.#snapshots.get(id);
    if (snapshot === undefined) {
      sendStatus(response, 410, 'Expired');
      return;
    }
    const start = Number(from);
    const items = snapshot.items.slice(start, start + limit);
    const rest = start + limit < snapshot.items.length;
    const next = rest ? `${String(snapshot.version)}:${String(start + limit)}` : '';
    if (rest) this.#snapshots.set(String(snapshot.version), snapshot);
    const bare = items.map((item) => ({ ...item, apiVersion: undefined, kind: undefined }));
    const metadata = { resourceVersion: String(snapshot.version), continue: next };
    sendJson(response, 200, { kind: 'ConfigMapList', metadata, items: bare });
  }

  #snapshot(): { version: number; items: KubeObject[] } {
    return { version: this.#version, items: [...this.objects.values()] };
  }

  #watch(request: SeenRequest, response: ServerResponse, fault: Fault | undefined): void {
    const from = Number(request.query.get('resourceVersion'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    if (fault === 'gone-event' || from < this.#compacted) {
      this.#write(response, goneEvent);
      response.end();
      return;
    }
    if (fault === 'empty-watch') {
      response.end();
      return;
    }
    const missed = this.#log.filter(({ resourceVersion }) => resourceVersion > from);
    if (fault === 'cut-mid-line') {
      const lines = missed.map(({ type, object }) => JSON.stringify({ type, object })).join('\n');
      response.end(lines.slice(0, -7));
      return;
    }
    if (fault === 'split-bytes') {
      void this.#writeSplit(response, missed);
      return;
    }
    for (const { type, object } of missed) this.#write(response, { type, object });
    this.watchers.add(response);
    response.on('close', () => this.watchers.delete(response));
  }

  /** Every byte a packet of its own, as far as the kernel plays along. */
  async #writeSplit(response: ServerResponse, events: readonly LoggedEvent[]): Promise<void> {
    response.socket?.setNoDelay(true);
    for (const { type, object } of events) {
      const bytes = Buffer.from(`${JSON.stringify({ type, object })}\n`);
      const at = bytes.indexOf(Buffer.from('ü')) + 1;
      response.write(bytes.subarray(0, at));
      await new Promise((resolve) => setTimeout(resolve, 2));
      response.write(bytes.subarray(at));
    }
    // What happened meanwhile was not sent to this watcher: it has to come again.
    response.end();
  }

  #object(request: SeenRequest, response: ServerResponse): void {
    const name = request.path.split('/').at(-1) ?? '';
    const body = request.body === '' ? {} : (JSON.parse(request.body) as KubeObject);
    switch (request.method) {
      case 'POST': {
        const { metadata } = body as KubeObject;
        if (this.objects.has(metadata.name)) sendStatus(response, 409, 'AlreadyExists');
        else sendJson(response, 201, this.put(metadata.name, body));
        return;
      }
      case 'PUT': {
        const current = this.objects.get(name);
        const { metadata } = body as KubeObject;
        if (current === undefined) sendStatus(response, 404, 'NotFound');
        else if (metadata.resourceVersion !== current.metadata.resourceVersion) {
          sendStatus(response, 409, 'Conflict');
        } else sendJson(response, 200, this.put(name, body));
        return;
      }
      default: {
        const current = this.objects.get(name);
        if (current === undefined) sendStatus(response, 404, 'NotFound');
        else sendJson(response, 200, current);
      }
    }
  }

  #emit(event: LoggedEvent): void {
    this.#log.push(event);
    for (const watcher of this.watchers) this.#write(watcher, { type: event.type, object: event.object });
  }

  #write(watcher: ServerResponse, event: object): void {
    if (!this.#deaf.has(watcher)) watcher.write(`${JSON.stringify(event)}\n`);
  }
}

const goneEvent = {
  type: 'ERROR',
  object: {
    kind: 'Status',
    status: 'Failure',
    reason: 'Expired',
    code: 410,
    message: 'too old resource version',
  },
};
