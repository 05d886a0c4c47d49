import { InfrastructureError, InvalidInputError, messageOf } from '../api/errors.ts';
import { TERMINATION_MESSAGE_BYTES } from '../api/pod-contract.ts';
import { STEP_REPORT_VERSION, type PrepareReport, type StepReport } from '../api/step-report.ts';
import type { Environment } from './request.ts';
import { terminationMessage } from './termination-message.ts';

/** Bytes for all that is not the sentence. */
const FRAME_BYTES = 160;

/** Reasons of wrong input, by whose input it is. */
export type InvalidReason = 'SpecInvalid' | 'SuiteInvalid' | 'RequestInvalid' | 'RoundInvalid';

/**
 * Does the work of a container and tells how it ended in the container's termination message, in one form whatever
 * happens.
 *
 * @throws what the work throws, after it was told
 */
export async function tellingHowItEnds<Report extends PrepareReport | StepReport>(
  env: Environment,
  invalidReason: (error: InvalidInputError) => InvalidReason,
  work: () => Promise<Report>,
): Promise<Report> {
  const message = terminationMessage(env);
  try {
    const report = await work();
    message.write(JSON.stringify(report));
    return report;
  } catch (error) {
    message.write(JSON.stringify(failureReport(error, invalidReason)));
    throw error;
  }
}

function failureReport(
  error: unknown,
  invalidReason: (error: InvalidInputError) => InvalidReason,
): Extract<StepReport, { ok: false }> {
  const isInvalid = error instanceof InvalidInputError;
  const reason = isInvalid
    ? invalidReason(error)
    : error instanceof InfrastructureError
      ? error.reason
      : 'StepFailed';
  return {
    v: STEP_REPORT_VERSION,
    ok: false,
    reason,
    message: fitting(messageOf(error)),
    // What is wrong with an input stays wrong however often it is read.
    retry: !isInvalid,
  };
}

/** As much of a text as the message holds once it is written as JSON. */
function fitting(text: string): string {
  const room = TERMINATION_MESSAGE_BYTES - FRAME_BYTES;
  const bytes = (part: string) => Buffer.byteLength(JSON.stringify(part));
  if (bytes(text) <= room) return text;
  let kept = text.slice(0, room);
  while (bytes(`${kept} ...`) > room) kept = kept.slice(0, Math.floor(kept.length * 0.9));
  return `${kept} ...`;
}
