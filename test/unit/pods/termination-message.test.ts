import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { InfrastructureError, InvalidInputError } from '../../../src/api/errors.ts';
import { ENV, TERMINATION_MESSAGE_BYTES } from '../../../src/api/pod-contract.ts';
import { prepareReportSchema } from '../../../src/api/step-report.ts';
import { tellingHowItEnds } from '../../../src/pods/step-message.ts';
import { terminationMessage } from '../../../src/pods/termination-message.ts';

const folder = mkdtempSync(join(tmpdir(), 'clawbench-message-'));
const path = join(folder, 'message');
const env = { [ENV.TERMINATION_LOG]: path };
afterAll(() => rmSync(folder, { recursive: true }));

const read = () => JSON.parse(readFileSync(path, 'utf8')) as unknown;

describe('the termination message', () => {
  it('is replaced whole, also by a shorter one', () => {
    const message = terminationMessage(env);
    expect(message.write(JSON.stringify({ text: 'x'.repeat(500) }))).toBe(true);
    expect(message.write(JSON.stringify({ text: 'short' }))).toBe(true);
    expect(read()).toEqual({ text: 'short' });
    expect(message.write('x'.repeat(TERMINATION_MESSAGE_BYTES + 1))).toBe(false);
    expect(read()).toEqual({ text: 'short' });
  });

  it('does not end the work where it cannot be written', () => {
    expect(terminationMessage({ [ENV.TERMINATION_LOG]: '/nowhere/at/all' }).write('{}')).toBe(false);
  });

  it('says what was wrong with an input, as much of it as fits', async () => {
    const wrong = new InvalidInputError({ file: 'a.yaml', message: '\u0001"\u{1F980}'.repeat(3000) });
    const work = tellingHowItEnds(
      env,
      () => 'SuiteInvalid',
      () => Promise.reject(wrong),
    );
    await expect(work).rejects.toBe(wrong);
    expect(readFileSync(path).length).toBeLessThanOrEqual(TERMINATION_MESSAGE_BYTES);
    expect(prepareReportSchema.parse(read())).toMatchObject({
      ok: false,
      reason: 'SuiteInvalid',
      retry: false,
    });
  });

  it('says of a fault of the machine that it may pass', async () => {
    const full = new InfrastructureError('DiskFull', 'no space');
    await expect(
      tellingHowItEnds(
        env,
        () => 'SuiteInvalid',
        () => Promise.reject(full),
      ),
    ).rejects.toBe(full);
    expect(read()).toEqual({ v: 1, ok: false, reason: 'DiskFull', message: 'no space', retry: true });
  });
});
