// Loaded before a program, this refuses every connection that would leave the
// machine: what a test run shows must not depend on anybody's server.
import net from 'node:net'

const connect = net.Socket.prototype.connect

net.Socket.prototype.connect = function (...args) {
  // Within Node the arguments may come as one array, already in order.
  const [target, second] = Array.isArray(args[0]) ? args[0] : args
  const host = typeof target === 'object' ? target.host : second
  if (host !== undefined && !['localhost', '127.0.0.1', '::1'].includes(host)) {
    throw new Error(`a connection to ${host} was attempted`)
  }
  return connect.apply(this, args)
}
