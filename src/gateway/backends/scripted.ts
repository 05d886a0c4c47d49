import type { GatewayClock } from '../clock.ts';
import {
  ProviderBroken,
  type CallOrigin,
  type ModelBackend,
  type ModelCall,
  type ProviderAnswer,
} from '../backend.ts';
import { JSON_TYPE } from '../wire/wire-format.ts';
import type { ScriptedModel } from './scripted-parameters.ts';

/** Tokens are counted as so many bytes each: the same everywhere, and about what real models count. */
const BYTES_A_TOKEN = 4;

/** Words of the errors that the scripted model can be told to answer with. */
const ERRORS: Readonly<
  Record<NonNullable<ScriptedModel['respond']>['status'], { code: string; message: string }>
> = {
  401: { code: 'invalid_api_key', message: 'the scripted model refuses the key, as it was told to' },
  403: { code: 'permission_denied', message: 'the scripted model refuses the caller, as it was told to' },
  404: { code: 'model_not_found', message: 'the scripted model does not exist, as it was told to say' },
  429: { code: 'rate_limit_exceeded', message: 'too many requests, as the scripted model was told to say' },
  500: { code: 'server_error', message: 'the scripted model failed, as it was told to' },
  503: { code: 'overloaded', message: 'the scripted model is overloaded, as it was told to say' },
};

/** A model without a provider: it says what the run's parameters tell it to, in whatever format it is asked. */
export function scriptedBackend(modelId: string, script: ScriptedModel, clock: GatewayClock): ModelBackend {
  return {
    send: async (call, signal) => {
      if (script.latencyMs > 0) await pause(script.latencyMs, clock, signal);
      if (signal.aborted) throw new ProviderBroken('the caller is gone');
      const { respond } = script;
      return respond !== undefined && isRefused(respond, call)
        ? refusal(respond, call)
        : answer(modelId, script.text, call, clock);
    },
  };
}

/** Whether a call is among those that are answered with the error. */
export function isRefused(
  respond: NonNullable<ScriptedModel['respond']>,
  { origin, runOrdinal }: { readonly origin: CallOrigin; readonly runOrdinal: number },
): boolean {
  const { times, per, attempts } = respond;
  if (times !== undefined && per === 'run' && runOrdinal > times) return false;
  const perAttempt = attempts !== undefined || (times !== undefined && per === 'attempt');
  // What is told of attempts says nothing about the call before them.
  if (origin.kind === 'preflight') return !perAttempt;
  if (attempts !== undefined && origin.attempt > attempts) return false;
  return times === undefined || per === 'run' || origin.ordinal <= times;
}

function refusal(respond: NonNullable<ScriptedModel['respond']>, { wire }: ModelCall): ProviderAnswer {
  const { status, retryAfterSeconds } = respond;
  return {
    status,
    contentType: JSON_TYPE,
    retryAfter: retryAfterSeconds === undefined ? null : String(retryAfterSeconds),
    body: bytesOf([wire.renderError({ status, ...ERRORS[status] })]),
  };
}

function answer(modelId: string, text: string, call: ModelCall, clock: GatewayClock): ProviderAnswer {
  const { wire, request, runOrdinal } = call;
  const { contentType, pieces } = wire.render(
    {
      id: `scripted-${runOrdinal}`,
      model: modelId,
      text,
      usage: {
        input: Math.ceil(request.promptBytes / BYTES_A_TOKEN),
        output: Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN),
        cacheRead: 0,
        cacheWrite: 0,
      },
      created: Math.floor(clock.date().getTime() / 1000),
    },
    request,
  );
  return { status: 200, contentType, retryAfter: null, body: bytesOf(pieces) };
}

async function* bytesOf(pieces: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield await Promise.resolve(Buffer.from(piece));
}

async function pause(ms: number, clock: GatewayClock, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
