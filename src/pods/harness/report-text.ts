import type { Observation } from '../../api/attempt.ts';
import { harnessReportSchema, type HarnessReport } from '../../api/harness-report.ts';
import { TERMINATION_MESSAGE_BYTES } from '../../api/pod-contract.ts';

/** How much of what explains is kept: characters of a sentence, names of processes. */
interface Detail {
  readonly sentence: number;
  readonly commands: number;
}

const DETAILS: readonly Detail[] = [
  { sentence: 400, commands: 8 },
  { sentence: 160, commands: 4 },
  { sentence: 60, commands: 2 },
  { sentence: 16, commands: 0 },
];
const LEAST: Detail = { sentence: 0, commands: 0 };
const COMMAND_LENGTH = 32;

/**
 * A report as the text of a termination message, within its bound. Sentences are shortened first, then observations
 * that say the same are said once; what classifies an attempt is kept.
 */
export function reportText(report: HarnessReport): string {
  for (const detail of DETAILS) {
    const text = encode(shortened(report, detail));
    if (fits(text)) return text;
  }
  let short = shortened(report, LEAST);
  // Only very many different observations come so far; those that decide nothing go first.
  while (!fits(encode(short)) && short.result !== null && short.result.observations.length > 0) {
    short = { ...short, result: { ...short.result, observations: withoutOne(short.result.observations) } };
  }
  return encode(short);
}

const fits = (text: string) => Buffer.byteLength(text) <= TERMINATION_MESSAGE_BYTES;

/** Fields that the schema does not name are no part of the contract. */
function encode(report: HarnessReport): string {
  return JSON.stringify(harnessReportSchema.parse(report));
}

function shortened(report: HarnessReport, detail: Detail): HarnessReport {
  const { fault, result } = report;
  return {
    ...report,
    fault: fault === null ? null : { ...fault, message: cut(fault.message, Math.max(200, detail.sentence)) },
    result:
      result === null
        ? null
        : {
            ...result,
            completion: { ...result.completion, reason: cut(result.completion.reason, detail.sentence) },
            observations: distinct(result.observations.map((one) => shortObservation(one, detail))),
          },
  };
}

function shortObservation(observation: Observation, { sentence, commands }: Detail): Observation {
  if ('message' in observation) return { ...observation, message: cut(observation.message, sentence) };
  if (observation.kind === 'leftover_processes') {
    const named = observation.commands.slice(0, commands).map((command) => cut(command, COMMAND_LENGTH));
    return { ...observation, commands: named };
  }
  return observation;
}

function distinct(observations: readonly Observation[]): Observation[] {
  return [...new Map(observations.map((one) => [JSON.stringify(one), one])).values()];
}

/** Decides nothing in the table of failure classes, or only together with what decides more. */
const isAside = (observation: Observation) =>
  observation.kind === 'leftover_processes' || (observation.kind === 'provider_error' && !observation.final);

function withoutOne(observations: readonly Observation[]): Observation[] {
  const aside = observations.findLastIndex(isAside);
  return observations.toSpliced(aside === -1 ? observations.length - 1 : aside, 1);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 3))}...`.slice(0, length);
}
