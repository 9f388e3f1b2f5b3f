export { checkBoardAddress } from './address.ts';
export { type BoardOptions, buildBoard } from './app.ts';
