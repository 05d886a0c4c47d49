import type { PublicScenario } from '../api/suite-index.ts';
import { sha256 } from '../files/digest.ts';

/**
 * What every task is told about its surroundings (executor specification, section 3). A scenario of the other
 * format never sees it: its prompt arrives byte for byte.
 */
export const RUNTIME_PREFIX = `How this task is run:

- Keep useful evidence and your conclusions as files under /tmp_workspace/results/.
- Material that belongs to the task lies under /tmp_workspace/clawbench/sources/.
- To discover websites use the browser. web_fetch is for pages whose address you already have, not for searching.
- Keep the words and the order of the task's own query; change them only slightly, and never what they ask for.
- Where the task wants evidence from primary content, rely on the state of the page, video or application itself
  rather than on text near it.
- When you are done, answer with one plain-text message and make no further tool call.
`;

/** Bound into provenance: scores of runs with different prefixes do not compare. */
export const RUNTIME_PREFIX_SHA256 = sha256(RUNTIME_PREFIX);

/** The first message of an attempt: a scenario's prompt as it is, a task's with the shared prefix after it. */
export function firstMessage(format: PublicScenario['format'], prompt: string): string {
  switch (format) {
    case 'scenario':
      return prompt;
    case 'task':
      return `${prompt.replace(/\n*$/, '')}\n\n${RUNTIME_PREFIX}`;
  }
}
