import type { AttemptResult } from '../../api/attempt.ts';
import type { DispatchEvent } from '../../api/attempt-meta.ts';
import {
  HARNESS_REPORT_VERSION,
  type HarnessReport,
  type HarnessStep,
  type ReportedResult,
} from '../../api/harness-report.ts';
import { OPERATOR_VERSION } from '../../api/version.ts';
import type { TerminationMessage } from '../termination-message.ts';
import { reportText } from './report-text.ts';

/** Which attempt of which trial, in which pod. */
export interface AttemptName {
  readonly trial: string;
  readonly attempt: number;
  readonly podUID: string;
}

/** What an attempt left beside its result. */
export type AttemptYield = Pick<ReportedResult, 'artifacts' | 'usage'>;

/** The harness's word to the controller, replaced at each step. */
export class ProgressReport {
  private report: HarnessReport;
  private readonly message: TerminationMessage;

  constructor(name: AttemptName, message: TerminationMessage) {
    this.message = message;
    this.report = {
      v: HARNESS_REPORT_VERSION,
      operatorVersion: OPERATOR_VERSION,
      ...name,
      step: 'staging',
      turn: 0,
      connectedAt: null,
      sigterm: false,
      result: null,
      fault: null,
    };
    this.write();
  }

  step(event: DispatchEvent): void {
    const before = this.report;
    const step = STEP_OF[event.event];
    this.report = {
      ...before,
      ...(step === undefined ? {} : { step }),
      ...(event.event === 'turn_started' ? { turn: event.turn } : {}),
      ...(event.event === 'shim_connected' ? { connectedAt: event.at } : {}),
    };
    if (this.report.step !== before.step || this.report.connectedAt !== before.connectedAt) this.write();
  }

  sigterm(): void {
    this.report = { ...this.report, sigterm: true };
    this.write();
  }

  /** @returns whether the controller will see it */
  done(result: AttemptResult, yielded: AttemptYield): boolean {
    this.report = { ...this.report, step: 'done', result: { ...result, ...yielded } };
    return this.write();
  }

  fault(reason: string, message: string): void {
    this.report = { ...this.report, fault: { reason, message } };
    this.write();
  }

  private write(): boolean {
    return this.message.write(reportText(this.report));
  }
}

/** Where the attempt is after an event; the others change nothing that the controller needs. */
const STEP_OF: Readonly<Partial<Record<DispatchEvent['event'], HarnessStep>>> = {
  staged: 'staged',
  turn_started: 'turn',
  turn_exited: 'turn_ended',
  turn_dead: 'turn_ended',
  collecting: 'collecting',
};
