/** Thrown to skip a case that needs a response which another case reports as wrong, or which is no longer requested. */
export class SkipCase extends Error {
  override readonly name = 'SkipCase';
}
