import { describe, expect, it } from 'vitest';
import {
  ApiStatusError,
  ApiUnreachableError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isServerError,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
  isUnreachable,
  parseStatus,
  type StatusBody,
  toUnreachable,
} from '../../../src/kube/errors.ts';

const PREDICATES = {
  isNotFound,
  isConflict,
  isAlreadyExists,
  isGone,
  isForbidden,
  isUnauthorized,
  isInvalid,
  isTooManyRequests,
  isServerError,
  isUnreachable,
};
const matching = (error: unknown) =>
  Object.entries(PREDICATES)
    .filter(([, predicate]) => predicate(error))
    .map(([name]) => name);

describe('predicates of API errors', () => {
  it.each<[number, string, string]>([
    [404, 'NotFound', 'isNotFound'],
    [409, 'Conflict', 'isConflict'],
    [409, 'AlreadyExists', 'isAlreadyExists'],
    [410, 'Expired', 'isGone'],
    [410, 'Gone', 'isGone'],
    [403, 'Forbidden', 'isForbidden'],
    [401, 'Unauthorized', 'isUnauthorized'],
    [422, 'Invalid', 'isInvalid'],
    [429, 'TooManyRequests', 'isTooManyRequests'],
    [500, 'InternalError', 'isServerError'],
    [503, 'ServiceUnavailable', 'isServerError'],
    [404, '', 'isNotFound'],
  ])('%i %s is only %s', (code, reason, name) => {
    expect(matching(new ApiStatusError('get pods a/b', code, { reason }))).toEqual([name]);
  });

  it('holds what cannot be reached apart from every answer', () => {
    expect(matching(new ApiUnreachableError('get pods a/b', 'ECONNREFUSED', 'refused'))).toEqual([
      'isUnreachable',
    ]);
    expect(matching(new Error('404'))).toEqual([]);
  });

  it('takes for transient what may go well later, and nothing else', () => {
    const transient = [429, 500, 503].map((code) => new ApiStatusError('x', code, {}));
    const lasting = [400, 403, 404, 409, 410, 422].map((code) => new ApiStatusError('x', code, {}));
    expect(transient.every(isTransient)).toBe(true);
    expect(lasting.some(isTransient)).toBe(false);
  });

  it('knows a namespace that is going away by the cause, not by the sentence', () => {
    const body: StatusBody = {
      reason: 'Forbidden',
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    };
    expect(isNamespaceTerminating(new ApiStatusError('x', 403, body))).toBe(true);
    expect(isNamespaceTerminating(new ApiStatusError('x', 403, { reason: 'Forbidden' }))).toBe(false);
  });
});

describe('ApiStatusError', () => {
  it('says what was asked, what the server said and the code', () => {
    const error = new ApiStatusError('patch trials/status a/b', 409, {
      reason: 'Conflict',
      message: 'modified',
    });
    expect(error.message).toBe('patch trials/status a/b: modified (409)');
  });

  it('takes the wait from the header before the body', () => {
    const body: StatusBody = { details: { retryAfterSeconds: 7 } };
    expect(new ApiStatusError('x', 429, body, 3).retryAfterSeconds).toBe(3);
    expect(new ApiStatusError('x', 429, body).retryAfterSeconds).toBe(7);
    expect(new ApiStatusError('x', 429, {}).retryAfterSeconds).toBeNull();
  });
});

describe('parseStatus', () => {
  it('keeps a page of a proxy as a short message', () => {
    const page = `<html>${'x'.repeat(5000)}</html>`;
    expect(parseStatus(page).message).toHaveLength(300);
    expect(parseStatus('')).toEqual({});
    expect(parseStatus('{"kind":"Pod"}')).toEqual({ message: '{"kind":"Pod"}' });
  });
});

describe('toUnreachable', () => {
  it('finds the code in the depth of the causes', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const error = toUnreachable('get pods', new TypeError('fetch failed', { cause: refused }));
    expect(error).toMatchObject({ code: 'ECONNREFUSED', neverSent: true });
    expect(error.message).toBe('get pods: cannot reach the cluster: connect ECONNREFUSED');
  });

  it('finds it where both address families were refused', () => {
    const one = Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' });
    expect(toUnreachable('x', new AggregateError([one, one], '')).code).toBe('ECONNREFUSED');
  });

  it('does not promise that a reset request was never carried out', () => {
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    expect(toUnreachable('create pods', reset).neverSent).toBe(false);
  });
});
