import type { ProviderErrorKind } from '../api/attempt.ts';

/**
 * Reason of a run whose model does not answer, by what its provider said. Only `ModelUnavailable` may pass by itself;
 * a wrong key, an unknown model or an empty account never does.
 */
export const PREFLIGHT_REASONS: Readonly<
  Record<ProviderErrorKind, 'ModelAuthentication' | 'ModelNotFound' | 'ModelQuota' | 'ModelUnavailable'>
> = {
  authentication: 'ModelAuthentication',
  not_found: 'ModelNotFound',
  quota: 'ModelQuota',
  rate_limit: 'ModelUnavailable',
  server_error: 'ModelUnavailable',
  overloaded: 'ModelUnavailable',
  connection: 'ModelUnavailable',
  content_filter: 'ModelUnavailable',
  context_length: 'ModelUnavailable',
};
