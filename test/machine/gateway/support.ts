import { request } from 'node:http';
import { createServer } from 'node:net';
import { modelSpecSchema } from '../../../src/api/benchmark-run.ts';
import { startAttemptEndpoint, type AttemptEndpointOptions } from '../../../src/gateway/attempt-endpoint.ts';
import { mintToken } from '../../../src/gateway/token.ts';

export const SECRET = 'the secret of this run, long enough';
const exp = Math.ceil(Date.now() / 1000) + 600;

export function modelOf(scripted: object = {}, more: object = {}) {
  return modelSpecSchema.parse({ id: 'test-model', api: 'scripted', parameters: { scripted }, ...more });
}

export function agentToken(attempt = 1, trial = 't1'): string {
  return mintToken(SECRET, { trial, attempt, podName: `${trial}-${attempt}`, role: 'agent', exp });
}

export const controlToken = mintToken(SECRET, { role: 'control', exp });

export function endpointTo(port: number, attempt = 1, more: Partial<AttemptEndpointOptions> = {}) {
  return startAttemptEndpoint({
    port: 0,
    gatewayUrl: `http://127.0.0.1:${port}`,
    token: agentToken(attempt),
    pollMs: 50,
    patienceMs: 300,
    ...more,
  });
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** Whether the answer came to its end. */
  readonly whole: boolean;
}

/** Posts JSON without any patience or retry of a library's own. */
export function post(
  url: string,
  body: unknown,
  options: {
    readonly token?: string;
    readonly onPiece?: (text: string) => void;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Answer> {
  const { token, onPiece, signal } = options;
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const call = request(
      url,
      { method: 'POST', headers, ...(signal === undefined ? {} : { signal }) },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
          onPiece?.(text);
        });
        const done = () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            whole: response.complete,
          });
        response.once('close', done);
        response.on('error', () => undefined);
      },
    );
    call.once('error', reject);
    call.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

export const QUESTION = { model: 'any', messages: [{ role: 'user', content: 'Is it?' }] };

/** A port that is free now, for a program that must come back to the same one. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
