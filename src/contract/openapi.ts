import type { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { RET_CODE_SUCCESS, RET_MSG_SUCCESS } from '#src/contract/envelope.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;
export type Examples = Record<string, { summary: string; value: unknown }>;

/**
 * Creates an OpenAPI 3.1 document from the zod schemas that validate requests and responses. A schema with an `id`
 * becomes a component.
 */
export const createOpenApiDocument = (
  document: Pick<ZodOpenApiObject, 'servers' | 'tags' | 'paths'> & {
    title: string;
    description: string;
    /** Description of the bearer token. */
    accessToken: string;
  },
): OpenApiDocument => {
  const { title, description, accessToken, ...rest } = document;
  const license = { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' };
  return createDocument(
    {
      openapi: '3.1.1',
      info: { title, version: '1', description, license },
      security: [{ accessToken: [] }],
      components: {
        securitySchemes: { accessToken: { type: 'http', scheme: 'bearer', description: accessToken } },
      },
      ...rest,
    },
    {
      override: ({ jsonSchema }) => {
        // Responses may gain fields later, so no schema forbids additional properties.
        delete jsonSchema.additionalProperties;
        // The bounds of JavaScript's safe integers are not part of the contract.
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      },
    },
  );
};

export const jsonContent = (schema: z.ZodType, examples?: Examples) => ({
  'application/json': { schema, ...(examples && { examples }) },
});

/** A POST operation: its request, its response to a success (200), and its failures. */
export const describeOperation = (
  operation: Pick<ZodOpenApiOperationObject, 'operationId' | 'summary' | 'description'> & {
    tag: string;
    request: z.ZodType;
    requestExamples?: Examples;
    success: string;
    response: z.ZodType;
    responseExamples?: Examples;
    failures: ZodOpenApiResponsesObject;
  },
): { post: ZodOpenApiOperationObject } => {
  const { tag, request, requestExamples, success, response, responseExamples, failures, ...texts } =
    operation;
  return {
    post: {
      ...texts,
      tags: [tag],
      requestBody: { required: true, content: jsonContent(request, requestExamples) },
      responses: {
        200: { description: success, content: jsonContent(response, responseExamples) },
        ...failures,
      },
    },
  };
};

/** Example of a success, in the envelope (section 2.1). */
export const successExample = (summary: string, data: unknown) => ({
  summary,
  value: { ret_code: RET_CODE_SUCCESS, ret_msg: RET_MSG_SUCCESS, data },
});
