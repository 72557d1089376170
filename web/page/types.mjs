// From an OpenAPI document to the types of the page: node types.mjs openapi.json > src/messages.ts
import { readFileSync } from "node:fs";

const api = JSON.parse(readFileSync(process.argv[2], "utf8"));
const nameOf = (ref) => ref.split("/").pop().split(".").pop();
function typeOf(schema) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") return `Array<${typeOf(schema.items)}>`;
  if (schema.additionalProperties && typeof schema.additionalProperties === "object") {
    return `Record<string, ${typeOf(schema.additionalProperties)}>`;
  }
  return schema.type === "integer" ? "number" : schema.type;
}

console.log("// Made by types.mjs from the OpenAPI document; a test compares. In an answer all numbers, texts and lists are present.");
for (const [name, schema] of Object.entries(api.components.schemas)) {
  console.log(`\nexport interface ${nameOf(name)} {`);
  for (const [field, type] of Object.entries(schema.properties)) console.log(`  ${field}?: ${typeOf(type)};`);
  console.log("}");
}
