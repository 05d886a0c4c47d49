import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { messageOf } from '../api/errors.ts';
import { CallRefused, type AnswerSink, type CallService } from './call-service.ts';
import type { GatewayClock } from './clock.ts';
import { bearerOf, BodyTooLarge, CallerGone, HEADERS, readBody, sendJson, writePiece } from './http.ts';
import type { GatewayMetrics } from './metrics.ts';
import { isNestedDeeper } from './nesting.ts';
import { verifyToken, type CallerClaims } from './token.ts';
import { formatAt } from './wire/formats.ts';
import type { ModelRequest, WireFormat } from './wire/wire-format.ts';

/** Largest request that is taken, in bytes: the contexts of today's models with images in them. */
export const REQUEST_BYTES = 32 * 1024 * 1024;
/** Levels of a request's lists and objects; schemas of tools have a dozen or two. */
const NESTING = 256;
/** Longest pause of a reader; an attempt's endpoint gives up its agent sooner. */
const READER_MS = 60_000;

export interface ModelServerOptions {
  readonly service: CallService;
  readonly secret: string;
  /** Told in /attempts/self/waits, so that a caller sees that counts began anew. */
  readonly life: string;
  readonly clock: GatewayClock;
  readonly metrics: GatewayMetrics;
  /** Faults of the gateway itself. */
  readonly onFault: (error: unknown) => void;
}

/** What runs' pods see of the gateway: model calls, and what an attempt may know of its own. */
export function modelServer(options: ModelServerOptions): RequestListener {
  const { service, metrics, onFault, life } = options;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const wire = formatAt(path);
    const claims = callerOf(request, options);
    if (request.method === 'GET' && path === '/attempts/self/waits') {
      sendJson(request, response, 200, { life, ...service.held(claims) });
      return;
    }
    if (request.method === 'GET' && path === '/attempts/self/calls') {
      sendJson(request, response, 200, { calls: service.callsOf(claims) });
      return;
    }
    if (wire === undefined || request.method !== 'POST') {
      throw new CallRefused(404, 'not_found', `there is no ${request.method ?? ''} ${path} here`);
    }
    service.assertTaken(claims);
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    const modelRequest = await readRequest(request, wire);
    await service.call({ claims, wire, request: modelRequest }, gone.signal, sinkOf(response));
  }

  return (request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (error instanceof CallerGone) {
        response.destroy();
        return;
      }
      const refused = asRefusal(error);
      if (refused.code === 'gateway_fault') onFault(error);
      metrics.turnedDown(refused.code);
      const wire = formatAt((request.url ?? '').split('?')[0] ?? '');
      const { status, code, message } = refused;
      sendJson(
        request,
        response,
        status,
        wire?.renderError({ status, code, message }) ?? { error: { code, message } },
        status === 503 || status === 429 ? { 'retry-after': '1' } : {},
      );
    });
  };
}

function callerOf(request: IncomingMessage, { secret, clock }: ModelServerOptions): CallerClaims {
  const token = bearerOf(request);
  if (token === undefined) throw new CallRefused(401, 'no_token', "an attempt's token is needed");
  const verified = verifyToken(secret, token, clock.date().getTime());
  if (!verified.ok) throw new CallRefused(401, 'bad_token', `the token is ${verified.why}`);
  const { claims } = verified;
  if (claims.role === 'control') throw new CallRefused(403, 'wrong_role', "this token is not an attempt's");
  return claims;
}

async function readRequest(request: IncomingMessage, wire: WireFormat): Promise<ModelRequest> {
  const bytes = await readBody(request, REQUEST_BYTES);
  if (isNestedDeeper(bytes, NESTING)) {
    throw new CallRefused(400, 'invalid_request_error', `the body is nested deeper than ${NESTING} levels`);
  }
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new CallRefused(400, 'invalid_request_error', `the body is not JSON (${messageOf(error)})`);
  }
  const parsed = wire.parse(body);
  if (!parsed.ok) throw new CallRefused(400, 'invalid_request_error', parsed.problem);
  return parsed.request;
}

function asRefusal(error: unknown): CallRefused {
  if (error instanceof CallRefused) return error;
  if (error instanceof BodyTooLarge) {
    return new CallRefused(413, 'request_too_large', `a request has at most ${REQUEST_BYTES} bytes`);
  }
  return new CallRefused(503, 'gateway_fault', 'the gateway failed; its log says why');
}

function sinkOf(response: ServerResponse): AnswerSink {
  return {
    head: ({ status, contentType, retryAfter, error }) => {
      response.writeHead(status, {
        'content-type': contentType,
        [HEADERS.source]: 'provider',
        ...(retryAfter === null ? {} : { 'retry-after': retryAfter }),
        ...(error === null ? {} : { [HEADERS.error]: error }),
      });
      response.flushHeaders();
    },
    write: async (bytes) => {
      try {
        await writePiece(response, bytes, READER_MS);
      } catch {
        // Its place among the served calls is wanted by others. Closing aborts the call as when it had hung up.
        response.destroy();
      }
    },
    end: (broken) => {
      if (broken) response.addTrailers({ [HEADERS.broken]: 'connection' });
      response.end();
    },
  };
}
