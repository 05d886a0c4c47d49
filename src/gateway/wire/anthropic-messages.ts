import type { TokenUsage } from '../../api/model-calls.ts';
import { counts, createMeter, isRecord, type ReadUsage } from './meter.ts';
import { event, inPieces, parseRequest } from './requests.ts';
import { EVENT_STREAM, JSON_TYPE, type PlainAnswer, type WireFormat } from './wire-format.ts';

/** Anthropic's messages. */
export const anthropicMessages: WireFormat = {
  api: 'anthropic-messages',
  path: '/v1/messages',
  parse: (body) => parseRequest(body, ['messages', 'system', 'tools'], 'messages'),
  probe: (model) => ({
    model,
    messages: [{ role: 'user', content: 'Answer with the word ready.' }],
    max_tokens: 16,
  }),
  render: (answer, request) =>
    request.stream
      ? { contentType: EVENT_STREAM, pieces: streamed(answer) }
      : { contentType: JSON_TYPE, pieces: [JSON.stringify(whole(answer))] },
  renderError: ({ code, message }) => JSON.stringify({ type: 'error', error: { type: code, message } }),
  meter: (stream) => createMeter(stream, readUsage),
};

function whole(answer: PlainAnswer) {
  return {
    id: `msg_${answer.id}`,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: [{ type: 'text', text: answer.text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: usageOf(answer.usage),
  };
}

function streamed(answer: PlainAnswer): readonly string[] {
  const { input, ...rest } = answer.usage;
  const start = {
    ...whole(answer),
    content: [],
    stop_reason: null,
    usage: usageOf({ input, ...rest, output: 1 }),
  };
  const send = (type: string, fields: object = {}) => event({ type, ...fields }, type);
  return [
    send('message_start', { message: start }),
    send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...inPieces(answer.text).map((text) =>
      send('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    send('content_block_stop', { index: 0 }),
    send('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: answer.usage.output },
    }),
    send('message_stop'),
  ];
}

function usageOf({ input, output, cacheRead, cacheWrite }: TokenUsage) {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  };
}

const readUsage: ReadUsage = (value) => {
  // message_start carries a message with the input's counts; message_delta counts the output, cumulatively.
  const { message = value } = value;
  const usage = isRecord(message) ? message['usage'] : undefined;
  if (!isRecord(usage)) return null;
  return counts({
    input: usage['input_tokens'],
    output: usage['output_tokens'],
    cacheRead: usage['cache_read_input_tokens'],
    cacheWrite: usage['cache_creation_input_tokens'],
  });
};
