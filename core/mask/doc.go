// Package mask hides recipients in what callers without the scope
// api.messages.unmask_recipients read: addresses, texts of mail servers and JSON. It
// knows no message and no event.
package mask
