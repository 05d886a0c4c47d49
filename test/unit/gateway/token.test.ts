import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../../src/api/errors.ts';
import { mintToken, verifyToken, type CallerClaims } from '../../../src/gateway/token.ts';

const SECRET = 'a secret of this run, long enough';
const NOW = Date.UTC(2026, 0, 1);
const exp = NOW / 1000 + 60;
const claims: CallerClaims = {
  trial: 'run-0123456789',
  attempt: 2,
  podName: 'run-0123456789-2',
  role: 'agent',
  exp,
};
const token = mintToken(SECRET, claims);

describe('tokens of the gateway', () => {
  it('says again what it was minted with', () => {
    expect(verifyToken(SECRET, token, NOW)).toEqual({ ok: true, claims });
    const control = { role: 'control', exp } as const;
    expect(verifyToken(SECRET, mintToken(SECRET, control), NOW)).toEqual({ ok: true, claims: control });
    expect(token).toMatch(/^v1\.[\w-]+\.[\w-]{43}$/);
  });

  it('is refused from its second of expiry on', () => {
    expect(verifyToken(SECRET, token, exp * 1000 - 1).ok).toBe(true);
    expect(verifyToken(SECRET, token, exp * 1000)).toEqual({ ok: false, why: 'expired' });
  });

  it('is refused under the secret of another run', () => {
    expect(verifyToken(`${SECRET}!`, token, NOW)).toEqual({ ok: false, why: 'forged' });
  });

  it('is refused with any one character changed', () => {
    const position = fc.nat({ max: token.length - 1 });
    const character = fc.constantFrom('A', 'B', 'a', 'z', '0', '9', '-', '_', '.', '=');
    fc.assert(
      fc.property(position, character, (at, other) => {
        fc.pre(token[at] !== other);
        const changed = token.slice(0, at) + other + token.slice(at + 1);
        expect(verifyToken(SECRET, changed, NOW).ok).toBe(false);
      }),
    );
  });

  it.each(['', 'v1', 'v1..', 'v2.a.b', `${token}.more`, `v1.${'a'.repeat(5000)}.b`, 'Bearer'])(
    'is refused when it is %j',
    (text) => {
      expect(verifyToken(SECRET, text, NOW).ok).toBe(false);
    },
  );

  it('is refused when it is signed but says something else', () => {
    const signed = (value: unknown) => {
      const payload = Buffer.from(JSON.stringify(value)).toString('base64url');
      return `v1.${payload}.${createHmac('sha256', SECRET).update(`v1.${payload}`).digest('base64url')}`;
    };
    expect(verifyToken(SECRET, signed(claims), NOW).ok).toBe(true);
    for (const value of [
      null,
      [],
      'agent',
      { ...claims, role: 'root' },
      { ...claims, more: 1 },
      { role: 'agent', exp },
    ])
      expect(verifyToken(SECRET, signed(value), NOW)).toEqual({ ok: false, why: 'malformed' });
  });

  it('is not signed with a secret that protects nothing', () => {
    expect(() => mintToken('short', claims)).toThrow(InvalidInputError);
  });
});
