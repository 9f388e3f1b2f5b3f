export { checkBoardAddress } from '#src/board/address.ts';
export { type BoardOptions, buildBoard } from '#src/board/app.ts';
