import type { TokenUsage } from '../../api/model-calls.ts';
import { counts, createMeter, isCount, isRecord, type ReadUsage } from './meter.ts';
import { event, inPieces, parseRequest } from './requests.ts';
import { EVENT_STREAM, JSON_TYPE, type PlainAnswer, type WireFormat } from './wire-format.ts';

/** OpenAI's responses. */
export const openaiResponses: WireFormat = {
  api: 'openai-responses',
  path: '/v1/responses',
  parse: (body) => parseRequest(body, ['input', 'instructions', 'tools', 'text'], 'input'),
  probe: (model) => ({ model, input: 'Answer with the word ready.', max_output_tokens: 16 }),
  render: (answer, request) =>
    request.stream
      ? { contentType: EVENT_STREAM, pieces: streamed(answer) }
      : { contentType: JSON_TYPE, pieces: [JSON.stringify(response(answer, 'completed'))] },
  renderError: ({ code, message }) => JSON.stringify({ error: { message, type: code, param: null, code } }),
  meter: (stream) => createMeter(stream, readUsage),
};

function response(answer: PlainAnswer, status: 'in_progress' | 'completed') {
  const done = status === 'completed';
  return {
    id: `resp_${answer.id}`,
    object: 'response',
    created_at: answer.created,
    status,
    error: null,
    incomplete_details: null,
    model: answer.model,
    output: done ? [message(answer, answer.text)] : [],
    usage: done ? usageOf(answer.usage) : null,
  };
}

function message(answer: PlainAnswer, text: string | null) {
  return {
    id: `msg_${answer.id}`,
    type: 'message',
    status: text === null ? 'in_progress' : 'completed',
    role: 'assistant',
    content: text === null ? [] : [part(text)],
  };
}

function part(text: string) {
  return { type: 'output_text', text, annotations: [] };
}

function streamed(answer: PlainAnswer): readonly string[] {
  let sequence = 0;
  const send = (type: string, fields: object) => {
    const data = event({ type, sequence_number: sequence, ...fields }, type);
    sequence += 1;
    return data;
  };
  const place = { item_id: `msg_${answer.id}`, output_index: 0, content_index: 0 };
  return [
    send('response.created', { response: response(answer, 'in_progress') }),
    send('response.in_progress', { response: response(answer, 'in_progress') }),
    send('response.output_item.added', { output_index: 0, item: message(answer, null) }),
    send('response.content_part.added', { ...place, part: part('') }),
    ...inPieces(answer.text).map((delta) => send('response.output_text.delta', { ...place, delta })),
    send('response.output_text.done', { ...place, text: answer.text }),
    send('response.content_part.done', { ...place, part: part(answer.text) }),
    send('response.output_item.done', { output_index: 0, item: message(answer, answer.text) }),
    send('response.completed', { response: response(answer, 'completed') }),
  ];
}

function usageOf({ input, output, cacheRead }: TokenUsage) {
  return {
    input_tokens: input + cacheRead,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + cacheRead + output,
  };
}

const readUsage: ReadUsage = (value) => {
  // An event carries the whole response; a document is it.
  const { response: inner = value } = value;
  const usage = isRecord(inner) ? inner['usage'] : undefined;
  if (!isRecord(usage)) return null;
  const details = usage['input_tokens_details'];
  const cached = isRecord(details) ? details['cached_tokens'] : undefined;
  const cacheRead = isCount(cached) ? cached : 0;
  const all = usage['input_tokens'];
  return counts({
    input: isCount(all) ? Math.max(0, all - cacheRead) : undefined,
    output: usage['output_tokens'],
    cacheRead,
    cacheWrite: 0,
  });
};
