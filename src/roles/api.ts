import type { Logger } from 'pino';
import { buildApi } from '#src/api/app.ts';
import type { Config } from '#src/config.ts';
import { openFoundation } from '#src/roles/foundation.ts';
import { listen } from '#src/roles/listen.ts';
import type { Role } from '#src/roles/role.ts';
