// What passes between these programs and the test that starts them: lines of
// JSON. The test sends the task first. It is also the person at the browser, and
// answers each question with one line.
import { createInterface } from 'node:readline'

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

async function receive() {
  const { value, done } = await lines.next()
  if (done) throw new Error('the test has gone')
  return JSON.parse(value)
}

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

// task is what the program is to do and with which credentials.
export const task = await receive()

// visit sends the person to an address and returns where the browser was led.
export async function visit(address) {
  send({ visit: String(address) })
  return new URL(await receive())
}

// endGrants lets the person withdraw, in the product, whatever they allowed.
export async function endGrants() {
  send({ endGrants: true })
  await receive()
}

// outlive lets the lifetime of an access token pass by the clock of the product.
export async function outlive() {
  send({ outlive: true })
  await receive()
}

// finish reports what was seen, and ends the program.
export function finish(seen) {
  send({ seen })
  process.stdin.destroy()
}
