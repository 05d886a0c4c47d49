import { ATTEMPT_OVERHEAD_AIM, benchAttempt } from './attempt.ts';
import { benchReport, REPORT_AIMS } from './report.ts';
import { bench as scoring } from './scoring.ts';

/*
 * Timings of the project as ratios within one run, on whatever machine this is. A report, never a check: numbers of
 * two machines or two days are not comparable. Give names to run some of them: attempt, scoring, report.
 */

const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  attempt: async () => {
    const { isolation, attempts, bareSeconds, attemptSeconds } = await benchAttempt();
    console.log(`attempt of the scripted runtime, isolation ${isolation}, median of ${attempts}`);
    console.log(`  bare agent       ${bareSeconds.toFixed(3)} s`);
    console.log(`  whole attempt    ${attemptSeconds.toFixed(3)} s without settling`);
    console.log(
      `  overhead         ${(attemptSeconds - bareSeconds).toFixed(3)} s (aim: below ${ATTEMPT_OVERHEAD_AIM} s), ${(attemptSeconds / bareSeconds).toFixed(2)} times the bare agent`,
    );
  },
  scoring: async () => {
    console.log(
      'scoring with Python checkers, each in a process of its own, against one plain Python process',
    );
    if (process.env['CLAWBENCH_BENCH_SUITE'] === undefined) {
      console.log('  not run: set CLAWBENCH_BENCH_SUITE to a checkout of a suite with Python checkers');
      return;
    }
    await scoring.run((name, value, unit) => console.log(`  ${name}  ${value.toFixed(3)} ${unit}`));
  },
  report: async () => {
    const { trials, seconds, peakBytes, htmlBytes } = await benchReport();
    console.log(`report from ${trials} stored trials`);
    console.log(`  time             ${seconds.toFixed(1)} s (aim: under ${REPORT_AIMS.seconds} s)`);
    console.log(
      `  peak memory      ${(peakBytes / 1e6).toFixed(0)} MB (aim: under ${REPORT_AIMS.peakBytes / 1e6} MB)`,
    );
    console.log(`  report.html      ${(htmlBytes / 1e6).toFixed(1)} MB`);
  },
};

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHES);
for (const name of wanted) {
  const bench = BENCHES[name];
  if (bench === undefined) {
    console.error(`there is no bench ${name}; there are ${Object.keys(BENCHES).join(', ')}`);
    process.exitCode = 2;
    break;
  }
  await bench();
}
