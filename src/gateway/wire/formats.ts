import type { ModelApi } from '../../api/vocabulary.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { openaiCompletions } from './openai-completions.ts';
import { openaiResponses } from './openai-responses.ts';
import type { WireFormat } from './wire-format.ts';

/** Every API format that the gateway speaks. */
export const WIRE_FORMATS: readonly WireFormat[] = [openaiCompletions, openaiResponses, anthropicMessages];

/** The format of the endpoint at a path, or undefined. */
export function formatAt(path: string): WireFormat | undefined {
  return WIRE_FORMATS.find((format) => format.path === path);
}

/** The format in which a model is probed: its own; the scripted model speaks all of them. */
export function formatOf(api: ModelApi): WireFormat {
  return WIRE_FORMATS.find((format) => format.api === api) ?? openaiCompletions;
}
