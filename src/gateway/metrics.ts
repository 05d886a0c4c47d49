import type { ProviderErrorKind } from '../api/attempt.ts';
import type { ModelCallRecord } from '../api/model-calls.ts';
import type { FairQueue } from './fair-queue.ts';

/** How calls are counted; `error` is empty where the provider made none. */
type Result = `${ModelCallRecord['end']}|${ProviderErrorKind | ''}`;

/** Counters of one gateway process, in the text format that Prometheus reads. Labels are bounded words. */
export class GatewayMetrics {
  private readonly calls = new Map<Result, number>();
  private readonly tokens = { input: 0, output: 0, cache_read: 0, cache_write: 0 };
  private readonly refused = new Map<string, number>();
  private costUsd = 0;
  private heldSeconds = 0;
  private openCalls = 0;

  opened(): void {
    this.openCalls += 1;
  }

  closed(): void {
    this.openCalls -= 1;
  }

  ended({ end, error, usage, costUsd, heldMs }: ModelCallRecord): void {
    const result: Result = `${end}|${error ?? ''}`;
    this.calls.set(result, (this.calls.get(result) ?? 0) + 1);
    this.heldSeconds += heldMs / 1000;
    this.costUsd += costUsd ?? 0;
    if (usage === null) return;
    this.tokens.input += usage.input;
    this.tokens.output += usage.output;
    this.tokens.cache_read += usage.cacheRead;
    this.tokens.cache_write += usage.cacheWrite;
  }

  /** The gateway itself turned a request down. `why`: one of a few words. */
  turnedDown(why: string): void {
    this.refused.set(why, (this.refused.get(why) ?? 0) + 1);
  }

  text(queue: Pick<FairQueue, 'waiting'>): string {
    const calls = [...this.calls].map(([result, count]): Sample => {
      const [end = '', error = ''] = result.split('|');
      return [{ end, error }, count];
    });
    const tokens = Object.entries(this.tokens).map(([kind, count]): Sample => [{ kind }, count]);
    const refused = [...this.refused].map(([reason, count]): Sample => [{ reason }, count]);
    return [
      family('clawbench_gateway_calls_total', 'counter', 'Model calls that ended.', calls),
      family('clawbench_gateway_tokens_total', 'counter', 'Tokens as the provider counted them.', tokens),
      family('clawbench_gateway_cost_usd_total', 'counter', 'Cost by spec.model.pricing.', [
        [{}, this.costUsd],
      ]),
      family('clawbench_gateway_held_seconds_total', 'counter', 'Time that calls waited here.', [
        [{}, this.heldSeconds],
      ]),
      family('clawbench_gateway_turned_down_total', 'counter', 'Requests that never were calls.', refused),
      family('clawbench_gateway_open_calls', 'gauge', 'Calls that wait or are being answered.', [
        [{}, this.openCalls],
      ]),
      family('clawbench_gateway_waiting_calls', 'gauge', 'Calls that wait.', [[{}, queue.waiting]]),
    ].join('');
  }
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

function family(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, word]) => `${label}="${word}"`);
    return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}
