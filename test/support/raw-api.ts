import { Agent, fetch } from 'undici';
import type { TestApiServer } from './api-server.ts';

/** Whom a call is made as; the admin's right to impersonate makes it so. */
export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[];
}

export interface RawOptions {
  readonly as?: Impersonation;
  readonly contentType?: string;
  readonly accept?: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly body: AnswerBody;
  /** Warnings that the server sent beside its answer. */
  readonly warnings: readonly string[];
}

/** An object, a list, a table or a refusal: what tests look at in any of them. */
export interface AnswerBody {
  readonly metadata?: { readonly name?: string; readonly uid?: string; readonly resourceVersion?: string };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
  /** Of a refusal. */
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string; readonly message: string }[] };
  /** Of a table. */
  readonly columnDefinitions?: readonly { readonly name: string; readonly priority: number }[];
  readonly rows?: readonly { readonly cells: readonly unknown[] }[];
  /** Of a list, and of a group's discovery. */
  readonly items?: readonly AnswerBody[];
  readonly resources?: readonly {
    readonly name: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  }[];
}

/** Calls of the API server as they are on the wire: for what a client would hide, such as warnings and tables. */
export class RawApi {
  readonly #server: TestApiServer;
  readonly #agent: Agent;

  constructor(server: TestApiServer) {
    this.#server = server;
    this.#agent = new Agent({ connect: { ca: server.caData } });
  }

  async call(method: string, path: string, body?: unknown, options: RawOptions = {}): Promise<RawAnswer> {
    const headers: [string, string][] = [
      ['authorization', `Bearer ${this.#server.token}`],
      ['accept', options.accept ?? 'application/json'],
    ];
    if (body !== undefined) headers.push(['content-type', options.contentType ?? 'application/json']);
    if (options.as !== undefined) {
      headers.push(['impersonate-user', options.as.user]);
      for (const group of options.as.groups ?? []) headers.push(['impersonate-group', group]);
    }
    const answer = await fetch(`${this.#server.url}${path}`, {
      method,
      headers,
      dispatcher: this.#agent,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      body: (text.startsWith('{') ? JSON.parse(text) : { message: text }) as AnswerBody,
      warnings: (answer.headers.get('warning') ?? '')
        .split(/, (?=299 )/)
        .filter((warning) => warning !== '')
        .map((warning) => warning.replace(/^299 \S+ "(.*)"$/s, '$1')),
    };
  }

  /** Server-side apply of one object. */
  async apply(path: string, body: unknown, options: RawOptions = {}): Promise<RawAnswer> {
    const contentType = 'application/apply-patch+yaml';
    return await this.call('PATCH', `${path}?fieldManager=test&force=true`, body, {
      ...options,
      contentType,
    });
  }

  /** Merge patch. */
  async merge(path: string, body: unknown, options: RawOptions = {}): Promise<RawAnswer> {
    return await this.call('PATCH', path, body, { ...options, contentType: 'application/merge-patch+json' });
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }
}

/** A service account, as the API server knows it. */
export function serviceAccount(namespace: string, name: string): Impersonation {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}
