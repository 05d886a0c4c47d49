import type { ProviderErrorKind } from '../api/attempt.ts';

/** What a provider's error body says, in the fields that providers share; absent ones are empty. */
export interface ProviderErrorWords {
  readonly code: string;
  readonly type: string;
  readonly message: string;
}

const QUOTA = /insufficient_quota|billing|quota_exceeded|credit balance/i;
const CONTEXT =
  /context_length|context window|maximum context|prompt is too long|request_too_large|too many tokens/i;
const CONTENT = /content_filter|content_policy|content management policy|safety system/i;

/**
 * What kind of error a provider's answer is. A request that the provider finds malformed (400, 422 and the like) is
 * the caller's fault and no error of the provider.
 *
 * @returns null for an answer that is no provider error
 */
export function classifyProviderAnswer(status: number, words: ProviderErrorWords): ProviderErrorKind | null {
  if (status < 400) return null;
  const said = `${words.code} ${words.type} ${words.message}`;
  switch (status) {
    case 401:
    case 403:
      return CONTENT.test(said) ? 'content_filter' : 'authentication';
    case 402:
      return 'quota';
    case 404:
      return 'not_found';
    case 413:
      return 'context_length';
    case 429:
      return QUOTA.test(said) ? 'quota' : 'rate_limit';
    case 503:
    case 529:
      return 'overloaded';
    default:
      if (status >= 500 || status === 408) return 'server_error';
      if (QUOTA.test(said)) return 'quota';
      if (CONTEXT.test(said)) return 'context_length';
      return CONTENT.test(said) ? 'content_filter' : null;
  }
}

/** Reads the error words of a provider's JSON body: `{error: {code, type, message}}` in all formats here. */
export function errorWordsOf(body: unknown): ProviderErrorWords {
  const error = fieldOf(body, 'error');
  const text = (name: string) => {
    const value = fieldOf(error, name);
    return typeof value === 'string' ? value : '';
  };
  return {
    code: text('code'),
    type: text('type'),
    message: typeof error === 'string' ? error : text('message'),
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
