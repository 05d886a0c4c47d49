import {
  ApiStatusError,
  ApiUnreachableError,
  type RequestSummary,
  type StatusBody,
  toUnreachable,
} from './errors.ts';
import type { KubeObject } from './object.ts';

/** One event of a watch. A bookmark carries only the resourceVersion up to which everything was sent. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

interface RawEvent {
  readonly type?: unknown;
  readonly object?: unknown;
}

/**
 * Parses the lines of a watch. Ends normally when the server ends the stream, which it does on time, when it
 * goes away, and when it finds the watcher too slow: the caller watches again, whatever the end. A last line
 * that was cut off is dropped, since the next watch brings it again.
 *
 * @throws ApiStatusError for an ERROR event (410: list again), ApiUnreachableError for a broken or silent
 *   stream or a line that is no event, the reason of `signal` once it is aborted
 */
export async function* readWatch<T extends KubeObject>(
  body: AsyncIterable<Uint8Array>,
  options: { readonly summary: RequestSummary; readonly idleMs: number; readonly signal: AbortSignal },
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  for await (const line of readLines(body, options)) {
    const event = parseEvent<T>(line, options.summary);
    // The consumer may have ended the work while we waited, or while it handled the event before.
    options.signal.throwIfAborted();
    yield event;
  }
}

async function* readLines(
  body: AsyncIterable<Uint8Array>,
  options: { readonly summary: RequestSummary; readonly idleMs: number; readonly signal: AbortSignal },
): AsyncGenerator<string, void, undefined> {
  // Characters of several bytes may be cut by a chunk's end, so whole lines are decoded, not chunks.
  let parts: Uint8Array[] = [];
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await nextChunk(chunks, options);
      if (next === null) return;
      let rest = next;
      for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
        parts.push(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
        const line = Buffer.concat(parts).toString('utf8');
        parts = [];
        if (line.trim() !== '') yield line;
      }
      if (rest.length > 0) parts.push(rest);
    }
  } finally {
    // The connection is ended by its owner's signal; a reading that still waits ends with it.
    void Promise.resolve(chunks.return?.()).catch(() => undefined);
  }
}

/** The next chunk, or null at the end of the stream; bounded, because a dead peer looks like a quiet one. */
async function nextChunk(
  chunks: AsyncIterator<Uint8Array>,
  { summary, idleMs, signal }: { summary: RequestSummary; idleMs: number; signal: AbortSignal },
): Promise<Uint8Array | null> {
  let timer: NodeJS.Timeout | undefined;
  const idle = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ApiUnreachableError(summary, 'IDLE', `nothing came for ${idleMs / 1000} s`));
    }, idleMs);
  });
  try {
    const next = await Promise.race([chunks.next(), idle]);
    signal.throwIfAborted();
    return next.done === true ? null : next.value;
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof ApiUnreachableError) throw thrown;
    throw toUnreachable(summary, thrown);
  } finally {
    clearTimeout(timer);
  }
}

function parseEvent<T extends KubeObject>(line: string, summary: RequestSummary): WatchEvent<T> {
  let event: RawEvent;
  try {
    event = JSON.parse(line) as RawEvent;
  } catch (thrown) {
    throw new ApiUnreachableError(summary, 'MALFORMED', 'a line of the stream is not JSON', {
      cause: thrown,
    });
  }
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event.type, object: event.object as T };
    case 'BOOKMARK':
      return { type: 'BOOKMARK', resourceVersion: (event.object as KubeObject).metadata.resourceVersion };
    case 'ERROR': {
      const status = event.object as StatusBody;
      throw new ApiStatusError(summary, status.code ?? 500, status);
    }
    default:
      throw new ApiUnreachableError(summary, 'MALFORMED', `an event of type ${String(event.type)}`);
  }
}
