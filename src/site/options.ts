import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#db/client.ts';
import type { FourEyes } from '#src/contract/approvals.ts';
import type { OidcSettings } from '#src/identity/oidc.ts';
import type { Producer } from '#src/queue/producer.ts';

/** Options of every site for operators. */
export type SiteOptions = {
  sql: Database;
  /** The public address (CONSOLE_URL, KYC_DESK_URL), or where the site listens. */
  url: () => string;
  /** Addresses and CIDRs whose `X-Forwarded-*` is trusted (CONSOLE_TRUSTED_PROXIES). */
  trustedProxies: string[];
  oidc: OidcSettings | null;
  /** What takes two persons (FOUR_EYES). */
  fourEyes: FourEyes;
  /** Is there a store of pictures (PICTURE_STORE)? */
  keepsPictures: boolean;
  logger: FastifyBaseLogger;
};

export type ConsoleOptions = SiteOptions & {
  producer: Producer;
  /** The public address of the KYC desk, where officers open their sign-in links. */
  kycDeskUrl: string;
  /** The link by which developers write to the operators (PORTAL_CONTACT). */
  contact?: string | undefined;
};
