import { z } from 'zod';

/**
 * The conversation between harness and shim: one JSON object a line, UTF-8, over one TCP connection on the
 * loopback device. The harness listens, the shim connects before any agent exists, and the listener closes.
 *
 * The side of the shim runs beside the agent, under the agent's user, so the harness trusts nothing that comes
 * from there: every message is validated, lines are bounded, and no message can make the harness do more
 * than record what it says.
 */

export const SHIM_PROTOCOL = 1;

/** Longest line either side takes, in bytes. Contents are cut into parts far below it. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Largest part of a file in one `files` message, in bytes before base64. */
export const FILE_PART_BYTES = 256 * 1024;

/** How the shim reaches every process that an agent left. */
export const CONTAINMENTS = ['namespace', 'uid', 'tree'] as const;
export type Containment = (typeof CONTAINMENTS)[number];

const turn = z.int().min(0);

/** Messages of the harness. */
export type ToShim =
  /** Writes a file as the agent's user; with `append`, adds a further part to the file of the message before. */
  | {
      readonly type: 'files';
      readonly path: string;
      readonly mode: number;
      readonly base64: string;
      readonly append?: boolean;
    }
  | {
      readonly type: 'start';
      /** 1-based; 0 is the scenario's set-up script. */
      readonly turn: number;
      readonly argv: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      /** The shim's own bound, should the harness hang: then it kills everything. */
      readonly wallSeconds: number;
      /** Bounds that the shim holds by looking, where no cgroup holds them. */
      readonly memoryBytes?: number;
      readonly pids?: number;
    }
  /**
   * SIGTERM goes to the process group of the running turn and is not answered. SIGKILL, the default, goes to
   * every process of the executor until none is left, and is answered with `dead`.
   */
  | { readonly type: 'killAll'; readonly signal?: 'SIGTERM' | 'SIGKILL' }
  /** Kills everything and ends the shim. */
  | { readonly type: 'end' };

/** Messages of the shim. */
export const fromShimSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('hello'),
    /** Of the Node.js that runs the shim. */
    version: z.string().max(64),
    protocol: z.int(),
    /** One-time word of this attempt, where others on the machine could reach the listener. */
    token: z.string().max(256).optional(),
    containment: z.enum(CONTAINMENTS),
  }),
  z.strictObject({ type: z.literal('started'), turn, pid: z.int() }),
  z.strictObject({
    type: z.literal('output'),
    turn,
    stream: z.enum(['stdout', 'stderr']),
    base64: z.string(),
  }),
  z.strictObject({
    type: z.literal('exit'),
    turn,
    code: z.int().nullable(),
    signal: z.string().max(32).nullable(),
    /** Processes of the executor that the kernel killed for memory during the turn, as far as the cgroup tells. */
    oomKills: z.int().min(0),
    /** A bound that the shim held itself, and for which it killed everything. */
    limit: z.enum(['wall', 'memory', 'pids']).nullable(),
  }),
  /** A file could not be written or the process not started: there will be no `exit` for this turn. */
  z.strictObject({ type: z.literal('failed'), turn, message: z.string().max(65_536) }),
  z.strictObject({
    type: z.literal('dead'),
    /** Processes beside the turn's own that were alive when `killAll` came. */
    count: z.int().min(0),
    /** The first of them. Process ids are those that the shim sees. */
    processes: z
      .array(z.strictObject({ pid: z.int(), uid: z.int().nullable(), command: z.string().max(256) }))
      .max(64),
    /** Processes that did not die although they were killed (uninterruptible sleep); 0 is the rule. */
    remaining: z.int().min(0),
  }),
]);
export type FromShim = z.infer<typeof fromShimSchema>;

export type ParsedMessage =
  { readonly ok: true; readonly message: FromShim } | { readonly ok: false; readonly problem: string };

/** Parses one line of the shim. Never throws: the line may have been written by an agent. */
export function parseFromShim(line: string): ParsedMessage {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { ok: false, problem: `a line that is not JSON: ${excerpt(line)}` };
  }
  const parsed = fromShimSchema.safeParse(value);
  if (parsed.success) return { ok: true, message: parsed.data };
  const issue = parsed.error.issues[0];
  const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
  return { ok: false, problem: `not a message of this protocol${where}: ${excerpt(line)}` };
}

/** One message as a line. */
export function encodeMessage(message: ToShim | FromShim): string {
  return `${JSON.stringify(message)}\n`;
}

/** The `files` messages that bring one file over, in order. */
export function* fileMessages(path: string, mode: number, content: string | Uint8Array): Generator<ToShim> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
  for (let offset = 0; offset === 0 || offset < bytes.length; offset += FILE_PART_BYTES) {
    const base64 = bytes.subarray(offset, offset + FILE_PART_BYTES).toString('base64');
    yield offset === 0
      ? { type: 'files', path, mode, base64 }
      : { type: 'files', path, mode, base64, append: true };
  }
}

function excerpt(line: string): string {
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}...` : line);
}
