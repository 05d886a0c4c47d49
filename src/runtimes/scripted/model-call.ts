/**
 * How the scripted agent asks its model: OpenAI's chat completions, not streamed. Staged beside agent.ts, so it
 * imports nothing but Node.js.
 */
import { request } from 'node:http';

/** The model did not answer. */
export interface ModelRefusal {
  /** A ProviderErrorKind. */
  readonly error: string;
  readonly status: number | null;
  readonly message: string;
  /** Whether asking again may help. */
  readonly passing: boolean;
  readonly retryAfterMs: number | null;
}

/** Asks once. Never throws. */
export async function callModel(
  model: { readonly url: string; readonly id: string },
  message: string,
): Promise<{ readonly answer: string } | ModelRefusal> {
  let answer: HttpAnswer;
  try {
    const body = { model: model.id, messages: [{ role: 'user', content: message }] };
    answer = await post(`${model.url}/v1/chat/completions`, JSON.stringify(body));
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { error: 'connection', status: null, message: words, passing: true, retryAfterMs: null };
  }
  const { status, text } = answer;
  if (status < 300) return { answer: text };
  const retryAfter = Number(answer.retryAfter ?? Number.NaN);
  return {
    error: errorKindOf(status),
    status,
    message: text.slice(0, 1000),
    passing: status === 429 || status >= 500,
    retryAfterMs: Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter * 1000 : null,
  };
}

interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** Without a time limit of its own: a call may be held for long, and the harness knows for how long. */
async function post(url: string, body: string): Promise<HttpAnswer> {
  return await new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const call = request(url, { method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode: status = 0 } = response;
        resolve({ status, retryAfter: response.headers['retry-after'], text });
      });
    });
    call.once('error', reject);
    call.end(body);
  });
}

function errorKindOf(status: number): string {
  switch (status) {
    case 401:
    case 403:
      return 'authentication';
    case 404:
      return 'not_found';
    case 429:
      return 'rate_limit';
    case 502:
      return 'connection';
    case 503:
      return 'overloaded';
    default:
      return 'server_error';
  }
}
