/** Checks answers against an OpenAPI document. */

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import type { OpenApiDocument } from '#src/contract/openapi.ts';

/** Compares requests and answers with a document. */
export const createDocumentCheck = (document: OpenApiDocument) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const validatorOf = (...pointer: string[]) => {
    const parts = ['paths', ...pointer, 'content', 'application/json', 'schema'];
    const $ref = `document#/${parts.map((part) => part.replaceAll('/', '~1')).join('/')}`;
    const validate = ajv.getSchema($ref);
    if (validate === undefined) throw new Error(`the document has no ${pointer.join(' ')}`);
    return validate;
  };
  return {
    /** Does the document allow this body of a request? */
    allows: (path: string, body: unknown): boolean => validatorOf(path, 'post', 'requestBody')(body) === true,
    /** Expects an answer to be as the document says for this path and status. */
    answer: (path: string, status: number, body: unknown): void => {
      const validate = validatorOf(path, 'post', 'responses', String(status));
      validate(body);
      const shown = `${path} ${status} ${JSON.stringify(body).slice(0, 400)}`;
      expect(validate.errors ?? [], shown).toEqual([]);
    },
  };
};
