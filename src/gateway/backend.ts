import type { CallerRole } from '../api/model-calls.ts';
import type { ModelRequest, WireFormat } from './wire/wire-format.ts';

/** Who a call is made for. */
export type CallOrigin =
  | {
      readonly kind: 'attempt';
      readonly trial: string;
      readonly attempt: number;
      readonly role: CallerRole;
      /** 1-based among the attempt's calls. */
      readonly ordinal: number;
    }
  | { readonly kind: 'preflight' };

/** One call on its way to the model. */
export interface ModelCall {
  /** Format of the request, and of the answer. */
  readonly wire: WireFormat;
  readonly request: ModelRequest;
  readonly origin: CallOrigin;
  /** 1-based among all calls of the run, preflight included; also across restarts of the gateway. */
  readonly runOrdinal: number;
}

/** A provider's answer; errors are answers too. */
export interface ProviderAnswer {
  readonly status: number;
  readonly contentType: string;
  /** As the provider gave it. */
  readonly retryAfter: string | null;
  /** Throws ProviderBroken when the provider breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The provider could not be reached, or broke off its answer. */
export class ProviderBroken extends Error {
  override readonly name = 'ProviderBroken';
}

/** Where model calls go: one implementation a kind of provider. It holds whatever key the provider wants. */
export interface ModelBackend {
  /**
   * Sends one call.
   *
   * @param signal the caller is gone: nothing more is wanted
   * @throws ProviderBroken when there is no answer
   */
  readonly send: (call: ModelCall, signal: AbortSignal) => Promise<ProviderAnswer>;
}
