import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

export type OpenApiDocument = {
  openapi: '3.1.1';
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: {
    url: string;
    description?: string;
    variables?: Record<string, { default: string; description: string }>;
  }[];
  tags: { name: string; description: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, JsonSchema> };
};
export type Operation = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security?: Record<string, string[]>[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { description: string; headers?: Record<string, unknown>; content: Content }>;
};
export type Example = { summary: string; value: unknown };
type Content = Record<string, { schema: JsonSchema; examples?: Record<string, Example> }>;

/**
 * JSON Schemas of the zod schemas that carry an `id`, as the document's components: the same schemas that the
 * code validates with.
 * @param io `input` describes what may be sent (fields with a default are optional), `output` what is answered
 */
export const componentsOf = (
  schemas: readonly z.ZodType[],
  io: 'input' | 'output',
): Record<string, JsonSchema> => {
  const registry = z.registry<{ id: string }>();
  for (const schema of schemas) {
    const meta = z.globalRegistry.get(schema);
    if (meta?.id === undefined) throw new Error('a schema of an OpenAPI document needs an id');
    registry.add(schema, { ...meta, id: meta.id });
  }
  const { schemas: components } = z.toJSONSchema(registry, {
    io,
    target: 'draft-2020-12',
    uri: (id) => `#/components/schemas/${id}`,
    // Answers may gain fields: a client that refuses what it does not know would break then.
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties;
      // The bound of safe integers is JavaScript's, not the contract's.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return Object.fromEntries(
    Object.entries(components).map(([id, { $schema: _schema, $id: _id, id: _name, ...schema }]) => [
      id,
      schema,
    ]),
  );
};

export const ref = (id: string): JsonSchema => ({ $ref: `#/components/schemas/${id}` });

/** JSON content of one schema. */
export const json = (schema: string, examples: Record<string, Example>): Content => ({
  'application/json': { schema: ref(schema), examples },
});
