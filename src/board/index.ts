export { checkBoardAddress } from './address.ts';
export { type BoardOptions, buildBoard } from './app.ts';
export type { Login } from './credentials.ts';
