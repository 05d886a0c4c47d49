/** Errors of calls to the Kubernetes API, told apart by predicates, never by message. */

/** What was asked, for messages: `patch trials/status team-a/smoke-1`. */
export type RequestSummary = string;

/** The `Status` object with which an API server says that a request failed. */
export interface StatusBody {
  readonly kind?: string;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { reason?: string; message?: string; field?: string }[];
  };
}

/** The API server answered, and the answer is a failure. */
export class ApiStatusError extends Error {
  override readonly name = 'ApiStatusError';
  /** HTTP code, or the code inside an ERROR event of a watch. */
  readonly code: number;
  /** `metav1.StatusReason`, e.g. `AlreadyExists`; empty where the server gave none. */
  readonly reason: string;
  readonly body: StatusBody;
  readonly request: RequestSummary;
  /** Seconds the server asks to wait, from the header or the body; null where it does not. */
  readonly retryAfterSeconds: number | null;

  constructor(
    request: RequestSummary,
    code: number,
    body: StatusBody,
    retryAfterSeconds: number | null = null,
  ) {
    super(`${request}: ${body.message ?? body.reason ?? 'the API server failed'} (${code})`);
    this.request = request;
    this.code = code;
    this.reason = body.reason ?? '';
    this.body = body;
    this.retryAfterSeconds = retryAfterSeconds ?? body.details?.retryAfterSeconds ?? null;
  }
}

/**
 * No answer, or not a whole one: refused, reset, timed out, name unknown, TLS not trusted. A write may or may
 * not have been carried out unless `neverSent`. Command line programs end with exit code 3 on it.
 */
export class ApiUnreachableError extends Error {
  override readonly name = 'ApiUnreachableError';
  /** System or TLS code, e.g. `ECONNREFUSED`; `TIMEOUT` for our own bounds. */
  readonly code: string;
  readonly request: RequestSummary;
  /** Whether the request certainly did not reach the server. */
  readonly neverSent: boolean;

  constructor(request: RequestSummary, code: string, message: string, options?: ErrorOptions) {
    super(`${request}: cannot reach the cluster: ${message}`, options);
    this.request = request;
    this.code = code;
    this.neverSent = NEVER_SENT.has(code);
  }
}

const NEVER_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'NO_CLUSTER',
]);

/**
 * A reconcile failed for a reason that trying again cannot mend; the controller logs it and waits for the
 * object to change instead of backing off.
 */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** A child that should be ours exists already and belongs to somebody else. */
export class NotOurChildError extends Error {
  override readonly name = 'NotOurChildError';
  /** UID of the controller that owns the child; null where none does. */
  readonly ownerUid: string | null;

  constructor(child: string, expectedOwnerUid: string, ownerUid: string | null) {
    const owner = ownerUid === null ? 'has no controller' : `is controlled by ${ownerUid}`;
    super(`${child} exists and ${owner}, not by ${expectedOwnerUid}`);
    this.ownerUid = ownerUid;
  }
}

const is = (error: unknown, code: number, reason: string): error is ApiStatusError =>
  error instanceof ApiStatusError && (error.reason === '' ? error.code === code : error.reason === reason);

/** 404: the object, or its kind, is not there. */
export const isNotFound = (error: unknown): error is ApiStatusError => is(error, 404, 'NotFound');
/** 409 on a write: the resourceVersion or UID is not the current one. Read again, plan again. */
export const isConflict = (error: unknown): error is ApiStatusError => is(error, 409, 'Conflict');
/** 409 on a create: the name is taken. */
export const isAlreadyExists = (error: unknown): error is ApiStatusError =>
  error instanceof ApiStatusError && error.code === 409 && error.reason === 'AlreadyExists';
/** 410: the resourceVersion or continue token is too old. Only a list from the start helps. */
export const isGone = (error: unknown): error is ApiStatusError =>
  error instanceof ApiStatusError && (error.code === 410 || error.reason === 'Expired');
/** 403, for want of permission or quota, or because a policy says no. */
export const isForbidden = (error: unknown): error is ApiStatusError => is(error, 403, 'Forbidden');
/** 401: the credentials are not accepted, even after they were read again. */
export const isUnauthorized = (error: unknown): error is ApiStatusError => is(error, 401, 'Unauthorized');
/** 422: the object does not hold to its schema or to a rule of it; the message says which. */
export const isInvalid = (error: unknown): error is ApiStatusError => is(error, 422, 'Invalid');
/** 429 after the client's own bounded retries; `retryAfterSeconds` says how long to wait. */
export const isTooManyRequests = (error: unknown): error is ApiStatusError =>
  error instanceof ApiStatusError && error.code === 429;
/** 5xx. */
export const isServerError = (error: unknown): error is ApiStatusError =>
  error instanceof ApiStatusError && error.code >= 500;
/** A namespace that is going away takes no new objects. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isForbidden(error) && (error.body.details?.causes ?? []).some((c) => c.reason === 'NamespaceTerminating');
/** No answer from the cluster. */
export const isUnreachable = (error: unknown): error is ApiUnreachableError =>
  error instanceof ApiUnreachableError;
/** Worth the same request again later: unreachable, throttled or failing server. */
export const isTransient = (error: unknown): boolean =>
  isUnreachable(error) || isTooManyRequests(error) || isServerError(error);

/** A `Status` from a response's text; text that is not one (a proxy's page) becomes the message, cut. */
export function parseStatus(text: string): StatusBody {
  try {
    const value: unknown = JSON.parse(text);
    if (isStatus(value)) return value;
  } catch {
    // Not JSON: below.
  }
  const plain = text.trim().slice(0, 300);
  return plain === '' ? {} : { message: plain };
}

const isStatus = (value: unknown): value is StatusBody =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';

/** An error of the network layer as `ApiUnreachableError`; the deepest code that is known names it. */
export function toUnreachable(request: RequestSummary, thrown: unknown): ApiUnreachableError {
  if (thrown instanceof ApiUnreachableError) return thrown;
  let code = '';
  let message = '';
  const causes: unknown[] = [thrown];
  for (let depth = 0; depth < 8; depth += 1) {
    const cause = causes.shift();
    if (!(cause instanceof Error)) break;
    if ('code' in cause && typeof cause.code === 'string') code = cause.code;
    if (cause.message !== '') message = cause.message;
    // Both address families refused: one AggregateError without a message.
    if (cause instanceof AggregateError) causes.push(...(cause.errors as unknown[]).slice(0, 1));
    causes.push(cause.cause);
  }
  return new ApiUnreachableError(request, code === '' ? 'UNKNOWN' : code, message === '' ? code : message, {
    cause: thrown,
  });
}
