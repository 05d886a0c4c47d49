import type { TokenUsage, WireApi } from '../../api/model-calls.ts';

/** A model call as its caller sent it. */
export interface ModelRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly stream: boolean;
  /** The model that the caller named; the run's own is used whatever it says. */
  readonly model: string;
  /** Bytes of everything the model is told, as a measure of its tokens. */
  readonly promptBytes: number;
}

export type ParsedRequest =
  { readonly ok: true; readonly request: ModelRequest } | { readonly ok: false; readonly problem: string };

/** What a model of our own says; `id` is unique to the call. */
export interface PlainAnswer {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly usage: TokenUsage;
  /** Seconds since 1970. */
  readonly created: number;
}

/** An error as a provider words it. */
export interface PlainError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Reads tokens out of an answer's bytes while they pass through; bounded, whatever passes. */
export interface AnswerMeter {
  readonly push: (bytes: Uint8Array) => void;
  /** What was found once all bytes have passed: tokens, and the answer's body where it was one JSON document. */
  readonly end: () => { readonly usage: TokenUsage | null; readonly json: unknown };
}

/** One API format of model providers: how its requests, answers and errors are written. */
export interface WireFormat {
  readonly api: WireApi;
  /** Path of the endpoint, as its clients append it to the model endpoint's address. */
  readonly path: string;
  readonly parse: (body: unknown) => ParsedRequest;
  /** A request of one short question, to find out whether the model answers. */
  readonly probe: (model: string) => Readonly<Record<string, unknown>>;
  /** The body of an answer of our own model, in pieces where it is streamed. */
  readonly render: (
    answer: PlainAnswer,
    request: ModelRequest,
  ) => { contentType: string; pieces: readonly string[] };
  readonly renderError: (error: PlainError) => string;
  /** @param stream whether the answer is a stream of events */
  readonly meter: (stream: boolean) => AnswerMeter;
}

export const EVENT_STREAM = 'text/event-stream; charset=utf-8';
export const JSON_TYPE = 'application/json';
