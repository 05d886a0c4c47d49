import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { z } from 'zod';
import { CallRefused, type CallService } from './call-service.ts';
import type { GatewayClock } from './clock.ts';
import { bearerOf, readBody, sendJson } from './http.ts';
import { verifyToken } from './token.ts';
import type { WireFormat } from './wire/wire-format.ts';

const CONTROL_BYTES = 64 * 1024;
const PREFLIGHT_MS = 60_000;

/** Body of POST /control/ended. */
export const endedRequestSchema = z.strictObject({
  trial: z.string().min(1).max(253),
  attempt: z.int().positive(),
});

export interface ControlServerOptions {
  readonly service: CallService;
  readonly secret: string;
  readonly probeFormat: WireFormat;
  readonly clock: GatewayClock;
  readonly onFault: (error: unknown) => void;
}

/** What the controller says to the gateway, and where a kubelet looks after it. */
export function controlServer(options: ControlServerOptions): RequestListener {
  const { service, probeFormat, onFault } = options;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = `${request.method ?? ''} ${request.url ?? ''}`;
    if (answerHealth(service, request, response)) return;
    assertController(request, options);
    switch (route) {
      case 'POST /control/ended': {
        const told = endedRequestSchema.safeParse(await readJson(request));
        if (!told.success) throw new CallRefused(400, 'invalid_request', z.prettifyError(told.error));
        await service.endAttempt(told.data.trial, told.data.attempt);
        sendJson(request, response, 200, { ok: true });
        return;
      }
      case 'POST /control/preflight': {
        await readBody(request, CONTROL_BYTES);
        const result = await service.preflight(probeFormat, AbortSignal.timeout(PREFLIGHT_MS));
        sendJson(request, response, 200, result);
        return;
      }
      default:
        throw new CallRefused(404, 'not_found', `there is no ${route} here`);
    }
  }

  return (request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!(error instanceof CallRefused)) onFault(error);
      const { status, code, message } =
        error instanceof CallRefused
          ? error
          : new CallRefused(503, 'gateway_fault', 'the gateway failed; its log says why');
      sendJson(request, response, status, { error: { code, message } });
    });
  };
}

/** Answers /healthz and /readyz. @returns whether it was one of them */
export function answerHealth(
  service: CallService,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (request.method !== 'GET') return false;
  if (request.url === '/healthz') {
    sendJson(request, response, 200, { ok: true });
    return true;
  }
  if (request.url !== '/readyz') return false;
  const { unready } = service;
  if (unready === null) sendJson(request, response, 200, { ok: true });
  else sendJson(request, response, 503, { ok: false, unready });
  return true;
}

function assertController(request: IncomingMessage, { secret, clock }: ControlServerOptions): void {
  const token = bearerOf(request);
  if (token === undefined) throw new CallRefused(401, 'no_token', "the controller's token is needed");
  const verified = verifyToken(secret, token, clock.date().getTime());
  if (!verified.ok) throw new CallRefused(401, 'bad_token', `the token is ${verified.why}`);
  if (verified.claims.role !== 'control') {
    throw new CallRefused(403, 'wrong_role', "this token is not the controller's");
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBody(request, CONTROL_BYTES);
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    throw new CallRefused(400, 'invalid_request', 'the body is not JSON');
  }
}
