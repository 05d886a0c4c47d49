import type { TokenUsage } from '../../api/model-calls.ts';
import { counts, createMeter, isCount, isRecord, type ReadUsage } from './meter.ts';
import { event, inPieces, parseRequest } from './requests.ts';
import { EVENT_STREAM, JSON_TYPE, type PlainAnswer, type WireFormat } from './wire-format.ts';

/** OpenAI's chat completions, which most other providers speak too. */
export const openaiCompletions: WireFormat = {
  api: 'openai-completions',
  path: '/v1/chat/completions',
  parse: (body) => parseRequest(body, ['messages', 'tools', 'response_format'], 'messages'),
  probe: (model) => ({
    model,
    messages: [{ role: 'user', content: 'Answer with the word ready.' }],
    max_tokens: 16,
  }),
  render: (answer, request) =>
    request.stream
      ? { contentType: EVENT_STREAM, pieces: streamed(answer, asksForUsage(request.body)) }
      : { contentType: JSON_TYPE, pieces: [JSON.stringify(whole(answer))] },
  renderError: ({ code, message }) => JSON.stringify({ error: { message, type: code, param: null, code } }),
  meter: (stream) => createMeter(stream, readUsage),
};

function whole(answer: PlainAnswer) {
  return {
    id: answer.id,
    object: 'chat.completion',
    created: answer.created,
    model: answer.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: answer.text, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: usageOf(answer.usage),
  };
}

/**
 * Usage stands in an event of its own where the caller asked for it, as OpenAI does; else in the last event with a
 * choice, as others do, so that it is always there to be counted.
 */
function streamed(answer: PlainAnswer, usageApart: boolean): readonly string[] {
  const { id, created, model, usage } = answer;
  const chunk = (delta: unknown, finish: string | null, more: object = {}) =>
    event({
      id,
      object: 'chat.completion.chunk',
      created,
      model,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...more,
    });
  const own = { id, object: 'chat.completion.chunk', created, model, choices: [], usage: usageOf(usage) };
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...inPieces(answer.text).map((content) => chunk({ content }, null)),
    chunk({}, 'stop', usageApart ? {} : { usage: usageOf(usage) }),
    ...(usageApart ? [event(own)] : []),
    event('[DONE]'),
  ];
}

function asksForUsage(body: Readonly<Record<string, unknown>>): boolean {
  const options = body['stream_options'];
  return isRecord(options) && options['include_usage'] === true;
}

function usageOf({ input, output, cacheRead }: TokenUsage) {
  return {
    prompt_tokens: input + cacheRead,
    completion_tokens: output,
    total_tokens: input + cacheRead + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}

const readUsage: ReadUsage = (value) => {
  const { usage } = value;
  if (!isRecord(usage)) return null;
  const details = usage['prompt_tokens_details'];
  const cached = isRecord(details) ? details['cached_tokens'] : undefined;
  const cacheRead = isCount(cached) ? cached : 0;
  const prompt = usage['prompt_tokens'];
  return counts({
    input: isCount(prompt) ? Math.max(0, prompt - cacheRead) : undefined,
    output: usage['completion_tokens'],
    cacheRead,
    cacheWrite: 0,
  });
};
