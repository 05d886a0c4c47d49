import { InvalidInputError } from '../api/errors.ts';

/**
 * The way of a model call as runtime selection sees it. It holds no provider and no model name: a prefix cannot
 * select a harness, because nothing that selects is ever told it.
 */
export interface ModelRoute {
  /** Wire protocol, e.g. `openai-responses`. */
  readonly api: string;
  readonly baseUrl: string;
  /** What the configuration changes in requests: `headers`, `params`, `baseUrl`, ... Empty where it changes nothing. */
  readonly authored: readonly string[];
}

/** What a route is, in the distinctions of the runtime specification. */
export const ROUTE_KINDS = [
  'platform-responses',
  'chatgpt-responses',
  'completions',
  'authored-request',
  'custom-endpoint',
] as const;
export type RouteKind = (typeof ROUTE_KINDS)[number];

/** The official Responses routes of OpenAI: exactly these addresses by exactly these protocols. */
const OFFICIAL_ROUTES: readonly { kind: RouteKind; apis: readonly string[]; addresses: readonly string[] }[] =
  [
    {
      kind: 'platform-responses',
      apis: ['openai-responses'],
      addresses: ['https://api.openai.com/v1'],
    },
    {
      kind: 'chatgpt-responses',
      // The second is the older name of the same protocol.
      apis: ['openai-chatgpt-responses', 'openai-codex-responses'],
      addresses: ['https://chatgpt.com/backend-api', 'https://chatgpt.com/backend-api/codex'],
    },
  ];

const OFFICIAL_HOSTS: ReadonlySet<string> = new Set(['api.openai.com', 'chatgpt.com']);

/**
 * Tells the routes of the runtime specification apart. A route is official only when nothing at all differs:
 * HTTPS, host, port and path, no user, query or fragment. Only a final slash is forgiven.
 *
 * @param field where the address stands, for errors
 * @throws InvalidInputError when the address is none, or an official host would be called in plain text
 */
export function classifyRoute(route: ModelRoute, field = 'route.baseUrl'): RouteKind {
  const url = parseAddress(route.baseUrl, field);
  refusePlaintextOfficial(url, field);
  if (route.api.endsWith('-completions')) return 'completions';
  const address = exactAddress(url);
  const official = OFFICIAL_ROUTES.find(
    ({ apis, addresses }) => apis.includes(route.api) && addresses.includes(address),
  );
  if (official === undefined) return 'custom-endpoint';
  return route.authored.length > 0 ? 'authored-request' : official.kind;
}

/** Whether OpenAI may select `codex` by itself on such a route. */
export function allowsImplicitCodex(kind: RouteKind): boolean {
  switch (kind) {
    case 'platform-responses':
    case 'chatgpt-responses':
      return true;
    case 'completions':
    case 'authored-request':
    case 'custom-endpoint':
      return false;
  }
}

/**
 * Refuses `http://` to a host of the provider: key and prompts would travel in plain text.
 *
 * @throws InvalidInputError
 */
export function checkAddress(address: string, field: string): void {
  refusePlaintextOfficial(parseAddress(address, field), field);
}

/** A route in words for provenance; credentials and queries of the address are left out. */
export function describeRoute(route: ModelRoute): string {
  const where = `${route.api} at ${publicAddress(route.baseUrl)}`;
  const kind = classifyRoute(route);
  switch (kind) {
    case 'platform-responses':
      return `${where}, the official Platform Responses route`;
    case 'chatgpt-responses':
      return `${where}, the official ChatGPT Responses route`;
    case 'completions':
      return `${where}, a completions adapter`;
    case 'authored-request':
      return `${where}, an official route with authored ${route.authored.join(', ')}`;
    case 'custom-endpoint':
      return `${where}, a custom endpoint`;
  }
}

/** Address without user, password, query and fragment, which may hold secrets. */
export function publicAddress(address: string): string {
  const url = parseAddress(address, 'baseUrl');
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}

function parseAddress(address: string, field: string): URL {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new InvalidInputError({
      field,
      message: 'is not an http or https address',
      remedy: 'Write it like https://host/v1.',
    });
  }
  return url;
}

function refusePlaintextOfficial(url: URL, field: string): void {
  const host = url.hostname.replace(/\.$/, '');
  if (url.protocol !== 'http:' || !OFFICIAL_HOSTS.has(host)) return;
  throw new InvalidInputError({
    field,
    message: `the official endpoint ${host} must not be called in plain text`,
    remedy: `Use https://${host}.`,
  });
}

/** The address as it is compared with official ones: the default port gone, everything unusual kept. */
function exactAddress(url: URL): string {
  return url.href.replace(/\/$/, '');
}
