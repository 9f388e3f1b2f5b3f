/** Checks answers against an OpenAPI document. */

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import type { OpenApiDocument } from '#src/contract/openapi.ts';

/** @returns a function that expects a body to be as the document says for this path and status */
export const createBodyCheck = (document: OpenApiDocument) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  return (path: string, status: number, body: unknown): void => {
    const pointer = [
      'paths',
      path,
      'post',
      'responses',
      String(status),
      'content',
      'application/json',
      'schema',
    ];
    const $ref = `document#/${pointer.map((part) => part.replaceAll('/', '~1')).join('/')}`;
    const validate = ajv.getSchema($ref);
    if (validate === undefined) throw new Error(`the document has no ${status} of ${path}`);
    validate(body);
    expect(validate.errors ?? [], `${path} ${status} ${JSON.stringify(body).slice(0, 400)}`).toEqual([]);
  };
};
