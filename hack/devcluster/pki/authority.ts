import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../system/command.ts';

/** Long enough for a cluster that is left running, short enough to be worth nothing when it is found later. */
const DAYS = '365';

export interface CertificateRequest {
  /** File name without ending. */
  readonly name: string;
  /** The user name that Kubernetes sees. */
  readonly commonName: string;
  /** The group that Kubernetes sees. */
  readonly organization?: string;
  /** `DNS:name` and `IP:address`: for servers. */
  readonly alternativeNames?: readonly string[];
}

export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority that lives in a folder and signs by openssl. */
export class Authority {
  readonly folder: string;
  readonly certificate: string;
  readonly key: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.certificate = join(folder, 'ca.crt');
    this.key = join(folder, 'ca.key');
  }

  /** Makes the folder, the authority's own certificate and the key pair that signs service account tokens. */
  static async create(folder: string): Promise<Authority> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const authority = new Authority(folder);
    await openssl([
      '-subj',
      '/CN=clawbench-devcluster',
      '-addext',
      'basicConstraints=critical,CA:TRUE',
      '-addext',
      'keyUsage=critical,keyCertSign,cRLSign,digitalSignature',
      '-keyout',
      authority.key,
      '-out',
      authority.certificate,
    ]);
    const pair = generateKeyPairSync('ec', {
      namedCurve: 'prime256v1',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const { signing, verifying } = authority.serviceAccountKeys;
    await writeFile(signing, pair.privateKey, { mode: 0o600 });
    await writeFile(verifying, pair.publicKey);
    return authority;
  }

  /** The authority that `create` made there. */
  static open(folder: string): Authority {
    return new Authority(folder);
  }

  get serviceAccountKeys(): { readonly signing: string; readonly verifying: string } {
    return {
      signing: join(this.folder, 'service-accounts.key'),
      verifying: join(this.folder, 'service-accounts.pub'),
    };
  }

  /** Where the files of an issued certificate lie. */
  files(name: string): Certificate {
    return { certificate: join(this.folder, `${name}.crt`), key: join(this.folder, `${name}.key`) };
  }

  async issue(request: CertificateRequest): Promise<Certificate> {
    const files = this.files(request.name);
    const group = request.organization === undefined ? '' : `/O=${request.organization}`;
    const names =
      request.alternativeNames === undefined
        ? []
        : ['-addext', `subjectAltName=${request.alternativeNames.join(',')}`];
    await openssl([
      '-CA',
      this.certificate,
      '-CAkey',
      this.key,
      '-subj',
      `${group}/CN=${request.commonName}`,
      '-addext',
      'basicConstraints=critical,CA:FALSE',
      '-addext',
      'extendedKeyUsage=serverAuth,clientAuth',
      ...names,
      '-keyout',
      files.key,
      '-out',
      files.certificate,
    ]);
    return files;
  }

  async certificatePem(): Promise<string> {
    return await readFile(this.certificate, 'utf8');
  }
}

async function openssl(args: readonly string[]): Promise<void> {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  // Without a configuration file: Debian's adds extensions of its own, which then stand twice.
  await run('openssl', ['req', '-x509', '-config', '/dev/null', ...curve, '-days', DAYS, ...args]);
}
