/** One line for each command of the first level: `catalogue --help` prints them without loading the commands. */
export const SUMMARIES = {
  demo: 'start everything embedded, with sample applications, and show one sync',
  up: 'run worker, API and board in one process',
  worker: 'run one worker of the fleet',
  api: "run the platform's own API",
  board: 'run Bull Board',
  migrate: 'migrate the database and the queue schema',
  app: 'register, show, pause, resume and remove applications',
  sync: 'pull the games of applications now',
  pull: 'pull the details of single games now',
  kyc: 'pull, show, accept, erase and reseal KYC records',
  run: 'show runs',
  failure: 'show games that were not stored, with the reasons, and retry them',
  queue: 'show, pause and resume the queues',
  game: 'review games',
  token: "create, list and revoke the API's tokens",
  openapi: 'print the OpenAPI 3.1 documents',
};

export type CommandName = keyof typeof SUMMARIES;
