import { z } from 'zod';
import { withRules } from './rules.ts';
import { opaqueMap } from './schema-parts.ts';

/** What trial pods may reach: the run's gateway, everything public, or the gateway and what `rules` allow. */
export const EGRESS_MODES = ['ModelOnly', 'Internet', 'Rules'] as const;
export type EgressMode = (typeof EGRESS_MODES)[number];

const egressRule = z.strictObject({
  ports: z.array(opaqueMap).max(64).optional().describe('Ports, as in a NetworkPolicy; absent means all.'),
  to: z.array(opaqueMap).max(64).optional().describe('Peers, as in a NetworkPolicy; absent means all.'),
});

export const networkSpecSchema = withRules(
  z.strictObject({
    egress: z
      .enum(EGRESS_MODES)
      .default('ModelOnly')
      .describe(
        "What trial pods may reach: the run's gateway only; `Internet`: also all public addresses; `Rules`: also what `rules` allow.",
      ),
    rules: z
      .array(egressRule)
      .max(64)
      .optional()
      .describe('Egress rules of a NetworkPolicy, with egress `Rules` only.'),
  }),
  [
    {
      message: 'rules belong to egress Rules: set egress to Rules and give rules, or remove rules',
      // The default of the whole is checked before egress gets its own.
      cel: "(has(self.egress) && self.egress == 'Rules') == has(self.rules)",
      field: ['rules'],
      holds: (network) => (network.egress === 'Rules') === (network.rules !== undefined),
    },
  ],
);
