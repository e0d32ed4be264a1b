// One agent's work at each revision in turn, on the product and on an endpoint
// with one tool that asks before it acts. What the library makes of each answer
// is reported; what it should be is the test's business.
import { task, finish } from './talk.mjs'

const replayed = 'dev.service/idempotentReplay'
const key = 'dev.service/idempotencyKey'

export const bearer = (token) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } })

// work reports what connect({ address, token, revision, forms }) leads to. A client
// with forms agrees to whatever it is asked.
export async function work(connect) {
  const seen = {}
  for (const revision of task.revisions) {
    const on = (token, forms = false) => connect({ address: new URL(task.mcp), token, revision, forms })
    seen[revision] = { ...(await daily(on, revision)), ...(await confirming(connect, revision)) }
  }
  finish(seen)
}

async function daily(on, revision) {
  const { client, agreed } = await on(task.live)
  const { tools } = await client.listTools()
  const call = (name, args, _meta) => client.callTool({ name, arguments: args, ...(_meta && { _meta }) })
  const contact = { email: `${task.name}.${revision}@example.com` }
  const own = { [key]: `${task.name} ${revision}` }
  const first = await call('contacts_upsert', contact, own)
  const second = await call('contacts_upsert', contact, own)
  const failed = await call('contacts_lookup', { email: `nobody.${contact.email}` })
  const unknown = await refusal(call('contacts_erase', {}))
  const forbidden = await (await on(task.test)).client.callTool({ name: 'contacts_archive', arguments: contact })
  const narrow = (await on(task.narrow)).client
  return {
    agreed: agreed(),
    tools: tools.map((tool) => tool.name),
    found: (await call('contacts_lookup', { email: task.contact })).content[0].text.includes(task.contact),
    failure: [failed.isError, failed.structuredContent.code],
    unknown: unknown.includes('contacts_erase'),
    environment: [forbidden.isError, forbidden.structuredContent.code],
    narrowTools: (await narrow.listTools()).tools.map((tool) => tool.name),
    scope: (await refusal(narrow.callTool({ name: 'lists_list', arguments: {} }))) !== '',
    writes: [first, second].map((r) => [r.structuredContent.result, r._meta?.[replayed] === true]),
  }
}

// confirming: a client with forms makes one call, any other repeats it with the
// token of the first answer.
async function confirming(connect, revision) {
  const args = { broadcast_id: 'b1' }
  const call = async (forms, more) => {
    const { client } = await connect({ address: new URL(task.confirming), token: task.confirmingToken, revision, forms })
    return (await client.callTool({ name: 'broadcasts_send', arguments: { ...args, ...more } })).structuredContent
  }
  const first = await call(false)
  const second = await call(false, { confirmation_token: first.confirmation_token })
  args.broadcast_id = 'b2'
  return { confirmed: [first.status, second.status], byForm: (await call(true)).status }
}

async function refusal(attempt) {
  try {
    await attempt
  } catch (e) {
    return String(e)
  }
  return ''
}
