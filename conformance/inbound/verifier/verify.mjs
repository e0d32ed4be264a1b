// Verifies webhooks with the Node.js library of Standard Webhooks. The first argument is the
// folder of its package. Standard input has {"secret", "webhooks": [{"headers", "body"}]};
// the output is a JSON array with "" for each webhook that is valid, or the message of the error.
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const { Webhook } = createRequire(join(process.argv[2], 'index.js'))('standardwebhooks')
const { secret, webhooks } = JSON.parse(readFileSync(0, 'utf8'))
const verifier = new Webhook(secret)
const results = webhooks.map(({ headers, body }) => {
  try {
    const payload = verifier.verify(body, headers)
    return payload.schema_version === 1 ? '' : `schema_version is ${payload.schema_version}`
  } catch (error) {
    return error.message || String(error)
  }
})
console.log(JSON.stringify(results))
