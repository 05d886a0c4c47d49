import { expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { OPERATOR_VERSION } from '../../../src/api/version.ts';

it('the program knows the version that package.json states', () => {
  expect(OPERATOR_VERSION).toBe(packageJson.version);
});
