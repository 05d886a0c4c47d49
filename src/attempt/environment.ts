/** Never in an agent's environment, whoever put it there: the key of the model's provider. */
const WITHHELD = ['CLAWBENCH_API_KEY'];
/** The mark by which an agent's processes are found is not the agent's to choose. */
const MARK = 'CLAWBENCH_ATTEMPT';

/**
 * The environment of an agent, built from nothing: what the executor gives, what the adapter needs, what the
 * run's specification adds; later ones win. Nothing of the harness's own environment is in it.
 */
export function agentEnvironment(
  base: Readonly<Record<string, string>>,
  adapter: Readonly<Record<string, string>>,
  spec: Readonly<Record<string, string>>,
): Record<string, string> {
  const all = Object.entries({ ...base, ...adapter, ...spec }).filter(
    ([name]) => name !== MARK && !WITHHELD.includes(name),
  );
  const mark = base[MARK];
  return Object.fromEntries(mark === undefined ? all : [...all, [MARK, mark]]);
}
