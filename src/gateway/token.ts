import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { InvalidInputError } from '../api/errors.ts';
import { CALLER_ROLES } from '../api/model-calls.ts';

/** Shortest secret that tokens are signed with, in bytes of its text. */
const SECRET_BYTES = 16;
/** No token of ours is longer. */
const TOKEN_LENGTH = 2048;

const callerClaimsSchema = z.strictObject({
  trial: z.string().min(1).max(253),
  attempt: z.int().positive(),
  /** Pod that the token was given to; on one machine any word that is unique to the attempt. */
  podName: z.string().min(1).max(253),
  role: z.enum(CALLER_ROLES),
  /** Seconds since 1970 after which the token is refused. */
  exp: z.int().positive(),
});
/** What an attempt's token says: whose model calls it allows. */
export type CallerClaims = z.infer<typeof callerClaimsSchema>;

const controlClaimsSchema = z.strictObject({ role: z.literal('control'), exp: z.int().positive() });
/** What the controller's token says: it may tell and ask the gateway, and make no model call of an attempt. */
export type ControlClaims = z.infer<typeof controlClaimsSchema>;

export type TokenClaims = CallerClaims | ControlClaims;

export type VerifiedToken =
  | { readonly ok: true; readonly claims: TokenClaims }
  | { readonly ok: false; readonly why: 'malformed' | 'forged' | 'expired' };

/**
 * Signs a token: `v1.<base64url of the claims>.<base64url of HMAC-SHA256>`.
 *
 * @param secret the run's gateway secret
 * @throws InvalidInputError when the secret is too short to protect anything
 */
export function mintToken(secret: string, claims: TokenClaims): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `v1.${payload}.${sign(secret, payload)}`;
}

/**
 * Checks a token's signature, form and time. Says nothing about whether its attempt is still running.
 *
 * @param nowMs milliseconds since 1970
 */
export function verifyToken(secret: string, token: string, nowMs: number): VerifiedToken {
  const [version, payload, signature, ...more] = token.length > TOKEN_LENGTH ? [] : token.split('.');
  if (version !== 'v1' || payload === undefined || signature === undefined || more.length > 0) {
    return { ok: false, why: 'malformed' };
  }
  const expected = Buffer.from(sign(secret, payload));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return { ok: false, why: 'forged' };
  }
  const claims = claimsOf(payload);
  if (claims === undefined) return { ok: false, why: 'malformed' };
  return claims.exp * 1000 <= nowMs ? { ok: false, why: 'expired' } : { ok: true, claims };
}

function sign(secret: string, payload: string): string {
  if (Buffer.byteLength(secret) < SECRET_BYTES) {
    throw new InvalidInputError({
      message: `the gateway's secret is shorter than ${SECRET_BYTES} bytes`,
      remedy: 'Give a random one.',
    });
  }
  return createHmac('sha256', secret).update(`v1.${payload}`).digest('base64url');
}

function claimsOf(payload: string): TokenClaims | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  return z.union([callerClaimsSchema, controlClaimsSchema]).safeParse(value).data;
}
